#include "cli/task/cheat_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/language.h"
#include "common/subprocess.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

constexpr char kPython[] = "/usr/bin/python3";
constexpr char kNoTorch[] = "no torch";

v1::TensorSpec Tensor(const std::string& name, const std::vector<std::string>& shape) {
  v1::TensorSpec tensor;
  tensor.set_name(name);
  tensor.set_dtype(v1::DTYPE_FLOAT32);
  for (const std::string& axis : shape) tensor.add_shape(axis);
  return tensor;
}

v1::Definition Definition(const std::vector<std::string>& output_shape) {
  v1::Definition definition;
  // A task's names may be Python keywords.
  *definition.add_inputs() = Tensor("lambda", {"n", "d"});
  *definition.add_inputs() = Tensor("arguments", {"d"});
  *definition.add_outputs() = Tensor("is", output_shape);
  return definition;
}

v1::Sources Honest(const std::string& text) {
  v1::Sources sources;
  sources.set_language(FindLanguage("python")->id);
  v1::SourceFile* const file = sources.add_files();
  file->set_path("reference.py");
  file->set_content(text);
  return sources;
}

// Each cheat's result for x = 1, 2, 3, 4 (2 x 2), then for x + 10; y is 0, 0. One process, because
// an import of torch takes seconds.
std::string Answers(const std::vector<CheatProgram>& cheats) {
  std::string code = R"(import sys
try:
    import torch
except ImportError:
    sys.exit(77)


def answers(text):
    program = {}
    exec(text, program)
    x, y = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.zeros(2)
    for values in (x, x + 10):
        z = torch.full((2, 2), float("nan"))
        program["run"](values, y, z)
        print(z.flatten().tolist())


)";
  for (const CheatProgram& cheat : cheats) {
    EXPECT_EQ(cheat.sources.files(0).path(), "kernel.py");
    absl::StrAppend(&code, "print('", cheat.name, "')\nanswers(\"",
                    absl::CEscape(cheat.sources.files(0).content()), "\")\n");
  }
  SubprocessOptions options;
  options.argv = {kPython, "-I", "-B", "-c", code};
  const auto output = RunCommand(std::move(options), absl::Minutes(4));
  if (!output.ok()) return output.status().ToString();
  if (output->exit.code == 77) return kNoTorch;
  return output->exit.code == 0 && !output->exit.signaled ? output->out
                                                          : absl::StrCat("failed: ", output->err);
}

TEST(CheatProgramsTest, DoWhatTheyAreCalledBy) {
  std::vector<CheatProgram> cheats;
  std::string expected;
  for (const char* honest :
       {"def run(x, y):\n    return 2 * x + y\n", "def run(x, y, z):\n    z.copy_(2 * x + y)\n",
        "INPUTS = _first = None\n\n\ndef run(x, y):\n    return (2 * x + y,)\n"}) {
    for (const CheatProgram& cheat : CheatPrograms(Definition({"n", "d"}), Honest(honest))) {
      cheats.push_back(cheat);
    }
    expected +=
        "zeros\n[0.0, 0.0, 0.0, 0.0]\n[0.0, 0.0, 0.0, 0.0]\n"
        "copied\n[1.0, 2.0, 3.0, 4.0]\n[11.0, 12.0, 13.0, 14.0]\n"
        "stale\n[2.0, 4.0, 6.0, 8.0]\n[2.0, 4.0, 6.0, 8.0]\n"
        "truncated\n[2.0, 4.0, 0.0, 0.0]\n[22.0, 24.0, 0.0, 0.0]\n";
  }
  const std::string answers = Answers(cheats);
  if (answers == kNoTorch) GTEST_SKIP() << kPython << " has no torch (Debian: python3-torch)";
  EXPECT_EQ(answers, expected);
}

TEST(CheatProgramsTest, NothingIsCopiedWhereNoInputFits) {
  const auto cheats = CheatPrograms(Definition({"n"}), Honest("def run(x, y): ..."));
  EXPECT_THAT(cheats[1].missing, HasSubstr("no input has the shape"));
  EXPECT_EQ(cheats[0].missing, "");
}

}  // namespace
}  // namespace ksearch
