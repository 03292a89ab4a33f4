#include "gpu_worker/verifier/job_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/host/memfd_buffer_sets.h"
#include "tests/fakes/plain_sandbox.h"
#include "tests/gpu_worker/verifier/matmul_task.h"

namespace ksearch {
namespace {

using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::Not;
using ::testing::SizeIs;

// A verifier with real runner processes, without a sandbox. A small cache size keeps the number of
// buffer sets low.
class Verifier {
 public:
  explicit Verifier(std::function<HostPeaks()> measure_host = nullptr,
                    int64_t oracle_cache_bytes = kOracleCacheBytes)
      : starter_(sandbox_, std::string(std::getenv("KSEARCH_BIN_DIR")) + "/ksearch-runner", {},
                 Clock::Real()),
        bench_(starter_, MemfdBufferSets::Create, Clock::Real(),
               Options(std::move(measure_host), oracle_cache_bytes)) {}

  v1::Verdict Verify(const v1::VerifierRequest& request) {
    JobVerifier verifier(bench_, [](const v1::VerifierReply::Progress&) {});
    absl::StatusOr<v1::Verdict> verdict = verifier.Verify(request);
    EXPECT_TRUE(verdict.ok()) << verdict.status();
    return verdict.ok() ? *std::move(verdict) : v1::Verdict();
  }
  int64_t oracle_bytes() { return bench_.oracle().cached_bytes(); }
  absl::Status Refuse(const v1::VerifierRequest& request) {
    JobVerifier verifier(bench_, [](const v1::VerifierReply::Progress&) {});
    return verifier.Verify(request).status();
  }

 private:
  static Bench::Options Options(std::function<HostPeaks()> measure_host,
                                int64_t oracle_cache_bytes) {
    Bench::Options options;
    options.oracle_cache_bytes = oracle_cache_bytes;
    options.measure_host = std::move(measure_host);
    options.last_level_cache_bytes = 256 << 10;
    return options;
  }

