// Texts of prompts about Python programs. Examples run with /usr/bin/python3 if it has torch.
#include "coordinator/proposer/language/python_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/subprocess.h"
#include "coordinator/proposer/evidence_text.h"
#include "coordinator/proposer/prompt.h"
#include "tests/common/python_with_torch.h"
#include "tests/coordinator/proposer/prompt_fixture.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

PromptFacts Facts(v1::DeviceClass device, const std::string& hardware) {
  PromptFacts facts = SmallFacts();
  facts.language = v1::LANGUAGE_PYTHON;
  facts.task.set_device(device);
  facts.target_hardware = hardware;
  return facts;
}

PromptFacts OnCpu() { return Facts(v1::DEVICE_CLASS_CPU, "Test CPU, 2 cores"); }

std::string FirstPrompt(const PromptFacts& facts) {
  const v1::WorldModel model = SmallModel();
  CodePromptContext context;
  context.node = *FindNode(model, "blocked_simd");
  context.world_model = &model;
  return Whole(BuildCodePrompt(facts, context));
}

CommandOutput Python(const std::string& text) {
  SubprocessOptions options;
  options.argv = {kPython, "-I", "-B", "-c", text};
  const absl::StatusOr<CommandOutput> output = RunCommand(options, absl::Minutes(1));
  EXPECT_TRUE(output.ok()) << output.status();
  return output.ok() ? *output : CommandOutput();
}

v1::JobResult Failed(v1::Outcome outcome, const std::string& message) {
  v1::JobResult result;
  result.set_outcome(outcome);
  result.set_message(message);
  return result;
}

TEST(PythonTextTest, BothFormsOfTheEntryAreGivenWithShapesAndDtypes) {
  const std::string prompt = FirstPrompt(OnCpu());
  ExpectInOrder(prompt, {"fastest correct kernel you can in Python", "# Rules",
                         "For Python:", "# Measuring", "Python's own time", "# Answer", "kernel.py",
                         "(for example modules that it imports)", "# Hints", "# Entry point",
                         "def run(x, scale, y):", "writes every element of y",
                         "def run(x, scale):", "returns y", "- x: torch.float32 (rows, cols)",
                         "- scale: float\n", "- y: torch.float32 (rows, cols), an output"});
  EXPECT_THAT(prompt, AllOf(Not(HasSubstr("ksearch_task.h")), Not(HasSubstr("scratch memory of")),
                            Not(HasSubstr("Vectorize explicitly")), Not(HasSubstr("{"))));
}

