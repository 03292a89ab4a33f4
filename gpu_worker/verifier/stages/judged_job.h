#ifndef KSEARCH_GPU_WORKER_VERIFIER_STAGES_JUDGED_JOB_H_
#define KSEARCH_GPU_WORKER_VERIFIER_STAGES_JUDGED_JOB_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gpu_worker/verifier/dialogue/ending.h"
#include "gpu_worker/verifier/dialogue/program_image.h"
#include "gpu_worker/verifier/dialogue/runner_link.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/hidden_answers.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "gpu_worker/verifier/timing/device/idle_paces.h"
#include "proto/job.pb.h"
#include "proto/runner.pb.h"

namespace ksearch {

using JobProgress = std::function<void(const v1::VerifierReply::Progress&)>;

// One try at a request in progress: what was asked for, what was prepared, and what was found so
// far. Every stage, a file beside this one, takes it, adds to it, and may fail it: that is a
// verdict on the candidate, while a stage's status is a TaskFault or an error of the machine or the
// request.
struct JudgedJob {
  Bench& bench;
  const JobProgress& progress;
  const v1::VerifierRequest& request;
  v1::MeasurePlan plan;
  std::optional<Seed> own_seed = {};  // the seed of the inputs, if no other job uses it
  std::vector<std::shared_ptr<const WorkloadCase>> cases = {};  // as job.workload_uuids
  std::vector<OracleEntries> oracles = {};                      // same order
  std::vector<OracleEntries> trials = {};        // same order: additional ones for the suite's rule
  std::vector<AnsweredHiddenCase> hidden = {};   // for a CONFIRM
  std::vector<v1::WorkloadResult> results = {};  // same order; empty uuid: not reached
  // For a BASELINE, or a SCREEN with a baseline; same order.
  std::vector<BaselineCache::Timing> baselines = {};
  IdlePaces alone = {};                 // GPU, for a SCREEN: before the candidate was loaded
  absl::Duration reference_start = {};  // how long starting another runner for it would take
  WorkloadSession::Limits limits = {};
  // The deadline for the work of trusted programs before the candidate is loaded; whether that work
  // is over.
  absl::Time trusted_deadline = {};
  bool trusted_programs_done = false;
  std::optional<ProgramImage> candidate = {}, reference = {}, baseline = {};
  v1::Verdict verdict = {};
  // How the candidate ended, if something else may have been the cause; empty if the cause is
  // known.
  std::string unexplained = {};
  bool device_error = false;  // its process reported that the device failed
  absl::Status machine = {};  // non-OK: it ended because this machine failed
};

// Whether results of these jobs have times; the others need fewer oracles.
bool IsTimed(v1::JobKind kind);
bool TimesBaseline(v1::JobKind kind);

void Report(const JobProgress& progress, const char* stage, size_t done, size_t total);
void Fail(const Ending& ending, JudgedJob* job);
// `index`: of the case.
void FailWorkload(const Ending& ending, size_t index, JudgedJob* job);

// A new runner for the candidate, which LoadCandidate lets load it, within the job's limits.
absl::StatusOr<std::unique_ptr<RunnerLink>> StartCandidate(const JudgedJob& job);
Ending LoadCandidate(RunnerLink& link, const JudgedJob& job);

// Runs trusted programs without counting their time against the job's limit.
absl::Status OffTheClock(JudgedJob* job, const std::function<absl::Status()>& work);
// No call of this workload can be faster, in microseconds; 0: unknown.
double Floor(const JudgedJob& job, size_t index);
// Cases by index, smallest footprint first.
std::vector<size_t> SmallestFirst(const std::vector<std::shared_ptr<const WorkloadCase>>& cases);
// The variants of a case that timed calls may have, in ascending order.
std::vector<int64_t> TimedVariants(const OracleEntries& oracles);
// The status of a trusted program as one of this rival; a baseline that serves as a rival is the
// task's own.
absl::Status FaultOf(const absl::Status& status, const v1::Rival& rival);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_STAGES_JUDGED_JOB_H_
