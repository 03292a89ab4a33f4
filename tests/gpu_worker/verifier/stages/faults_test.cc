// Whose fault a failed job is: the candidate's, its rival's or the task's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/gpu_worker/verifier/matmul_task.h"
#include "tests/gpu_worker/verifier/real_verifier.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(FaultsTest, AFailingRivalIsNoWordAboutTheCandidate) {
  RealVerifier verifier;
  const v1::Verdict verdict = verifier.Verify(ConfirmRequest("honest", "no_output"));
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_TASK_ERROR);
  EXPECT_THAT(verdict.message(), HasSubstr("rival 'no_output' fails on workload"));
}

v1::VerifierRequest OwnRivalRequest(const std::string& rival) {
  v1::VerifierRequest request = ConfirmRequest("honest", rival);
  v1::Rival* own = request.mutable_job()->mutable_rivals(0);
  own->set_rival_id("r");
  own->mutable_sources()->set_language(v1::LANGUAGE_CPP);
  return request;
}

TEST(FaultsTest, AFaultIsTheRivalsUnlessItIsTheTasksBaseline) {
  RealVerifier verifier;
  v1::Verdict verdict = verifier.Verify(OwnRivalRequest("no_output"));
  EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), "OUTCOME_TASK_ERROR");
  EXPECT_EQ(verdict.at_fault(), "r");
  verdict = verifier.Verify(ConfirmRequest("honest", "no_output"));
  EXPECT_EQ(verdict.at_fault(), "task");
}

TEST(FaultsTest, ARivalThatFailsAloneTooIsAtFault) {
  for (const bool own : {true, false}) {
    RealVerifier verifier;
    const v1::Verdict verdict = verifier.Verify(own ? OwnRivalRequest("third_call")
                                                    : ConfirmRequest("honest", "third_call"));
    EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), "OUTCOME_TASK_ERROR") << verdict.message();
    // Not "on workload": the check saw nothing.
    EXPECT_THAT(verdict.message(), HasSubstr("rival 'third_call' fails: ksearch_run returned 7"));
    EXPECT_EQ(verdict.at_fault(), own ? "r" : "task");
  }
}

TEST(FaultsTest, ARivalThatFailsOnlyBesideTheCandidateIsNoFaultOfTheTask) {
  for (const bool own : {true, false}) {
    RealVerifier verifier;
    const v1::Verdict verdict = verifier.Verify(own ? OwnRivalRequest("third_session")
                                                    : ConfirmRequest("honest", "third_session"));
    EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), "OUTCOME_TASK_ERROR") << verdict.message();
    EXPECT_THAT(verdict.message(), HasSubstr("fails beside the candidate, though not alone"));
    EXPECT_EQ(verdict.at_fault(), own ? "r" : "baseline");
    EXPECT_THAT(verdict.comparisons(), IsEmpty());
  }
}

// Its seldom fault shows before the candidate is there, or when timed calls are compared with it
// afterwards, or not at all; in none of these cases is it trouble of the machine.
TEST(FaultsTest, AReferenceThatFailsAtAnyTimeIsATaskError) {
  RealVerifier verifier;
  v1::VerifierRequest request = ScreenRequest("honest");
  *request.mutable_reference() = CandidateArtifact("nan_for_some_inputs");
  bool failed = false;
  for (int i = 0; i < 40; ++i) {
    const v1::Verdict verdict = verifier.Verify(request);
    if (verdict.outcome() == v1::OUTCOME_PASSED) continue;
    failed = true;
    EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), "OUTCOME_TASK_ERROR") << verdict.message();
    EXPECT_THAT(verdict.message(), HasSubstr("output 'c' holds a NaN"));
    EXPECT_EQ(verdict.at_fault(), "task");
  }
  EXPECT_TRUE(failed);
}

TEST(FaultsTest, AWorkloadThatNoMachineCanMakeIsATaskError) {
  RealVerifier verifier;
  v1::VerifierRequest request = ScreenRequest("honest");
  v1::Workload* workload = request.mutable_task()->mutable_workloads(0);
  ASSERT_EQ(workload->uuid(), "small");
  workload->clear_inputs();
  v1::Verdict verdict = verifier.Verify(request);
  EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), "OUTCOME_TASK_ERROR");
  EXPECT_THAT(verdict.message(), HasSubstr("workload small has no recipe for input 'a'"));
  request = ScreenRequest("honest");
  workload = request.mutable_task()->mutable_workloads(0);
  // 4 TiB.
  for (v1::AxisValue& axis : *workload->mutable_axes()) axis.set_value(1 << 20);
  verdict = verifier.Verify(request);
  EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), "OUTCOME_TASK_ERROR");
  EXPECT_THAT(verdict.message(), HasSubstr("do not fit into this machine's"));
  EXPECT_EQ(verdict.at_fault(), "task");
}

TEST(FaultsTest, TheVerifierGoesOnAfterABadCandidate) {
  RealVerifier verifier;
  EXPECT_EQ(verifier.Verify(ScreenRequest("input_modified")).outcome(), v1::OUTCOME_INPUT_MODIFIED);
  EXPECT_EQ(verifier.Verify(ScreenRequest("out_of_bounds")).outcome(), v1::OUTCOME_OUT_OF_BOUNDS);
  EXPECT_EQ(verifier.Verify(ScreenRequest("honest")).outcome(), v1::OUTCOME_PASSED);
}

TEST(FaultsTest, AReferenceAtFaultIsATaskError) {
  RealVerifier verifier;
  const std::pair<const char*, const char*> faults[] = {
      {"crash", "SIGSEGV"},
      {"nan_output", "holds a NaN"},
      {"nonzero_return", "returned"},
      {"drifting", "disagrees with itself on equal inputs"},
  };
  for (const auto& [name, message] : faults) {
    SCOPED_TRACE(name);
    // Also the second time, when answers might be kept.
    for (int i = 0; i < 2; ++i) {
      v1::VerifierRequest request = ScreenRequest("honest");
      *request.mutable_reference() = CandidateArtifact(name);
      const v1::Verdict verdict = verifier.Verify(request);
      EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), "OUTCOME_TASK_ERROR");
      EXPECT_THAT(verdict.message(), HasSubstr("the reference fails on workload"));
      EXPECT_THAT(verdict.message(), HasSubstr(message));
    }
  }
  EXPECT_EQ(verifier.Verify(ScreenRequest("honest")).outcome(), v1::OUTCOME_PASSED);
}

TEST(FaultsTest, ABaselineAtFaultIsATaskError) {
  RealVerifier verifier;
  for (const char* name : {"crash", "wrong_numbers", "drifting"}) {
    v1::VerifierRequest request = ScreenRequest("honest");
    *request.mutable_baseline() = CandidateArtifact(name);
    const v1::Verdict verdict = verifier.Verify(request);
    EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), "OUTCOME_TASK_ERROR") << name;
    EXPECT_THAT(verdict.message(), HasSubstr("the baseline fails on workload")) << name;
  }
}

}  // namespace
}  // namespace ksearch
