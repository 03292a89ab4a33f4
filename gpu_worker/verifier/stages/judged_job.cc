#include "gpu_worker/verifier/stages/judged_job.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/measure_defaults.h"
#include "common/run_facts.h"
#include "common/task_fault.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/dialogue/trusted_ending.h"
#include "gpu_worker/verifier/harness_constants.h"

namespace ksearch {

bool IsTimed(v1::JobKind kind) {
  return kind != v1::JOB_KIND_CHECK && kind != v1::JOB_KIND_EXAMINE;
}

bool TimesBaseline(v1::JobKind kind) {
  return kind == v1::JOB_KIND_SCREEN || kind == v1::JOB_KIND_BASELINE;
}

void Report(const JobProgress& progress, const char* stage, size_t done, size_t total) {
  v1::VerifierReply::Progress reply;
  reply.set_stage(stage);
  reply.set_done(static_cast<int>(done));
  reply.set_total(static_cast<int>(total));
  LOG(DEBUG) << "msg=\"stage\" stage=" << stage << " done=" << done << " total=" << total
             << " pid=" << ::getpid();
  progress(reply);
}

void Fail(const Ending& ending, JudgedJob* job) {
  if (ending.device_failed || ending.killed) job->unexplained = ending.message;
  if (ending.machine_failed) job->machine = MachineFailure(ending);
  job->device_error = ending.device_failed;
  job->verdict.set_outcome(ending.outcome);
  job->verdict.set_message(CleanText(ending.message, kMaxMessageBytes));
}

void FailWorkload(const Ending& ending, size_t index, JudgedJob* job) {
  v1::WorkloadResult& result = job->results[index];
  result.set_outcome(ending.outcome);
  result.set_message(CleanText(ending.message, kMaxMessageBytes));
  result.clear_candidate();
  if (ending.outcome == v1::OUTCOME_CHEAT) job->verdict.add_suspicions(result.message());
  Ending with_place = ending;
  with_place.message = absl::StrCat("workload ", job->cases[index]->uuid(), ": ", ending.message);
  Fail(with_place, job);
}

absl::StatusOr<std::unique_ptr<RunnerLink>> StartCandidate(const JudgedJob& job) {
  return job.bench.starter().Start(*job.candidate, WithDefaults(job.request.job().limits()));
}

Ending LoadCandidate(RunnerLink& link, const JudgedJob& job) {
  return link.Load(*job.candidate, std::min(job.limits.deadline, job.bench.clock().SteadyNow() +
                                                                     job.candidate->load_time()));
}

absl::Status OffTheClock(JudgedJob* job, const std::function<absl::Status()>& work) {
  const absl::Time start = job->bench.clock().SteadyNow();
  const absl::Status status = work();
  job->limits.deadline += job->bench.clock().SteadyNow() - start;
  return status;
}

double Floor(const JudgedJob& job, size_t index) {
  const v1::Task& task = job.request.task();
  const auto workload = FindWorkload(task, job.cases[index]->uuid());
  if (!workload.ok()) return 0;
  const double floor_us = job.bench.Floor(task, **workload);
  // A baseline below it shows that the task's formulas, or the peaks, are wrong.
  const bool believable =
      job.baselines.empty() || job.baselines[index].samples.median_us() >= floor_us;
  return believable ? floor_us : 0;
}

std::vector<size_t> SmallestFirst(const std::vector<std::shared_ptr<const WorkloadCase>>& cases) {
  std::vector<size_t> order(cases.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return cases[a]->footprint_bytes() < cases[b]->footprint_bytes();
  });
  return order;
}

std::vector<int64_t> TimedVariants(const OracleEntries& oracles) {
  std::vector<int64_t> variants;
  for (const auto& [variant, entry] : oracles) {
    if (variant >= kGateVariants && variant < kFirstFreshVariant) variants.push_back(variant);
  }
  std::sort(variants.begin(), variants.end());
  return variants;
}

absl::Status FaultOf(const absl::Status& status, const v1::Rival& rival) {
  return IsTaskFault(status) && rival.has_sources() ? FaultOfRival(status, rival.rival_id())
                                                    : status;
}

}  // namespace ksearch