  PlainSandbox sandbox_;
  RunnerStarter starter_;
  Bench bench_;
};

TEST(JobVerifierTest, HonestCandidatesPassAndAreTimed) {
  Verifier verifier;
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
  Verifier verifier;
  v1::VerifierRequest request = ScreenRequest("honest");
  request.mutable_job()->set_kind(v1::JOB_KIND_CHECK);
  const v1::Verdict verdict = verifier.Verify(request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED);
  ASSERT_THAT(verdict.workloads(), SizeIs(2));
  EXPECT_FALSE(verdict.workloads(0).has_candidate());
}

TEST(JobVerifierTest, RuleOfTheSuiteIsJudgedBesideTheTolerance) {
  Verifier verifier;
  const auto check = [&](const char* candidate, double own, double suites) {
    v1::VerifierRequest request = ScreenRequest(candidate);
    request.mutable_job()->set_kind(v1::JOB_KIND_CHECK);
    v1::Tolerance* const tolerance = request.mutable_task()->mutable_tolerance();
    tolerance->set_atol(own);
    tolerance->clear_max_rms_error_ratio();
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
  Verifier verifier;
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
  Verifier verifier;
  const auto screen = [&](const char* candidate, double own) {
    v1::VerifierRequest request = ScreenRequest(candidate);
    v1::Task& task = *request.mutable_task();
    task.mutable_tolerance()->set_atol(own);
    task.mutable_tolerance()->clear_max_rms_error_ratio();
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
  Verifier verifier;
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
  Verifier verifier({}, /*oracle_cache_bytes=*/1);
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
  Verifier verifier([] {
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
  Verifier verifier;
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
  Verifier verifier;
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
  Verifier verifier;
  v1::VerifierRequest request = ScreenRequest("late_thread");
  request.mutable_job()->clear_workload_uuids();
  request.mutable_job()->add_workload_uuids("large");
  const v1::Verdict verdict = verifier.Verify(request);
  // Stopped before the thread is done, or seen at work before it was stopped.
  if (verdict.outcome() == v1::OUTCOME_CHEAT) {
    EXPECT_THAT(verdict.message(), HasSubstr("changed after the calls had returned"));
    return;
  }
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT) << verdict.message();
  EXPECT_THAT(verdict.message(), HasSubstr("never written"));
}

TEST(JobVerifierTest, LoadingThatNeverEndsIsATimeout) {
  Verifier verifier;
  v1::VerifierRequest request = ScreenRequest("constructor_hang");
  *request.mutable_job()->mutable_limits()->mutable_total_time() = ToProto(absl::Seconds(1));
  EXPECT_EQ(verifier.Verify(request).outcome(), v1::OUTCOME_TIMEOUT);
}

TEST(JobVerifierTest, AForgedClockIsFoundOut) {
  Verifier verifier;
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
  Verifier verifier([&speed] {
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

// The first of up to four tries that a busy machine did not leave undecided.
v1::Verdict Decided(Verifier& verifier, const v1::VerifierRequest& request) {
  v1::Verdict verdict;
  for (int tries = 0; tries < 4; ++tries) {
    verdict = verifier.Verify(request);
    if (verdict.comparisons().empty() ||
        verdict.comparisons(0).verdict() != v1::Comparison::UNDECIDED) {
      break;
    }
  }
  return verdict;
}

TEST(JobVerifierTest, AConfirmationLeavesNoAnswersBehind) {
  Verifier verifier;
  verifier.Verify(ScreenRequest("honest"));
  const int64_t of_screening = verifier.oracle_bytes();
  EXPECT_GT(of_screening, 0);
  verifier.Verify(ConfirmRequest("honest", "honest_slower"));
  EXPECT_EQ(verifier.oracle_bytes(), of_screening);
}

TEST(JobVerifierTest, AFasterCandidateIsImproved) {
  Verifier verifier;
  const v1::Verdict verdict = Decided(verifier, ConfirmRequest("honest", "honest_slower"));
  ASSERT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  ASSERT_THAT(verdict.comparisons(), SizeIs(1));
  const v1::Comparison& comparison = verdict.comparisons(0);
  EXPECT_EQ(comparison.verdict(), v1::Comparison::IMPROVED) << comparison.DebugString();
  EXPECT_EQ(comparison.rival_id(), "baseline");
  ASSERT_THAT(comparison.workloads(), SizeIs(3));
  EXPECT_TRUE(comparison.workloads(2).held_out());
  EXPECT_THAT(comparison.log_speedup(), Gt(0.2));
  EXPECT_LE(comparison.ci_low(), comparison.log_speedup());
  EXPECT_EQ(comparison.confidence(), 0.975);
  // The first look may settle it, not less.
  EXPECT_THAT(comparison.launches(), ::testing::AnyOf(4, 6));
  EXPECT_THAT(verdict.workloads(0).baseline().median_us(),
              Gt(verdict.workloads(0).candidate().median_us()));
}

TEST(JobVerifierTest, ASlowerCandidateIsWorse) {
  Verifier verifier;
  const v1::Verdict verdict = Decided(verifier, ConfirmRequest("honest_slower", "honest"));
  ASSERT_THAT(verdict.comparisons(), SizeIs(1)) << verdict.message();
  EXPECT_EQ(verdict.comparisons(0).verdict(), v1::Comparison::WORSE);
}

// The rival does four times the work. On `odd` the candidate is three times as slow, which is
// certain before the fourth launch has come to the other workloads.
TEST(JobVerifierTest, AConfirmationEndsWithTheWorkloadThatDecidesIt) {
  Verifier verifier;
  v1::Verdict verdict;
  // On a busy machine launches may scatter too much for that.
  for (int tries = 0; tries < 8; ++tries) {
    verdict = verifier.Verify(ConfirmRequest("honest_slow_on_odd", "honest_slower"));
    if (verdict.comparisons_size() > 0 && verdict.comparisons(0).launches() % 2 == 1) break;
  }
  ASSERT_THAT(verdict.comparisons(), SizeIs(1)) << verdict.message();
  const v1::Comparison& comparison = verdict.comparisons(0);
  EXPECT_NE(comparison.verdict(), v1::Comparison::IMPROVED) << comparison.DebugString();
  if (comparison.launches() % 2 == 0) GTEST_SKIP() << "launches scatter on this machine";
  EXPECT_EQ(comparison.verdict(), v1::Comparison::MIXED) << comparison.DebugString();
  ASSERT_EQ(comparison.workloads(2).workload_uuid(), "odd");
  EXPECT_EQ(comparison.workloads(2).launches(), comparison.launches() + 1);
  EXPECT_LT(comparison.workloads(2).ci_high(), 0);
  EXPECT_EQ(comparison.workloads(0).launches(), 0);
  EXPECT_THAT(comparison.workloads(0).log_speedup(), Gt(0.2));
}

TEST(JobVerifierTest, ACandidateIsNoImprovementOnItself) {
  Verifier verifier;
  const v1::Verdict verdict = verifier.Verify(ConfirmRequest("honest", "honest"));
  ASSERT_THAT(verdict.comparisons(), SizeIs(1)) << verdict.message();
  EXPECT_NE(verdict.comparisons(0).verdict(), v1::Comparison::IMPROVED)
      << verdict.comparisons(0).DebugString();
}

TEST(JobVerifierTest, ConfirmationJudgesTimedOutputsToo) {
  Verifier verifier;
  const v1::Verdict verdict = verifier.Verify(ConfirmRequest("stale_every_second", "honest"));
  // A hidden case may come first.
  EXPECT_THAT(verdict.outcome(), ::testing::AnyOf(v1::OUTCOME_CHEAT, v1::OUTCOME_INCORRECT))
      << verdict.message();
  EXPECT_THAT(verdict.message(),
              ::testing::AnyOf(HasSubstr("outputs of another call"), HasSubstr("hidden case")));
  EXPECT_THAT(verdict.comparisons(), IsEmpty());
}

TEST(JobVerifierTest, AConfirmationHasCallsWhoseInputsComeLate) {
  Verifier verifier;
  v1::Verdict verdict;
  // Which call it is, and when they come, is drawn.
  for (int tries = 0; tries < 6 && verdict.outcome() != v1::OUTCOME_INCORRECT; ++tries) {
    verdict = verifier.Verify(ConfirmRequest("computes_apart", "honest"));
  }
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT) << verdict.message();
  EXPECT_THAT(verdict.message(), HasSubstr("came when calls before it were being made"));
}

// It compares all inputs, so it is right wherever they come late; but a call that is made alone
// takes as long as any.
TEST(JobVerifierTest, WorkDoneAheadAndCheckedIsNoImprovement) {
  Verifier verifier;
  v1::VerifierRequest request = ConfirmRequest("checked_ahead", "honest_dependent_steps");
  // Products of larger matrices take longer than the steps.
  request.mutable_job()->clear_workload_uuids();
  for (const char* uuid : {"small", "odd"}) request.mutable_job()->add_workload_uuids(uuid);
  const v1::Verdict verdict = verifier.Verify(request);
  ASSERT_THAT(verdict.comparisons(), SizeIs(1)) << verdict.message();
  EXPECT_NE(verdict.comparisons(0).verdict(), v1::Comparison::IMPROVED)
      << verdict.comparisons(0).DebugString();
}

TEST(JobVerifierTest, AConfirmationHasCallsThatAreNotMade) {
  Verifier verifier;
  const v1::Verdict verdict = verifier.Verify(ConfirmRequest("computes_ahead", "honest"));
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_CHEAT) << verdict.message();
  EXPECT_THAT(verdict.message(), HasSubstr("of a call that was not made"));
  EXPECT_THAT(verdict.comparisons(), IsEmpty());
}

TEST(JobVerifierTest, AProgramFittedToItsInputsIsNotConfirmed) {
  Verifier verifier;
  v1::VerifierRequest request = ScreenRequest("clamped_values");
  request.mutable_job()->set_kind(v1::JOB_KIND_CHECK);
  EXPECT_EQ(verifier.Verify(request).outcome(), v1::OUTCOME_PASSED);
  const v1::Verdict verdict = verifier.Verify(ConfirmRequest("clamped_values", "honest"));
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT) << verdict.message();
  EXPECT_THAT(verdict.message(), HasSubstr("hidden case '"));
  EXPECT_THAT(verdict.message(),
              ::testing::AnyOf(HasSubstr("large values of "), HasSubstr("heavy tails of ")));
  EXPECT_THAT(verdict.comparisons(), IsEmpty());
}

// It minds large values in the first two calls after its buffers were mapped. Which call a hidden
// case compares is drawn, so that a single confirmation may miss it.
TEST(JobVerifierTest, AProgramThatIsCarefulOnlyAtFirstIsNotConfirmed) {
  Verifier verifier;
  v1::VerifierRequest request = ConfirmRequest("careful_at_first", "honest");
  request.mutable_job()->clear_rivals();
  request.clear_rivals();
  for (int tries = 0; tries < 8; ++tries) {
    const v1::Verdict verdict = verifier.Verify(request);
    if (verdict.outcome() == v1::OUTCOME_PASSED) continue;
    EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT) << verdict.message();
    EXPECT_THAT(verdict.message(), HasSubstr("hidden case '"));
    return;
  }
  FAIL() << "8 confirmations did not notice";
}

TEST(JobVerifierTest, HonestCandidatesStandHiddenCases) {
  Verifier verifier;
  for (const char* name : {"honest", "honest_threads", "honest_workspace"}) {
    v1::VerifierRequest request = ConfirmRequest(name, "honest");
    // Without rivals nothing is timed.
    request.mutable_job()->clear_rivals();
    request.clear_rivals();
    const v1::Verdict verdict = verifier.Verify(request);
    EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << name << ": " << verdict.message();
    EXPECT_THAT(verdict.comparisons(), IsEmpty());
  }
}

TEST(JobVerifierTest, AProgramThatReadsAnUnwrittenWorkspaceIsNotConfirmed) {
  Verifier verifier;
  v1::VerifierRequest request = ScreenRequest("unwritten_workspace");
  request.mutable_job()->set_kind(v1::JOB_KIND_CHECK);
  EXPECT_EQ(verifier.Verify(request).outcome(), v1::OUTCOME_PASSED);
  const v1::Verdict verdict = verifier.Verify(ConfirmRequest("unwritten_workspace", "honest"));
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT) << verdict.message();
  EXPECT_THAT(verdict.message(), HasSubstr("hidden case 'unwritten workspace'"));
}

TEST(JobVerifierTest, ACandidateThatLoadsOnlyOnceFails) {
  const std::string mark = absl::StrCat("/tmp/ksearch_second_load_", ::getpid());
  ::unlink(mark.c_str());
  Verifier verifier;
  const v1::Verdict verdict = verifier.Verify(ConfirmRequest("second_load_crash", "honest"));
  ::unlink(mark.c_str());
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_LOAD_ERROR) << verdict.message();
  EXPECT_THAT(verdict.message(), HasSubstr("SIGABRT while loading"));
}

TEST(JobVerifierTest, AFailingRivalIsNoWordAboutTheCandidate) {
  Verifier verifier;
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

TEST(JobVerifierTest, AFaultIsTheRivalsUnlessItIsTheTasksBaseline) {
  Verifier verifier;
  v1::Verdict verdict = verifier.Verify(OwnRivalRequest("no_output"));
  EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), "OUTCOME_TASK_ERROR");
  EXPECT_EQ(verdict.at_fault(), "r");
  verdict = verifier.Verify(ConfirmRequest("honest", "no_output"));
  EXPECT_EQ(verdict.at_fault(), "task");
}

TEST(JobVerifierTest, ARivalThatFailsAloneTooIsAtFault) {
  for (const bool own : {true, false}) {
    Verifier verifier;
    const v1::Verdict verdict = verifier.Verify(own ? OwnRivalRequest("third_call")
                                                    : ConfirmRequest("honest", "third_call"));
    EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), "OUTCOME_TASK_ERROR") << verdict.message();
    // Not "on workload": the check saw nothing.
    EXPECT_THAT(verdict.message(), HasSubstr("rival 'third_call' fails: ksearch_run returned 7"));
    EXPECT_EQ(verdict.at_fault(), own ? "r" : "task");
  }
}

