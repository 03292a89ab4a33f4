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

// Carries out one VerifierRequest of any kind but BUILD. Whatever the candidate does
// is part of the verdict, and what the task's own programs do (OUTCOME_TASK_ERROR); non-OK is
// trouble of the machine or the request. Thread-compatible.
class JobVerifier {
 public:
  using Progress = std::function<void(const v1::VerifierReply::Progress&)>;

  JobVerifier(Bench& bench, Progress progress) : bench_(bench), progress_(std::move(progress)) {}

  absl::StatusOr<v1::Verdict> Verify(const v1::VerifierRequest& request);

 private:
  using CasePtr = std::shared_ptr<const WorkloadCase>;
  // One request at work.
  struct Job {
    const v1::VerifierRequest* request = nullptr;
    v1::MeasurePlan plan;
    std::optional<Seed> own_seed;             // of the inputs, if no other job has it
    std::vector<CasePtr> cases;               // in the order of job.workload_uuids
    std::vector<OracleEntries> oracles;       // same order
    std::vector<OracleEntries> trials;        // same order: further ones of the suite's rule
    std::vector<AnsweredHiddenCase> hidden;   // of a CONFIRM
    std::vector<v1::WorkloadResult> results;  // same order; empty uuid: not reached
    // For a BASELINE, or a SCREEN with a baseline; same order.
    std::vector<BaselineCache::Timing> baselines;
    IdlePaces alone;                 // GPU, of a SCREEN: before the candidate was there
    absl::Duration reference_start;  // what it would take to start another runner of it
    WorkloadSession::Limits limits;
    // What trusted programs do before the candidate is there; whether that is over.
    absl::Time trusted_deadline;
    bool trusted_programs_done = false;
    std::optional<ProgramImage> candidate, reference, baseline;
    v1::Verdict verdict;
    std::string unexplained;    // Tries::again
    bool device_error = false;  // Tries::device_error
    absl::Status machine;       // Tries::machine
  };
  // What one try at a request leaves for the next.
  struct Tries {
    int begun = 0;
    std::optional<absl::Time> deadline;          // of all of them
    absl::Duration trusted_time = kTrustedTime;  // left for preparations that fail
    // How the candidate ended, if it may not have been its own doing; empty: that is known.
    std::string again;
    bool device_error = false;  // its process said that the device failed
    absl::Status machine;       // non-OK: it ended because this machine failed
  };

  absl::StatusOr<v1::Verdict> Judge(const v1::VerifierRequest& request, Tries* tries);
  absl::Status Prepare(Job* job);
  // Answers to the further input variants that the rule of the task's suite looks at, as many as
  // there is time for.
  absl::StatusOr<OracleEntries> AnswerTrials(const ProgramImage& reference, const CasePtr& workload,
                                             const OracleEntries& oracles);
  absl::Status Check(RunnerLink& link, Job* job);
  // For a CONFIRM, after the gate: variants of other kinds than the recipes'.
  absl::Status CheckHidden(RunnerLink& link, Job* job);
  // The programs that the candidate is compared with: TaskFault if one is not right.
  absl::Status TryTrusted(Job* job);
  absl::Status TimeBaseline(Job* job);
  // For a BASELINE: what was timed becomes the verdict's workloads.
  void ReportBaselines(Job* job);
  // *link is replaced if the candidate needs a new process.
  absl::Status Screen(std::unique_ptr<RunnerLink>* link, Job* job);
  // By the clock of the task's suite, in the way that the plan says, into the case's result.
  absl::StatusOr<Ending> TimeBySuite(WorkloadSession& session, int sets, size_t index, Job* job);
  // No call of this workload can be faster, in microseconds; 0: unknown.
  double Floor(const Job& job, size_t index) const;
  absl::Status Confirm(Job* job);
  // compute-sanitizer on the smallest workload, and a second witness to some of its findings. What
  // cannot be done is noted, and fails no job.
  absl::Status Sanitize(Job* job);
  using Suspects = std::vector<std::pair<size_t, WorkloadSession::Suspect>>;  // by case
  // Compares outputs of timed calls with oracles of their variants, made now; the first that is
  // wrong fails the job. No candidate may be there.
  absl::Status JudgeSuspects(const Suspects& suspects, Job* job);
  // A job's clock stands still while trusted programs run.
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
