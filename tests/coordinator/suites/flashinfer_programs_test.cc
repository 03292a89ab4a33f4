#include "coordinator/suites/flashinfer/flashinfer_programs.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

v1::Definition Definition() {
  v1::Definition definition;
  definition.set_name("norm");
  definition.add_inputs()->set_name("x");
  definition.add_inputs()->set_name("lambda");  // a keyword of Python
  definition.add_outputs()->set_name("y");
  return definition;
}

FlashInferSolution Solution(const std::string& language, const std::string& entry_file,
                            const std::string& content = "code") {
  FlashInferSolution solution;
  solution.name = "norm_v1";
  solution.definition = "norm";
  solution.author = "somebody";
  solution.language = language;
  solution.entry_file = entry_file;
  solution.entry_symbol = "run";
  solution.target_hardware = {"cpu"};
  v1::SourceFile& file = solution.sources.emplace_back();
  file.set_path(entry_file);
  file.set_content(content);
  return solution;
}

void AddFile(const std::string& path, FlashInferSolution* solution) {
  v1::SourceFile& file = solution->sources.emplace_back();
  file.set_path(path);
  file.set_content("text of " + path);
}

v1::Sources Program(const FlashInferSolution& solution,
                    v1::DeviceClass device = v1::DEVICE_CLASS_CPU) {
  const auto program = ProgramOfSolution(solution, Definition(), device);
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? *program : v1::Sources();
}

std::string Fault(const FlashInferSolution& solution,
                  v1::DeviceClass device = v1::DEVICE_CLASS_CUDA) {
  return std::string(ProgramOfSolution(solution, Definition(), device).status().message());
}

TEST(FlashInferProgramsTest, OneFileWithTheTasksEntryIsTheCandidate) {
  const auto solution = Solution("python", "main.py", "def run(x, scale, y):\n    pass\n");
  const v1::Sources program = Program(solution);
  EXPECT_EQ(program.language(), v1::LANGUAGE_PYTHON);
  ASSERT_EQ(program.files_size(), 1);
  EXPECT_EQ(program.files(0).path(), "main.py");
  EXPECT_EQ(program.files(0).content(), solution.sources[0].content());
}

// A signature that fits both styles is called in the style that the solution names.
TEST(FlashInferProgramsTest, OtherSignaturesAreCalledInTheStyleOfTheSolution) {
  auto solution = Solution("python", "main.py", "def run(x, scale, y=None):\n    pass\n");
  solution.destination_passing = false;
  v1::Sources program = Program(solution);
  ASSERT_EQ(program.files_size(), 2);
  EXPECT_EQ(program.files(0).path(), "kernel.py");
  EXPECT_THAT(program.files(0).content(), HasSubstr("from ksearch_solution.main import run as"));
  EXPECT_THAT(program.files(0).content(),
              HasSubstr("def run(in_x, in_lambda):\n    return _solution(in_x, in_lambda)\n"));
  EXPECT_THAT(program.files(0).content(), HasSubstr("_signature.bind(*[None] * 2)"));
  EXPECT_EQ(program.files(1).path(), "ksearch_solution/main.py");
  EXPECT_EQ(program.files(1).content(), solution.sources[0].content());

  solution.destination_passing = true;
  EXPECT_THAT(Program(solution).files(0).content(),
              HasSubstr("def run(in_x, in_lambda, out_y):\n    _solution(in_x, in_lambda, out_y)"));
}

// Upstream would judge the first output alone.
TEST(FlashInferProgramsTest, SparseAttentionWithoutItsSecondOutputIsToldWhatIsMissing) {
  v1::Definition definition = Definition();
  definition.set_name("dsa_sparse_attention_h16_ckv512_kpe64_topk2048_ps1");
  definition.mutable_outputs(0)->set_name("output");
  definition.add_outputs()->set_name("lse");
  auto solution = Solution("python", "main.py", "def run(x, scale):\n    return x\n");
  solution.definition = definition.name();
  solution.destination_passing = false;
  auto program = ProgramOfSolution(solution, definition, v1::DEVICE_CLASS_CPU);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->files(0).content(),
              HasSubstr("    result = _solution(in_x, in_lambda)\n"
                        "    count = len(result) if isinstance(result, (tuple, list)) else 1\n"
                        "    if count < 2:\n        raise TypeError(\n"));
  EXPECT_THAT(program->files(0).content(), HasSubstr("upstream judges 'output' alone then"));
  EXPECT_THAT(program->files(0).content(), HasSubstr("        )\n    return result\n"));
  solution.destination_passing = true;
  program = ProgramOfSolution(solution, definition, v1::DEVICE_CLASS_CPU);
  EXPECT_THAT(program->files(0).content(),
              HasSubstr("    _solution(in_x, in_lambda, out_output, "));
}

