#include "gpu_worker/verifier/job_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/identity.h"
#include "common/textproto.h"
#include "tests/gpu_worker/verifier/matmul_task.h"
#include "tests/gpu_worker/verifier/real_verifier.h"

namespace ksearch {
namespace {

using ::testing::AnyOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::Not;
using ::testing::SizeIs;

TEST(JobVerifierTest, HonestCandidatesPassAndAreTimed) {
  RealVerifier verifier;
  for (const char* name : {"honest", "honest_threads", "honest_workspace"}) {
    const v1::Verdict verdict = verifier.Verify(ScreenRequest(name));
    EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << name << ": " << verdict.message();
    EXPECT_THAT(verdict.suspicions(), IsEmpty());
    ASSERT_THAT(verdict.workloads(), SizeIs(2));
    EXPECT_EQ(verdict.workloads(0).workload_uuid(), "medium");
    for (const v1::WorkloadResult& workload : verdict.workloads()) {
      EXPECT_EQ(workload.outcome(), v1::OUTCOME_PASSED);
      EXPECT_GE(workload.candidate().latency_us_size(), 10);
      EXPECT_THAT(workload.candidate().median_us(), Gt(0));
      EXPECT_THAT(workload.baseline().median_us(), Gt(0));
      EXPECT_THAT(workload.audit_ratio(), Gt(0.5));
      EXPECT_EQ(workload.correctness().matched_ratio(), 1);
      EXPECT_GE(workload.buffer_sets(), 2);
    }
  }
}

TEST(JobVerifierTest, CheckDoesNotTime) {
  RealVerifier verifier;
  v1::VerifierRequest request = ScreenRequest("honest");
  request.mutable_job()->set_kind(v1::JOB_KIND_CHECK);
  const v1::Verdict verdict = verifier.Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED);
  ASSERT_THAT(verdict.workloads(), SizeIs(2));
  EXPECT_FALSE(verdict.workloads(0).has_candidate());
}

TEST(JobVerifierTest, RuleOfTheSuiteIsJudgedBesideTheTolerance) {
  RealVerifier verifier;
  const auto check = [&](const char* candidate, double own, double suites) {
    v1::VerifierRequest request = ScreenRequest(candidate);
    request.mutable_job()->set_kind(v1::JOB_KIND_CHECK);
    v1::Tolerance* const tolerance = request.mutable_task()->mutable_tolerance();
    tolerance->set_atol(own);
    tolerance->clear_max_rms_error_ratio();
    // Where all elements must match, the RMS of the error counts however large atol is.
    if (own > 1) tolerance->set_required_matched_ratio(0.5);
    v1::SuiteRule* const rule = request.mutable_task()->mutable_suite_rule();
    rule->set_rule(v1::SuiteRule::TORCH_ALLCLOSE);
    rule->set_atol(suites);
    rule->set_trials(5);
    request.set_task_sha256(TaskDigest(request.task()));
    return verifier.Verify(request);
  };
  v1::Verdict verdict = check("honest", 1e-3, 1e-3);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  ASSERT_THAT(verdict.workloads(), SizeIs(2));
  for (const v1::WorkloadResult& workload : verdict.workloads()) {
    EXPECT_EQ(workload.suite_verdict().trials(), 5);
    EXPECT_EQ(workload.suite_verdict().passed(), 5);
    EXPECT_EQ(workload.suite_verdict().message(), "");
  }
  // All trials are made, whatever is wrong here.
  verdict = check("wrong_numbers", 1e-3, 1e6);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT);
  ASSERT_THAT(verdict.workloads(), SizeIs(1));
  EXPECT_EQ(verdict.workloads(0).suite_verdict().passed(), 5);
  verdict = check("wrong_numbers", 1e6, 1e-3);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_EQ(verdict.workloads(0).suite_verdict().trials(), 5);
  EXPECT_EQ(verdict.workloads(0).suite_verdict().passed(), 0);
  EXPECT_THAT(verdict.workloads(0).suite_verdict().message(), HasSubstr("elements wrong"));
  verdict = check("input_modified", 1e-3, 1e-3);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INPUT_MODIFIED);
  EXPECT_EQ(verdict.workloads(0).suite_verdict().passed(), 5);
  verdict = check("crash", 1e-3, 1e-3);
  EXPECT_FALSE(verdict.workloads(0).has_suite_verdict());
}

