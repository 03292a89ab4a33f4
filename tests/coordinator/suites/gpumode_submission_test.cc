// Programs as submissions: the content of the file, and the programs without such a form.
#include "coordinator/suites/gpumode/gpumode_submission.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// One input, a number, a result with its place in data, and another with the input's length.
constexpr char kDescription[] = R"({"atol": 0.01, "rtol": 0.02,
 "data": {"tuple": [{"tensor": 0}, {"tensor": 1}, {"number": 0}]},
 "result": {"tuple": [{"tensor": 0}, {"tensor": 1}]},
 "inputs": [{"name": "x", "dtype": "float32", "own_dtype": "float32", "order": [0], "output": -1, "unset": false},
            {"name": "y", "dtype": "float32", "own_dtype": "float32", "order": [0], "output": 0, "unset": true}],
 "numbers": [{"name": "scale", "kind": "float"}],
 "outputs": [{"name": "y", "dtype": "float32"}, {"name": "out1", "dtype": "int64"}],
 "cases": [{"arguments": {"size": 3}, "shapes": [[3], [3]], "numbers": [0.5], "results": [[3], [3]]},
           {"arguments": {"size": 5}, "shapes": [[5], [5]], "numbers": [0.25], "results": [[5], [5]]}]})";

v1::Sources Program(v1::Language language, const std::string& path, const std::string& text) {
  v1::Sources sources;
  sources.set_language(language);
  sources.add_files()->set_path(path);
  sources.mutable_files(0)->set_content(text);
  return sources;
}

std::string Made(const v1::Sources& program, const std::string& description = kDescription) {
  const auto made = GpuModeSubmission("board_v2", description, program);
  return made.ok() ? *made : std::string(made.status().message());
}

TEST(GpuModeSubmissionTest, SubmissionIsHandedBack) {
  const std::string text = "#!POPCORN leaderboard other\ndef custom_kernel(data): pass\n";
  v1::Sources sources = Program(v1::LANGUAGE_PYTHON, "kernel.py", "ours");
  sources.add_files()->set_path("submission.py");
  sources.mutable_files(1)->set_content(text);
  EXPECT_EQ(Made(sources), text);
  sources.mutable_files(1)->set_content("import torch\n");
  EXPECT_EQ(Made(sources), "#!POPCORN leaderboard board_v2\nimport torch\n");
}

TEST(GpuModeSubmissionTest, ProgramInPythonIsFollowedByItsEntry) {
  const std::string text = "def run(x, scale, y, out1):\n    pass\n";
  EXPECT_THAT(Made(Program(v1::LANGUAGE_PYTHON, "kernel.py", text)),
              AllOf(StartsWith("#!POPCORN leaderboard board_v2\n" + text),
                    HasSubstr("custom_kernel = "), Not(ContainsRegex("@[A-Z_]+@"))));
}

TEST(GpuModeSubmissionTest, TextOfNativeProgramsStandsInTheFile) {
  const std::string text =
      "#include \"ksearch_task.h\"\n"
      "extern \"C\" int ksearch_run(const KsearchArgs* args) { return 0; }\n";
  const std::string made = Made(Program(v1::LANGUAGE_CPP, "kernel.cpp", text));
  EXPECT_THAT(made, AllOf(HasSubstr("r'''"), HasSubstr("struct KsearchArgs"),
                          HasSubstr("int64_t size"), HasSubstr("on_gpu = False"),
                          HasSubstr("  return 0;"), Not(HasSubstr("#include \"ksearch_task.h\""))));
  const std::string cuda = Made(Program(
      v1::LANGUAGE_CUDA, "kernel.cu",
      absl::StrReplaceAll(text, {{"args)", "args, cudaStream_t stream)"}}) +
          "extern \"C\" int64_t ksearch_workspace_bytes(const KsearchArgs*) { return 8; }\n"));
  EXPECT_THAT(cuda, AllOf(HasSubstr("on_gpu = True"), HasSubstr("<cudaStream_t>(stream)"),
                          HasSubstr("nullptr ? 0 : ksearch_workspace_bytes("),
                          Not(HasSubstr("namespace ks {"))));
  EXPECT_THAT(made, HasSubstr("/* Arguments of task gpumode_"));
  EXPECT_THAT(made, HasSubstr("ksearch_inline_scratch(int64_t args) {\n  return 0;"));
  // The linker knows whether a program that names the function has it.
  EXPECT_THAT(Made(Program(v1::LANGUAGE_CPP, "kernel.cpp",
                           absl::StrCat(" # include \"ksearch_task.h\"  // no "
                                        "ksearch_workspace_bytes()\n",
                                        text))),
              AllOf(HasSubstr("__attribute__((weak)) int64_t ksearch_workspace_bytes("),
                    HasSubstr("return ksearch_workspace_bytes == nullptr ? 0 : "),
                    Not(HasSubstr("include \"ksearch_task.h\""))));
  // A submission is a single file, so it contains our header instead of including it.
  EXPECT_THAT(Made(Program(v1::LANGUAGE_CUDA, "kernel.cu",
                           "#include \"ksearch_task.h\"\n#include \"ksearch_cuda.h\"\n")),
              AllOf(HasSubstr("namespace ks {"), Not(HasSubstr("#include \"header/")),
                    Not(HasSubstr("\n#include \"ksearch_cuda.h\""))));
}

TEST(GpuModeSubmissionTest, QuotesInTheTextDoNotEndIt) {
  const std::string made =
      Made(Program(v1::LANGUAGE_CPP, "kernel.cpp", "// '''\nint ksearch_run;\n"));
  EXPECT_THAT(made, AllOf(HasSubstr("bytes.fromhex("), Not(HasSubstr("r'''"))));
}

TEST(GpuModeSubmissionTest, FunctionsOfOtherNamesAreASubmissionTogether) {
  const std::string description = absl::StrReplaceAll(
      kDescription, {{"\"cases\"",
                      "\"entries\": {\"calls\": [{\"submission\": \"forward\"}, "
                      "{\"submission\": \"backward\"}]}, \"cases\""}});
  const std::string text = "def forward(x): pass\ndef backward(x, y): pass\n";
  EXPECT_EQ(Made(Program(v1::LANGUAGE_PYTHON, "kernel.py", text), description),
            "#!POPCORN leaderboard board_v2\n" + text);
  EXPECT_THAT(Made(Program(v1::LANGUAGE_PYTHON, "kernel.py", "def run(x, y): pass\n"), description),
              HasSubstr("a submission to board_v2 defines forward, backward, and what a single"));
}

TEST(GpuModeSubmissionTest, ProgramsWithoutSuchAFormAreTold) {
  v1::Sources several = Program(v1::LANGUAGE_PYTHON, "kernel.py", "import more\n");
  several.add_files()->set_path("more.py");
  EXPECT_THAT(Made(several), HasSubstr("several"));
  const v1::Sources one = Program(v1::LANGUAGE_PYTHON, "kernel.py", "");
  EXPECT_THAT(Made(one, absl::StrReplaceAll(kDescription, {{"[[3], [3]]}", "[[3], [4]]}"}})),
              HasSubstr("no tensor of the problem's data has the extent"));
  EXPECT_THAT(Made(one, "{}"), HasSubstr("no cases"));
  EXPECT_THAT(Made(one, "garbage"), HasSubstr("board_v2:1"));
}

}  // namespace
}  // namespace ksearch