TEST(JobVerifierTest, ARivalThatFailsOnlyBesideTheCandidateIsNoFaultOfTheTask) {
  for (const bool own : {true, false}) {
    Verifier verifier;
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
TEST(JobVerifierTest, AReferenceThatFailsAtAnyTimeIsATaskError) {
  Verifier verifier;
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

TEST(JobVerifierTest, AWorkloadThatNoMachineCanMakeIsATaskError) {
  Verifier verifier;
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

TEST(JobVerifierTest, TheVerifierGoesOnAfterABadCandidate) {
  Verifier verifier;
  EXPECT_EQ(verifier.Verify(ScreenRequest("input_modified")).outcome(), v1::OUTCOME_INPUT_MODIFIED);
  EXPECT_EQ(verifier.Verify(ScreenRequest("out_of_bounds")).outcome(), v1::OUTCOME_OUT_OF_BOUNDS);
  EXPECT_EQ(verifier.Verify(ScreenRequest("honest")).outcome(), v1::OUTCOME_PASSED);
}

TEST(JobVerifierTest, AReferenceAtFaultIsATaskError) {
  Verifier verifier;
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

TEST(JobVerifierTest, ABaselineAtFaultIsATaskError) {
  Verifier verifier;
  for (const char* name : {"crash", "wrong_numbers", "drifting"}) {
    v1::VerifierRequest request = ScreenRequest("honest");
    *request.mutable_baseline() = CandidateArtifact(name);
    const v1::Verdict verdict = verifier.Verify(request);
    EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), "OUTCOME_TASK_ERROR") << name;
    EXPECT_THAT(verdict.message(), HasSubstr("the baseline fails on workload")) << name;
  }
}

TEST(JobVerifierTest, AnArtifactMustBeWhatItsDigestSays) {
  Verifier verifier;
  v1::VerifierRequest request = ScreenRequest("honest");
  request.mutable_candidate()->set_path(request.reference().path());
  EXPECT_EQ(verifier.Refuse(request).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(JobVerifierTest, UnknownWorkloadIsRefused) {
  Verifier verifier;
  v1::VerifierRequest request = ScreenRequest("honest");
  request.mutable_job()->add_workload_uuids("nowhere");
  EXPECT_THAT(std::string(verifier.Refuse(request).message()), HasSubstr("'nowhere'"));
}

}  // namespace
}  // namespace ksearch
