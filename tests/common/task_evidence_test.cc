#include "common/task_evidence.h"

#include <gtest/gtest.h>

#include "common/task_fault.h"

namespace ksearch {
namespace {

v1::JobSpec SpecOf(v1::JobKind kind) {
  v1::JobSpec spec;
  spec.set_kind(kind);
  spec.set_task_sha256("t");
  spec.mutable_candidate()->set_language(v1::LANGUAGE_CPP);
  return spec;
}

v1::JobResult ResultOf(v1::Outcome outcome, const std::string& at_fault = "") {
  v1::JobResult result;
  result.set_outcome(outcome);
  result.set_at_fault(at_fault);
  return result;
}

TEST(TaskEvidenceTest, AFaultIsTheTasksOrTheRivals) {
  v1::JobSpec spec = SpecOf(v1::JOB_KIND_CONFIRM);
  v1::Rival* rival = spec.add_rivals();
  rival->set_rival_id("baseline");
  const auto of = [&](const std::string& at_fault) {
    return EvidenceOf(spec, ResultOf(v1::OUTCOME_TASK_ERROR, at_fault));
  };
  EXPECT_EQ(of("task"), TaskEvidence::kFaulty);
  EXPECT_EQ(of(""), TaskEvidence::kFaulty);
  // The fault occurs only beside this candidate.
  EXPECT_EQ(of("baseline"), TaskEvidence::kNone);
  rival->set_rival_id("r");
  rival->mutable_sources()->set_language(v1::LANGUAGE_CPP);
  EXPECT_EQ(of("task"), TaskEvidence::kFaulty);
  EXPECT_EQ(of("r"), TaskEvidence::kNone);
  // A worker that does not set at_fault may mean the rival.
  EXPECT_EQ(of(""), TaskEvidence::kNone);
}

TEST(TaskEvidenceTest, WhoeverMetTheReferenceShowsThatItWorks) {
  EXPECT_EQ(EvidenceOf(SpecOf(v1::JOB_KIND_SCREEN), ResultOf(v1::OUTCOME_INCORRECT)),
            TaskEvidence::kWorks);
  EXPECT_EQ(EvidenceOf(SpecOf(v1::JOB_KIND_SCREEN), ResultOf(v1::OUTCOME_COMPILE_ERROR)),
            TaskEvidence::kNone);
  EXPECT_EQ(EvidenceOf(SpecOf(v1::JOB_KIND_SCREEN), ResultOf(v1::OUTCOME_WORKER_LOST)),
            TaskEvidence::kNone);
  EXPECT_EQ(EvidenceOf(SpecOf(v1::JOB_KIND_BUILD), ResultOf(v1::OUTCOME_PASSED)),
            TaskEvidence::kNone);
  EXPECT_EQ(EvidenceOf(SpecOf(v1::JOB_KIND_PROFILE), ResultOf(v1::OUTCOME_PASSED)),
            TaskEvidence::kNone);
}

TEST(TaskEvidenceTest, EachLanguageAndPlatformIsKnownByItself) {
  const v1::JobSpec plain = SpecOf(v1::JOB_KIND_SCREEN);
  EXPECT_EQ(EvidenceKey(plain), EvidenceKey(SpecOf(v1::JOB_KIND_CONFIRM)));
  v1::JobSpec other = plain;
  other.mutable_candidate()->set_language(v1::LANGUAGE_CUDA);
  EXPECT_NE(EvidenceKey(plain), EvidenceKey(other));
  other = plain;
  other.mutable_platform()->set_toolkit("g++ 13");
  EXPECT_NE(EvidenceKey(plain), EvidenceKey(other));
  other = plain;
  other.set_task_sha256("changed");
  EXPECT_NE(EvidenceKey(plain), EvidenceKey(other));
}

TEST(TaskFaultTest, TellsWhoseItIs) {
  const absl::Status fault = UnexplainedTaskFault("it fails");
  EXPECT_EQ(AtFault(fault), "task");
  const absl::Status of_rival = FaultOfRival(fault, "r");
  EXPECT_EQ(AtFault(of_rival), "r");
  EXPECT_EQ(of_rival.message(), "it fails");
  EXPECT_TRUE(IsTaskFault(of_rival));
  EXPECT_TRUE(IsUnexplained(of_rival));
  EXPECT_FALSE(IsTaskFault(absl::FailedPreconditionError("it fails")));
}

}  // namespace
}  // namespace ksearch
