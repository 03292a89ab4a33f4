#ifndef KSEARCH_COORDINATOR_ENGINE_JOB_SPECS_H_
#define KSEARCH_COORDINATOR_ENGINE_JOB_SPECS_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/store/store.h"
#include "proto/config.pb.h"
#include "proto/job.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Builds the immutable jobs of a run or an evaluation: task, its programs, plan and limits with
// every default of the task's device filled in, so that equal jobs have equal ids. Borrows the
// task.
class JobSpecs {
 public:
  // `salt`: of every job; usually empty.
  JobSpecs(const v1::Task& task, const v1::MeasurePlan& plan, const v1::Limits& limits,
           std::string salt = "");

  // Checks and times on the feedback workloads.
  v1::JobSpec Screen(const v1::Sources& candidate) const;
  // Checks on the feedback workloads without timing.
  v1::JobSpec Check(const v1::Sources& candidate) const;
  v1::JobSpec Build(const v1::Sources& candidate) const;
  // Checks on every workload, then compares with the incumbent (null: none yet) and the baseline.
  // The comparisons may use the share `error_share`, in (0, 1], of the error that the plan's
  // confidence allows.
  v1::JobSpec Confirm(const v1::Sources& candidate, const std::string& incumbent_id,
                      const v1::Sources* incumbent, double error_share) const;

  // Times the task's own baseline as a screening does. `baseline`: its sources.
  v1::JobSpec Baseline(const v1::Sources& baseline) const;

  // Runs cheap tools on the smallest feedback workload. `architecture` is that of the device;
  // empty: any. Does not depend on how the run measures.
  v1::JobSpec Examine(const v1::Sources& candidate, const std::string& architecture) const;

  // Profiles on one workload. `architecture` is that of the device; empty: any. Does not depend on
  // how the run measures.
  v1::JobSpec Profile(const v1::Sources& candidate, const std::string& workload_uuid,
                      const std::string& architecture) const;

  const std::string& task_sha256() const { return task_sha256_; }

 private:
  // The parts common to all jobs, including the task's programs that a job runs.
  v1::JobSpec Common(v1::JobKind kind, const v1::Sources& candidate) const;
  // On the feedback workloads.
  v1::JobSpec OnFeedback(v1::JobKind kind, const v1::Sources& candidate) const;

  const v1::Task& task_;
  const std::string task_sha256_;
  const v1::MeasurePlan plan_;
  const v1::Limits limits_;
  const std::string salt_;
};

// Binds the job to `platform`, as far as its kind depends on it. An empty platform leaves the job
// unchanged, so that workers without a platform can do it.
void SetPlatform(const v1::Platform& platform, v1::JobSpec* spec);

// The id of `spec`. Salts it first if the stored result for the same content does not count:
// because the job was given up (lost with its workers or cancelled), which says nothing about the
// candidate, or because it was not measured with spec.platform. All callers get the same new job,
// until that is lost too.
absl::StatusOr<std::string> IdOfJobToTry(Store& store, v1::JobSpec* spec);

// The same for a PROFILE job. A result without a profile says nothing about the candidate either:
// the job is retried, since permissions may have changed. `replays`: the run repeats a recorded
// one, so the last job with a result is used, whatever the result.
absl::StatusOr<std::string> IdOfProfileToTry(Store& store, bool replays, v1::JobSpec* spec);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_JOB_SPECS_H_