TEST(JobVerifierTest, ClockOfTheSuiteIsReadBesideKsearchsOwnWhereItIsAskedFor) {
  RealVerifier verifier;
  v1::VerifierRequest request = ScreenRequest("honest");
  v1::SuiteClock* const clock = request.mutable_task()->mutable_suite_clock();
  clock->set_warm_up_calls(2);
  clock->set_calls(7);
  clock->set_variants(3);
  clock->set_flush_bytes(1 << 20);
  clock->set_copies_inputs(true);
  clock->set_waits(true);
  request.set_task_sha256(TaskDigest(request.task()));
  v1::Verdict verdict = verifier.Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  ASSERT_THAT(verdict.workloads(), SizeIs(2));
  EXPECT_FALSE(verdict.workloads(0).has_suite_time());
  request.mutable_job()->mutable_plan()->set_suite_clock(true);
  verdict = verifier.Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  ASSERT_THAT(verdict.workloads(), SizeIs(2));
  for (const v1::WorkloadResult& workload : verdict.workloads()) {
    EXPECT_EQ(workload.suite_time().calls(), 21);
    EXPECT_THAT(workload.suite_time().mean_us(), Gt(workload.candidate().median_us() / 20));
    EXPECT_THAT(workload.suite_time().mean_us(), Lt(workload.candidate().median_us() * 20));
  }
}

TEST(JobVerifierTest, ClockThatChecksGivesEveryCallInputsOfItsOwnAndJudgesIt) {
  RealVerifier verifier;
  const auto screen = [&](const char* candidate, double own) {
    v1::VerifierRequest request = ScreenRequest(candidate);
    v1::Task& task = *request.mutable_task();
    task.mutable_tolerance()->set_atol(own);
    task.mutable_tolerance()->clear_max_rms_error_ratio();
    if (own > 1) task.mutable_tolerance()->set_required_matched_ratio(0.5);
    task.mutable_suite_rule()->set_rule(v1::SuiteRule::TORCH_ALLCLOSE);
    task.mutable_suite_rule()->set_atol(1e-3);
    task.mutable_suite_rule()->set_trials(1);
    task.mutable_suite_clock()->set_calls(7);
    task.mutable_suite_clock()->mutable_checked()->set_calls(9);
    task.mutable_suite_clock()->mutable_checked()->mutable_most_time()->set_seconds(30);
    request.set_task_sha256(TaskDigest(task));
    request.mutable_job()->mutable_plan()->set_suite_clock(true);
    request.mutable_job()->mutable_plan()->set_suite_clock_checked(true);
    return verifier.Verify(request);
  };
  v1::Verdict verdict = screen("honest", 1e-3);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  ASSERT_THAT(verdict.workloads(), SizeIs(2));
  for (const v1::WorkloadResult& workload : verdict.workloads()) {
    EXPECT_EQ(workload.suite_time().calls(), 9);
    EXPECT_EQ(workload.suite_time().checked(), 9);
    EXPECT_THAT(workload.suite_time().mean_us(), Gt(0));
    EXPECT_EQ(workload.suite_verdict().trials(), 10);
    EXPECT_EQ(workload.suite_verdict().passed(), 10);
  }
  // A time of calls that the suite calls wrong is none.
  verdict = screen("wrong_numbers", 1e6);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  ASSERT_THAT(verdict.workloads(), SizeIs(2));
  EXPECT_FALSE(verdict.workloads(0).has_suite_time());
  EXPECT_EQ(verdict.workloads(0).suite_verdict().trials(), 10);
  EXPECT_EQ(verdict.workloads(0).suite_verdict().passed(), 0);
}

TEST(JobVerifierTest, CheckGoesOnAfterAWrongWorkloadWhereItIsAskedTo) {
  RealVerifier verifier;
  const auto check = [&](const char* candidate) {
    v1::VerifierRequest request = ScreenRequest(candidate);
    request.mutable_job()->set_kind(v1::JOB_KIND_CHECK);
    request.mutable_job()->mutable_plan()->set_every_workload(true);
    return verifier.Verify(request);
  };
  v1::Verdict verdict = check("wrong_numbers");
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT);
  ASSERT_THAT(verdict.workloads(), SizeIs(2));
  for (const v1::WorkloadResult& workload : verdict.workloads()) {
    EXPECT_EQ(workload.outcome(), v1::OUTCOME_INCORRECT);
    EXPECT_THAT(workload.message(), Not(IsEmpty()));
  }
  // The process is gone.
  EXPECT_THAT(check("crash").workloads(), SizeIs(1));
}

TEST(JobVerifierTest, AnswersThatAreHeldAtOnceFitIntoWhatIsKept) {
  RealVerifier verifier({}, /*oracle_cache_bytes=*/1);
  v1::VerifierRequest request = ScreenRequest("honest");
  request.mutable_job()->set_kind(v1::JOB_KIND_CHECK);
  v1::SuiteRule* const rule = request.mutable_task()->mutable_suite_rule();
  rule->set_rule(v1::SuiteRule::TORCH_ALLCLOSE);
  rule->set_atol(1e-3);
  rule->set_trials(5);
  request.set_task_sha256(TaskDigest(request.task()));
  v1::Verdict verdict = verifier.Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  // The gate's answers are always there.
  EXPECT_EQ(verdict.workloads(0).suite_verdict().trials(), 2);
  request.mutable_job()->set_kind(v1::JOB_KIND_SCREEN);
  verdict = verifier.Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_THAT(verdict.workloads(0).candidate().median_us(), Gt(0));
}

