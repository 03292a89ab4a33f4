// Workloads whose inputs come from make_inputs in the task's reference.py, under the real sandbox.
// Skipped where /usr/bin/python3 has no torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/identity.h"
#include "tests/common/python_with_torch.h"
#include "tests/gpu_worker/verifier/matmul_task.h"
#include "tests/gpu_worker/verifier/python_programs.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Always positive, unlike the inputs of a recipe, so a program can tell where its inputs come from.
constexpr char kMakes[] = R"(
import torch

def make_inputs(seed, m, n, k):
  generator = torch.Generator().manual_seed(seed)
  return {'a': torch.rand(m, k, generator=generator), 'b': torch.rand(k, n, generator=generator)}

def run(a, b):
  return a @ b
)";
constexpr char kWantsThem[] = R"(
def run(a, b):
  assert float(a.min()) >= 0 and float(b.min()) >= 0 and float(a.max()) <= 1
  return a @ b
)";

class MadeInputsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasTorch()) GTEST_SKIP() << kPython << " has no torch";
    programs_ = std::make_unique<PythonPrograms>();
  }
  // Changes the request's task so that `reference` makes the inputs.
  v1::VerifierRequest Made(v1::VerifierRequest request, const std::string& reference) {
    for (v1::Workload& workload : *request.mutable_task()->mutable_workloads()) {
      for (v1::InputRecipe& input : *workload.mutable_inputs()) input.mutable_made();
    }
    request.set_task_sha256(TaskDigest(request.task()));
    *request.mutable_reference() = programs_->Program(reference);
    return request;
  }
  v1::Verdict Check(const std::string& reference) {
    return programs_->Verify(Made(programs_->Request(v1::JOB_KIND_CHECK, kWantsThem), reference));
  }
  // Uses kMakes with `in_place_of` replaced by `words`.
  void ExpectFault(const std::string& in_place_of, const std::string& words,
                   const std::string& says) {
    const v1::Verdict verdict = Check(absl::StrReplaceAll(kMakes, {{in_place_of, words}}));
    EXPECT_EQ(verdict.outcome(), v1::OUTCOME_TASK_ERROR) << words;
    EXPECT_EQ(verdict.at_fault(), "task");
    EXPECT_THAT(verdict.message(), HasSubstr("make_inputs fails on workload ")) << words;
    EXPECT_THAT(verdict.message(), HasSubstr(says)) << words;
  }

  std::unique_ptr<PythonPrograms> programs_;
};

TEST_F(MadeInputsTest, ProgramsAreCheckedTimedAndConfirmedOnWhatTheFunctionReturns) {
  const v1::Verdict timed =
      programs_->Verify(Made(programs_->Request(v1::JOB_KIND_SCREEN, kWantsThem), kMakes));
  EXPECT_EQ(timed.outcome(), v1::OUTCOME_PASSED) << timed.message();
  EXPECT_GT(timed.workloads(0).candidate().median_us(), 0);
  v1::VerifierRequest confirmation =
      Made(programs_->Confirmation(kWantsThem, programs_->Program(kWantsThem)), kMakes);
  confirmation.mutable_job()->mutable_plan()->set_launches(2);
  const v1::Verdict confirmed = programs_->Verify(confirmation);
  EXPECT_EQ(confirmed.outcome(), v1::OUTCOME_PASSED) << confirmed.message();
  EXPECT_EQ(confirmed.comparisons_size(), 1);
}

// Answers correctly while it is only checked, then with the answer of an earlier variant.
constexpr char kStale[] = R"(
calls, kept = {}, {}
def run(a, b):
  calls[a.shape] = calls.get(a.shape, 0) + 1
  if calls[a.shape] < 12:
    kept[a.shape] = a @ b
  return kept[a.shape].clone()
)";

TEST_F(MadeInputsTest, TimedCallsSeeVariantsThatNoCallSawBefore) {
  const v1::Verdict verdict =
      programs_->Verify(Made(programs_->Request(v1::JOB_KIND_SCREEN, kStale), kMakes));
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_CHEAT) << verdict.message();
  EXPECT_THAT(verdict.message(), HasSubstr("outputs of another call, whose inputs were different"));
}

TEST_F(MadeInputsTest, WhatTheFunctionReturnsInPlaceOfInputsIsTold) {
  ExpectFault("torch.rand(m, k,", "torch.rand(k, m,",
              "make_inputs in program.py returned a tensor of shape");
  ExpectFault("{'a': torch", "{'c': torch", "returned a value of type NoneType for 'a'");
  ExpectFault("'b': torch.rand(k, n, generator=generator)",
              "'b': torch.rand(k, n, dtype=torch.float64)", "for 'b': the definition says shape");
  ExpectFault("(seed, m, n, k)", "(seed, m, n, k, heads)", "heads");
}

TEST_F(MadeInputsTest, InputsFollowFromTheSeedAndNothingElse) {
  ExpectFault("manual_seed(seed)", "manual_seed(7)", "it returns the same tensors for every seed");
  ExpectFault(".manual_seed(seed)\n", "\n  generator.seed()\n",
              "it returns other tensors for the same seed");
}

TEST_F(MadeInputsTest, TensorsOfASuiteThatRepeatAreNamedInTheResult) {
  v1::VerifierRequest request =
      Made(programs_->Request(v1::JOB_KIND_CHECK, kWantsThem),
           absl::StrReplaceAll(kMakes, {{"manual_seed(seed)", "manual_seed(7)"}}));
  request.mutable_task()->mutable_suite_rule()->set_rule(v1::SuiteRule::TORCH_ALLCLOSE);
  request.mutable_task()->mutable_suite_rule()->set_trials(1);
  const v1::Verdict verdict = programs_->Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_THAT(verdict.workloads(0).repeated_inputs(), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace ksearch
