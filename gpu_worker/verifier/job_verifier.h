#ifndef KSEARCH_GPU_WORKER_VERIFIER_JOB_VERIFIER_H_
#define KSEARCH_GPU_WORKER_VERIFIER_JOB_VERIFIER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gpu_worker/verifier/dialogue/trusted_ending.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/hidden_check.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/runner.pb.h"

namespace ksearch {

// Carries out one VerifierRequest of any kind but BUILD. Failures of the candidate and of the
// task's own programs (OUTCOME_TASK_ERROR) are part of the verdict; non-OK is an error of the
// machine or the request. Thread-compatible.
class JobVerifier {
 public:
  using Progress = std::function<void(const v1::VerifierReply::Progress&)>;

  JobVerifier(Bench& bench, Progress progress) : bench_(bench), progress_(std::move(progress)) {}

  absl::StatusOr<v1::Verdict> Verify(const v1::VerifierRequest& request);

 private:
  using CasePtr = std::shared_ptr<const WorkloadCase>;
  // The state of one request in progress.
  struct Job {
    const v1::VerifierRequest* request = nullptr;
    v1::MeasurePlan plan;
    std::optional<Seed> own_seed;             // the seed of the inputs, if no other job uses it
    std::vector<CasePtr> cases;               // in the order of job.workload_uuids
    std::vector<OracleEntries> oracles;       // same order
    std::vector<OracleEntries> trials;        // same order: additional ones for the suite's rule
    std::vector<AnsweredHiddenCase> hidden;   // for a CONFIRM
    std::vector<v1::WorkloadResult> results;  // same order; empty uuid: not reached
    // For a BASELINE, or a SCREEN with a baseline; same order.
    std::vector<BaselineCache::Timing> baselines;
    IdlePaces alone;                 // GPU, for a SCREEN: before the candidate was loaded
    absl::Duration reference_start;  // how long starting another runner for it would take
    WorkloadSession::Limits limits;
    // The deadline for the work of trusted programs before the candidate is loaded; whether that
    // work is over.
    absl::Time trusted_deadline;
    bool trusted_programs_done = false;
    std::optional<ProgramImage> candidate, reference, baseline;
    v1::Verdict verdict;
    std::string unexplained;    // Tries::again
    bool device_error = false;  // Tries::device_error
    absl::Status machine;       // Tries::machine
  };
  // What one attempt at a request passes on to the next.
  struct Tries {
    int begun = 0;
    std::optional<absl::Time> deadline;          // of all of them
    absl::Duration trusted_time = kTrustedTime;  // left for preparations that fail
    // How the candidate ended, if something else may have been the cause; empty if the cause is
    // known.
    std::string again;
    bool device_error = false;  // its process reported that the device failed
    absl::Status machine;       // non-OK: it ended because this machine failed
  };

  absl::StatusOr<v1::Verdict> Judge(const v1::VerifierRequest& request, Tries* tries);
  absl::Status Prepare(Job* job);
  // The reference's answers for the additional input variants of the suite's rule, as many as there
  // is time for.
  absl::StatusOr<OracleEntries> AnswerTrials(const ProgramImage& reference, const CasePtr& workload,
                                             const OracleEntries& oracles);
  absl::Status Check(RunnerLink& link, Job* job);
  // For a CONFIRM, after the gate: checks the hidden cases, whose inputs differ in kind from the
  // recipes'.
  absl::Status CheckHidden(RunnerLink& link, Job* job);
  // Tries the programs that the candidate is compared with. TaskFault if one of them is wrong.
  absl::Status TryTrusted(Job* job);
  absl::Status TimeBaseline(Job* job);
  // For a BASELINE: puts the timings into the verdict's workloads.
  void ReportBaselines(Job* job);
  // *link is replaced if the candidate needs a new process.
  absl::Status Screen(std::unique_ptr<RunnerLink>* link, Job* job);
  // Times by the clock of the task's suite, as the plan says, and stores the time in the case's
  // result.
  absl::StatusOr<Ending> TimeBySuite(WorkloadSession& session, int sets, size_t index, Job* job);
  // No call of this workload can be faster, in microseconds; 0: unknown.
  double Floor(const Job& job, size_t index) const;
  absl::Status Confirm(Job* job);
  // Runs compute-sanitizer on the smallest workload, and a second witness for some of its findings.
  // Anything that cannot be done is noted and does not fail the job.
  absl::Status Sanitize(Job* job);
  using Suspects = std::vector<std::pair<size_t, WorkloadSession::Suspect>>;  // by case
  // Compares outputs of timed calls with oracles that are computed now; the first wrong one fails
  // the job. No candidate may be loaded.
  absl::Status JudgeSuspects(const Suspects& suspects, Job* job);
  // Runs trusted programs without counting their time against the job's limit.
  absl::Status OffTheClock(Job* job, const std::function<absl::Status()>& work);
  void Report(const char* stage, size_t done, size_t total) const;
  static void Fail(const Ending& ending, Job* job);
  static void FailWorkload(const Ending& ending, size_t index, Job* job);
  // Cases by index, smallest footprint first.
  static std::vector<size_t> SmallestFirst(const Job& job);

  Bench& bench_;
  const Progress progress_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_JOB_VERIFIER_H_