TEST(PythonTextTest, NamesThatPythonReservesAndSeveralOutputs) {
  v1::Definition definition;
  for (const char* name : {"in", "x", "lambda"}) definition.add_inputs()->set_name(name);
  for (const char* name : {"yield", "indices"}) {
    v1::TensorSpec* output = definition.add_outputs();
    output->set_name(name);
    output->set_dtype(v1::DTYPE_INT64);
    output->add_shape("n");
  }
  EXPECT_EQ(WritingEntry(definition), "def run(in_, x, lambda_, yield_, indices):");
  EXPECT_EQ(ReturningEntry(definition), "def run(in_, x, lambda_):");
  EXPECT_THAT(PythonText().EntryPoint(definition, v1::DEVICE_CLASS_CPU, ""),
              AllOf(HasSubstr("returns (yield_, indices) in this order"),
                    HasSubstr("- indices: torch.int64 (n,), an output")));
  // Every word that Python itself reserves.
  const CommandOutput words = Python("import keyword; print(' '.join(keyword.kwlist))");
  v1::Definition reserved;
  std::string all;
  for (const absl::string_view word :
       absl::StrSplit(words.out, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    reserved.add_inputs()->set_name(std::string(word));
    absl::StrAppend(&all, all.empty() ? "" : ", ", word, "_");
  }
  EXPECT_GT(reserved.inputs_size(), 30);
  EXPECT_EQ(ReturningEntry(reserved), absl::StrCat("def run(", all, "):"));
}

TEST(PythonTextTest, ProcessorsAreToldOfTorchAndGpusOfTriton) {
  const std::string cpu = FirstPrompt(OnCpu());
  EXPECT_THAT(cpu, AllOf(HasSubstr("There is no compiler: torch.compile"),
                         HasSubstr("also one that computes the whole"), Not(HasSubstr("triton")),
                         Not(HasSubstr("call a library"))));
  const std::string hopper = FirstPrompt(Facts(v1::DEVICE_CLASS_CUDA, "NVIDIA H200 (sm_90a)"));
  EXPECT_THAT(hopper, AllOf(HasSubstr("@triton.jit"), HasSubstr("tl.dot"), HasSubstr("wgmma"),
                            HasSubstr("call a library that already implements"),
                            HasSubstr("torch's current stream"), HasSubstr("CUDA graphs"),
                            HasSubstr("compiled before anything is measured"),
                            Not(HasSubstr("There is no compiler")),
                            HasSubstr("by the device's time"), Not(HasSubstr("microseconds"))));
  EXPECT_THAT(FirstPrompt(Facts(v1::DEVICE_CLASS_CUDA, "NVIDIA B200")),
              AllOf(HasSubstr("tcgen05"), Not(HasSubstr("wgmma"))));
  WorldModelPromptContext planner;
  const std::string plan = BuildWorldModelPrompt(OnCpu(), planner).system;
  EXPECT_THAT(plan, AllOf(HasSubstr("`def run(x, scale, y):` (writes its outputs) or "),
                          HasSubstr("scratch tensors are allocated in the call"),
                          Not(HasSubstr("scratch memory comes with"))));
}

TEST(PythonTextTest, ExamplesAreProgramsAndTheOneForProcessorsIsRight) {
  for (const auto device : {v1::DEVICE_CLASS_CPU, v1::DEVICE_CLASS_CUDA}) {
    const std::string text(PythonText::Example(device));
    EXPECT_THAT(text, HasSubstr("\ndef run(x, scale, y):\n"));
    const CommandOutput parsed = Python(absl::StrCat("compile(r'''", text, "''', 'x', 'exec')"));
    EXPECT_EQ(parsed.exit.code, 0) << parsed.err;
  }
  if (!HasTorch()) GTEST_SKIP() << kPython << " has no torch";
  const CommandOutput ran = Python(absl::StrCat(PythonText::Example(v1::DEVICE_CLASS_CPU), R"(
for rows in (1, 63, 64, 200):
    x, y = torch.randn(rows, 33), torch.full((rows, 33), float('nan'))
    run(x, 0.5, y)
    assert torch.equal(y, (0.5 * x).clamp(min=0)), rows
)"));
  EXPECT_EQ(ran.exit.code, 0) << ran.err;
}

TEST(PythonTextTest, FailuresAreToldInThisLanguagesWords) {
  EXPECT_THAT(OutcomeText(v1::OUTCOME_LOAD_ERROR, v1::LANGUAGE_PYTHON),
              HasSubstr("could not be imported"));
  EXPECT_THAT(OutcomeText(v1::OUTCOME_LOAD_ERROR, v1::LANGUAGE_CPP),
              HasSubstr("constructor crashed"));
  EXPECT_EQ(OutcomeText(v1::OUTCOME_INCORRECT, v1::LANGUAGE_PYTHON), "computed wrong values");
  v1::JobResult syntax = Failed(v1::OUTCOME_COMPILE_ERROR, "kernel.py:3: invalid syntax");
  v1::Diagnostic* diagnostic = syntax.mutable_build()->add_diagnostics();
  diagnostic->set_file("kernel.py");
  diagnostic->set_line(3);
  diagnostic->set_severity("error");
  diagnostic->set_message("invalid syntax");
  ExpectInOrder(FailureText(OnCpu(), syntax),
                {"is not valid Python", "kernel.py:3: error: invalid syntax"});
}

TEST(PythonTextTest, ATracebackKeepsItsLinesAndItsEnd) {
  std::string message = "Traceback (most recent call last):\n  File \"a.py\", line 1\n";
  while (message.size() < 3000) message += "    filler()\n";
  message +=
      "  File \"kernel.py\", line 7, in <module>\nModuleNotFoundError: No module named 'numba'";
  const std::string text = FailureText(OnCpu(), Failed(v1::OUTCOME_LOAD_ERROR, message));
  EXPECT_THAT(text, AllOf(HasSubstr("\n  File \"kernel.py\", line 7, in <module>\nModuleNotFound"),
                          HasSubstr("Only torch"), Not(HasSubstr("a.py"))));
  EXPECT_LT(text.size(), 2000u);
}

TEST(PythonTextTest, AdviceFollowsTheKindOfException) {
  const struct {
    v1::Outcome outcome;
    const char* message;
    const char* says;
  } cases[] = {
      {v1::OUTCOME_RUNTIME_ERROR, "workload feed-small: the program raised TypeError at line 3",
       "`def run(x, scale, y):` or, if it takes the inputs alone, as `def run(x, scale):`. A "
       "returned output must be a tensor of exactly its shape and dtype: y is torch.float32 "
       "[rows, cols]"},
      {v1::OUTCOME_RUNTIME_ERROR, "the program returned a tensor of another dtype than the task's",
       "A returned output must be a tensor of exactly its shape and dtype"},
      {v1::OUTCOME_RUNTIME_ERROR, "the program raised RuntimeError at line 3",
       "shapes that do not fit each other"},
      {v1::OUTCOME_RUNTIME_ERROR, "the program raised AttributeError at line 9", "may be older"},
      {v1::OUTCOME_RUNTIME_ERROR, "the program raised OSError at line 3", "refuses files"},
      {v1::OUTCOME_RUNTIME_ERROR, "the program raised NotCompiledError at line 3",
       "depend on shapes and dtypes alone"},
      {v1::OUTCOME_LOAD_ERROR, "OSError: [Errno 38] Function not implemented: 'x'",
       "refuses files"},
  };
  for (const auto& one : cases) {
    const std::string text = FailureText(OnCpu(), Failed(one.outcome, one.message));
    ExpectInOrder(text, {one.message, one.says});
    PromptFacts cpp = SmallFacts();
    EXPECT_THAT(FailureText(cpp, Failed(one.outcome, one.message)), Not(HasSubstr(one.says)));
  }
  EXPECT_THAT(PythonText().Advice(SmallTask().definition(),
                                  Failed(v1::OUTCOME_INCORRECT, "raised TypeError")),
              IsEmpty());
}

}  // namespace
}  // namespace ksearch