TEST(FlashInferProgramsTest, SeveralFilesAreAPackage) {
  auto solution = Solution("python", "src/entry.py", "from .parts import f as run\n");
  solution.entry_symbol = "normalize";
  AddFile("src/parts.py", &solution);
  const v1::Sources program = Program(solution);
  ASSERT_EQ(program.files_size(), 3);
  EXPECT_THAT(program.files(0).content(),
              HasSubstr("from ksearch_solution.src.entry import normalize as _solution"));
  EXPECT_EQ(program.files(2).path(), "ksearch_solution/src/parts.py");
  // The entry compiles nothing, so it must contain none of PythonToolchain's words for compiling.
  for (const char* word : {"triton", "compile", "jit", "importlib"}) {
    EXPECT_THAT(program.files(0).content(), Not(HasSubstr(word)));
  }
  auto odd = Solution("python", "my-kernel.py");
  AddFile("other.py", &odd);
  EXPECT_THAT(Program(odd).files(0).content(),
              HasSubstr("import_module(\"ksearch_solution.my-kernel\").run"));
}

TEST(FlashInferProgramsTest, FilesInCppAndCudaAreBuiltByTheRulesOfTheirBinding) {
  auto torch = Solution("cuda", "main.cu");
  torch.binding = "torch";
  AddFile("more.cpp", &torch);
  AddFile("row.h", &torch);
  EXPECT_EQ(BindingOf(torch), "torch");
  EXPECT_THAT(PackagesFor(torch), IsEmpty());
  const std::string text = Program(torch, v1::DEVICE_CLASS_CUDA).files(0).content();
  EXPECT_THAT(text, HasSubstr("cpp_extension.load("));
  EXPECT_THAT(text, HasSubstr("[\"main.cu\", \"more.cpp\"]"));
  EXPECT_THAT(text, HasSubstr("with_cuda=True"));
  EXPECT_THAT(text, HasSubstr("def run(in_x, in_lambda, out_y):\n    global _solution\n"));
  EXPECT_THAT(text, HasSubstr("    return extension.run\n"));
  torch.language = "cpp";
  EXPECT_THAT(Program(torch).files(0).content(), HasSubstr("with_cuda=False"));

  auto ffi = Solution("cpp", "main.cpp");
  EXPECT_EQ(BindingOf(ffi), "tvm-ffi");
  EXPECT_THAT(PackagesFor(ffi), ElementsAre("tvm-ffi"));
  EXPECT_THAT(Program(ffi).files(0).content(), HasSubstr("cpp_files=[os.path.join(folder, path) "
                                                         "for path in [\"main.cpp\"]]"));
  EXPECT_THAT(Program(ffi).files(0).content(), HasSubstr("\"-lcublas\"] if False else []"));
  ffi.target_hardware = {"CUDA"};
  EXPECT_THAT(Program(ffi).files(0).content(), HasSubstr("\"-lcublas\"] if True else []"));
  EXPECT_THAT(Program(ffi).files(0).content(), Not(HasSubstr("@")));
}

TEST(FlashInferProgramsTest, PackagesOfLanguagesAreNeeded) {
  EXPECT_THAT(PackagesFor(Solution("python", "main.py")), IsEmpty());
  EXPECT_THAT(PackagesFor(Solution("triton", "main.py")), ElementsAre("triton"));
  EXPECT_THAT(PackagesFor(Solution("tilelang", "main.py")), ElementsAre("tilelang"));
  // A binding has no meaning for Python and is ignored.
  auto bound = Solution("python", "main.py");
  bound.binding = "torch";
  EXPECT_EQ(BindingOf(bound), "");
}

TEST(FlashInferProgramsTest, WhatCanNeverBeJudgedSaysWhy) {
  for (const char* language : {"triton", "tilelang"}) {
    EXPECT_THAT(Fault(Solution(language, "main.py"), v1::DEVICE_CLASS_CPU),
                HasSubstr("timed on processors"));
  }
  EXPECT_THAT(Fault(Solution("cuda", "main.cu"), v1::DEVICE_CLASS_CPU), HasSubstr("it is in cuda"));
  auto other = Solution("python", "main.py");
  other.definition = "other";
  EXPECT_THAT(Fault(other), HasSubstr("definition 'other'"));
  EXPECT_THAT(Fault(Solution("python", "main.txt")), HasSubstr("is not a Python file"));
  EXPECT_THAT(Fault(Solution("cuda", "main.py")), HasSubstr("is not a C++ or CUDA file"));
  auto symbol = Solution("cuda", "main.cu");
  symbol.entry_symbol = "run\"); import os; (\"";
  EXPECT_THAT(Fault(symbol), HasSubstr("cannot be one of Python"));
  EXPECT_THAT(Fault(Solution("cuda", "a\"b.cu")), HasSubstr("letters, digits"));
}

}  // namespace
}  // namespace ksearch
