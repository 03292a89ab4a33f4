#include "gpu_worker/verifier/stages/screening.h"

#include <algorithm>
#include <utility>

#include "common/digest.h"
#include "common/rng.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/stages/suspects.h"
#include "gpu_worker/verifier/timing/checked_suite_time.h"
#include "gpu_worker/verifier/timing/statistics.h"
#include "gpu_worker/verifier/timing/suite_time.h"
#include "gpu_worker/verifier/timing/workload_timing.h"

namespace ksearch {
namespace {

// A screening compares calls afterwards only with the likelihood that keeps the mean cost of
// starting the reference for it within this time: a GPU's runner takes longer to start than all
// those calls.
constexpr absl::Duration kLateStartTime = absl::Milliseconds(100);

// Times by the clock of the task's suite, as the plan says, and stores the time in the case's
// result.
absl::StatusOr<Ending> TimeBySuite(WorkloadSession& session, int sets, size_t index,
                                   JudgedJob* job) {
  const v1::SuiteClock& clock = job->request.task().suite_clock();
  v1::WorkloadResult& result = job->results[index];
  if (!job->plan.suite_clock_checked() || !clock.has_checked()) {
    v1::SuiteTime time;
    Ending ending = TimeAsSuite(session, clock, sets, job->limits, &time);
    if (time.calls() > 0) *result.mutable_suite_time() = std::move(time);
    return ending;
  }
  const AnswerVariants answer =
      [&](const std::vector<int64_t>& variants) -> absl::StatusOr<OracleEntries> {
    OracleEntries answers;
    RETURN_IF_ERROR(OffTheClock(job, [&]() -> absl::Status {
      ASSIGN_OR_RETURN(answers,
                       job->bench.oracle().GetOnce(*job->reference, job->cases[index], variants));
      job->bench.oracle().Rest();
      return absl::OkStatus();
    }));
    return answers;
  };
  v1::SuiteTime time;
  ASSIGN_OR_RETURN(Ending ending, TimeCheckedAsSuite(session, clock, job->limits, answer, &time,
                                                     result.mutable_suite_verdict()));
  if (time.calls() > 0) *result.mutable_suite_time() = std::move(time);
  return ending;
}

}  // namespace

bool TimesAsSuite(const JudgedJob& job) {
  return job.plan.suite_clock() && job.request.task().has_suite_clock();
}

absl::Status TimeCandidate(std::unique_ptr<RunnerLink>* link, JudgedJob* job) {
  const Clock& clock = job->bench.clock();
  TimingRole role;
  role.alone = job->alone;
  size_t slow = 0;
  Suspects suspects;
  Rng rng(RandomUint64());
  const bool compares_later = rng.NextDouble() * job->reference_start < kLateStartTime;
  for (size_t i = 0; i < job->cases.size(); ++i) {
    Report(job->progress, "measure", i, job->cases.size());
    const std::shared_ptr<const WorkloadCase>& workload = job->cases[i];
    v1::WorkloadResult& result = job->results[i];
    if (!job->baselines.empty()) {
      role.slow_us = job->plan.early_stop_ratio() * job->baselines[i].samples.median_us();
    }
    role.floor_us = Floor(*job, i);
    role.late_comparisons = compares_later ? LateComparisons(job->oracles[i], 1, &rng) : 0;
    const int sets = job->bench.Sets(*workload, 2);
    ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> buffers,
                     job->bench.Buffers(workload, sets, "candidate"));
    WorkloadSession session(**link, workload, std::move(buffers), clock, RandomUint64());
    Ending ending = session.Map(sets, job->limits);
    WorkloadTiming timed;
    if (ending.passed()) {
      CallDealer dealer(sets, TimedVariants(job->oracles[i]), Rng(RandomUint64()));
      ASSIGN_OR_RETURN(timed, TimeWorkload(job->bench, session, dealer, job->oracles[i], job->plan,
                                           job->limits, role));
      ending = timed.ending;
    }
    if (timed.spoiled && ending.passed()) {
      role.allow_graphs = false;
      role.first_workload = true;
      link->reset();
      ASSIGN_OR_RETURN(*link, StartCandidate(*job));
      ending = LoadCandidate(**link, *job);
      if (ending.passed()) {
        --i;
        continue;
      }
    }
    role.first_workload = false;
    if (ending.passed()) {
      WorkloadSession::BatchForm form;
      if (job->bench.gpu() != nullptr) form.mode = v1::BatchRequest::EVENTS;
      WorkloadSession::Copies copies = session.TimeCopies(form, job->limits);
      ending = std::move(copies.ending);
      if (!copies.us.empty()) timed.facts.set_copy_us(Median(std::move(copies.us)));
    }
    if (ending.passed() && TimesAsSuite(*job)) {
      ASSIGN_OR_RETURN(ending, TimeBySuite(session, sets, i, job));
    }
    for (WorkloadSession::Suspect& suspect : session.suspects()) {
      suspects.emplace_back(i, std::move(suspect));
    }
    result.MergeFrom(timed.facts);
    result.set_buffer_sets(sets);
    if (session.correctness().has_value()) {
      MergeCorrectness(*session.correctness(), result.mutable_correctness());
    }
    if (!ending.passed()) {
      FailWorkload(ending, i, job);
      return absl::OkStatus();
    }
    if (!job->baselines.empty()) {
      *result.mutable_baseline() = job->baselines[i].samples;
      *result.mutable_baseline_age() = ToProto(clock.SteadyNow() - job->baselines[i].measured_at);
    }
    if (timed.slow) ++slow;
    role.coarse = 2 * slow >= job->cases.size() && slow > 0;
  }
  job->verdict.set_stderr_excerpt((*link)->EndAndReadOutput(kMaxStderrBytes));
  return JudgeSuspects(suspects, job);
}

}  // namespace ksearch