TEST(JobVerifierTest, ABaselineJobTimesTheBaselineAlone) {
  RealVerifier verifier([] {
    HostPeaks peaks;
    peaks.memory_bytes_per_second = 2e10;
    peaks.cache_bytes_per_second = 4e11;
    peaks.single_flops_per_second = 1e11;
    return peaks;
  });
  // The candidate would crash.
  v1::VerifierRequest request = ScreenRequest("crash");
  request.mutable_job()->set_kind(v1::JOB_KIND_BASELINE);
  const v1::Verdict verdict = verifier.Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  ASSERT_THAT(verdict.workloads(), SizeIs(2));
  EXPECT_EQ(verdict.workloads(0).workload_uuid(), "medium");
  for (const v1::WorkloadResult& workload : verdict.workloads()) {
    EXPECT_FALSE(workload.has_candidate());
    EXPECT_THAT(workload.baseline().median_us(), Gt(0));
  }
  EXPECT_EQ(verdict.peaks().memory_bytes_per_second(), 2e10);
  EXPECT_EQ(verdict.peaks().cache_bytes_per_second(), 4e11);
  EXPECT_EQ(verdict.peaks().single_flops_per_second(), 1e11);
  EXPECT_EQ(verdict.peaks().empty_call_us(), 0);
  request.clear_baseline();
  EXPECT_EQ(verifier.Refuse(request).code(), absl::StatusCode::kInvalidArgument);
}

TEST(JobVerifierTest, AnExaminationChecksAndDoesNotTime) {
  RealVerifier verifier;
  v1::VerifierRequest request = ScreenRequest("honest");
  request.mutable_job()->set_kind(v1::JOB_KIND_EXAMINE);
  v1::Verdict verdict = verifier.Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_FALSE(verdict.workloads(0).has_candidate());
  EXPECT_FALSE(verdict.has_sanitizer()) << "there is no tool on a CPU";
  EXPECT_FALSE(verdict.has_peaks());
  request = ScreenRequest("wrong_numbers");
  request.mutable_job()->set_kind(v1::JOB_KIND_EXAMINE);
  verdict = verifier.Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT) << verdict.message();
}

struct BadCandidate {
  std::string name;
  v1::Outcome outcome;
  std::string message;  // part of it
};

void PrintTo(const BadCandidate& candidate, std::ostream* out) { *out << candidate.name; }

class BadCandidateTest : public ::testing::TestWithParam<BadCandidate> {};

TEST_P(BadCandidateTest, IsFoundOut) {
  RealVerifier verifier;
  const v1::Verdict verdict = verifier.Verify(ScreenRequest(GetParam().name));
  EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), v1::Outcome_Name(GetParam().outcome))
      << verdict.message();
  EXPECT_THAT(verdict.message(), HasSubstr(GetParam().message));
  for (const v1::WorkloadResult& workload : verdict.workloads()) {
    if (workload.outcome() != v1::OUTCOME_PASSED) {
      EXPECT_FALSE(workload.has_candidate());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadCandidateTest,
    ::testing::Values(
        BadCandidate{"wrong_numbers", v1::OUTCOME_INCORRECT, "output 'c': "},
        BadCandidate{"nan_output", v1::OUTCOME_INCORRECT, "flat index 24: got nan"},
        BadCandidate{"no_output", v1::OUTCOME_INCORRECT, "'c' has elements that were never"},
        BadCandidate{"partial_output", v1::OUTCOME_INCORRECT, "'c' has elements that were never"},
        BadCandidate{"out_of_bounds", v1::OUTCOME_OUT_OF_BOUNDS, "bytes past the end of 'c'"},
        BadCandidate{"input_modified", v1::OUTCOME_INPUT_MODIFIED, "input 'b'"},
        BadCandidate{"crash", v1::OUTCOME_RUNTIME_ERROR, "killed by SIGSEGV in a call"},
        BadCandidate{"nonzero_return", v1::OUTCOME_RUNTIME_ERROR, "ksearch_run returned 7"},
        BadCandidate{"infinite_loop", v1::OUTCOME_TIMEOUT, "a call did not end"},
        BadCandidate{"early_exit", v1::OUTCOME_RUNTIME_ERROR, "exited with status 0"},
        BadCandidate{"missing_symbol", v1::OUTCOME_LOAD_ERROR, "no symbol 'ksearch_run'"},
        BadCandidate{"undefined_symbol", v1::OUTCOME_LOAD_ERROR, "undefined symbol: nowhere_?"},
        BadCandidate{"constructor_crash", v1::OUTCOME_LOAD_ERROR, "while loading"},
        BadCandidate{"memory_hog", v1::OUTCOME_RESOURCE_LIMIT, "workspace"},
        BadCandidate{"forged_bytes", v1::OUTCOME_CHEAT, "forged dialogue"},
        BadCandidate{"forged_done", v1::OUTCOME_CHEAT, "forged dialogue: a wrong nonce"},
        BadCandidate{"closed_socket", v1::OUTCOME_CHEAT, "control socket"},
        BadCandidate{"cached_by_pointer", v1::OUTCOME_INCORRECT, "output 'c'"},
        BadCandidate{"stale_every_second", v1::OUTCOME_CHEAT, "outputs of another call"},
        BadCandidate{"skipping_every_second", v1::OUTCOME_CHEAT, "before output 'c'"},
        BadCandidate{"computes_ahead", v1::OUTCOME_CHEAT, "of a call that was not made"}),
    [](const auto& test) { return test.param.name; });

TEST(JobVerifierTest, ThreadsThatWorkAfterReturnAreFoundOut) {
  RealVerifier verifier;
  v1::VerifierRequest request = ScreenRequest("late_thread");
  request.mutable_job()->clear_workload_uuids();
  request.mutable_job()->add_workload_uuids("large");
  const v1::Verdict verdict = verifier.Verify(request);
  // Stopped before the thread is done, perhaps within a row, or seen at work before it was stopped.
  if (verdict.outcome() == v1::OUTCOME_CHEAT) {
    EXPECT_THAT(verdict.message(), HasSubstr("changed after the calls had returned"));
    return;
  }
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT) << verdict.message();
  EXPECT_THAT(verdict.message(), AnyOf(HasSubstr("never written"), HasSubstr("elements wrong")));
}

TEST(JobVerifierTest, LoadingThatNeverEndsIsATimeout) {
  RealVerifier verifier;
  v1::VerifierRequest request = ScreenRequest("constructor_hang");
  *request.mutable_job()->mutable_limits()->mutable_total_time() = ToProto(absl::Seconds(1));
  EXPECT_EQ(verifier.Verify(request).outcome(), v1::OUTCOME_TIMEOUT);
}

TEST(JobVerifierTest, AForgedClockIsFoundOut) {
  RealVerifier verifier;
  v1::VerifierRequest request = ScreenRequest("forged_clock");
  // Calls long enough to stand out from the round trips of a busy machine.
  request.mutable_job()->clear_workload_uuids();
  request.mutable_job()->add_workload_uuids("large");
  v1::Verdict verdict = verifier.Verify(request);
#ifdef KSEARCH_SANITIZED
  // The slowed-down verifier grants more than a clock is forged by, at times.
  for (int tries = 1; tries < 8 && verdict.outcome() != v1::OUTCOME_CHEAT; ++tries) {
    verdict = verifier.Verify(request);
  }
#endif
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_CHEAT) << verdict.message();
  EXPECT_THAT(verdict.suspicions(), Not(IsEmpty()));
}

TEST(JobVerifierTest, FasterThanTheProcessorsCanBeIsACheat) {
  double speed = 1e3;
  RealVerifier verifier([&speed] {
    HostPeaks peaks;
    peaks.cache_bytes_per_second = speed;
    return peaks;
  });
  v1::VerifierRequest request = ScreenRequest("honest");
  request.mutable_task()->mutable_work()->set_bytes("m * n");
  request.clear_baseline();
  v1::Verdict verdict = verifier.Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_CHEAT) << verdict.message();
  EXPECT_THAT(verdict.message(), HasSubstr("faster than this device can be"));
  EXPECT_THAT(verdict.suspicions(), Not(IsEmpty()));
  // They only seemed to be that slow.
  speed = 1e15;
  verdict = verifier.Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
}

TEST(JobVerifierTest, AnArtifactMustBeWhatItsDigestSays) {
  RealVerifier verifier;
  v1::VerifierRequest request = ScreenRequest("honest");
  request.mutable_candidate()->set_path(request.reference().path());
  EXPECT_EQ(verifier.Refuse(request).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(JobVerifierTest, UnknownWorkloadIsRefused) {
  RealVerifier verifier;
  v1::VerifierRequest request = ScreenRequest("honest");
  request.mutable_job()->add_workload_uuids("nowhere");
  EXPECT_THAT(std::string(verifier.Refuse(request).message()), HasSubstr("'nowhere'"));
}

}  // namespace
}  // namespace ksearch
