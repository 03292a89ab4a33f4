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
// every default of the task's device filled in, so that equal questions have equal job ids. Borrows
// the task.
class JobSpecs {
 public:
  // `salt`: of every job; usually empty.
  JobSpecs(const v1::Task& task, const v1::MeasurePlan& plan, const v1::Limits& limits,
           std::string salt = "");

  // Check, and time on the feedback workloads.
  v1::JobSpec Screen(const v1::Sources& candidate) const;
  // Check there, and time nothing.
  v1::JobSpec Check(const v1::Sources& candidate) const;
  v1::JobSpec Build(const v1::Sources& candidate) const;
  // Check on every workload, then A/B against the incumbent (null: none yet) and the baseline. The
  // comparisons may err with `error_share`, in (0, 1], of what the plan's confidence allows.
  v1::JobSpec Confirm(const v1::Sources& candidate, const std::string& incumbent_id,
                      const v1::Sources* incumbent, double error_share) const;

  // The task's own baseline, timed as a screening times it. `baseline`: its sources.
  v1::JobSpec Baseline(const v1::Sources& baseline) const;

  // Cheap tools on the smallest feedback workload. `architecture`: of the device; empty: any. Does
  // not depend on how the run measures.
  v1::JobSpec Examine(const v1::Sources& candidate, const std::string& architecture) const;

  // Under the profiler on one workload. `architecture`: of the device; empty: any. Does not depend
  // on how the run measures.
  v1::JobSpec Profile(const v1::Sources& candidate, const std::string& workload_uuid,
                      const std::string& architecture) const;

  const std::string& task_sha256() const { return task_sha256_; }

 private:
  // What every job has, the task's programs that it runs included.
  v1::JobSpec Common(v1::JobKind kind, const v1::Sources& candidate) const;
  // On the feedback workloads.
  v1::JobSpec OnFeedback(v1::JobKind kind, const v1::Sources& candidate) const;

  const v1::Task& task_;
  const std::string task_sha256_;
  const v1::MeasurePlan plan_;
  const v1::Limits limits_;
  const std::string salt_;
};

// Makes the job one of `platform`, as far as its kind depends on it. A platform of which nothing is
// known leaves the job as it is: workers that report no platform may do it.
void SetPlatform(const v1::Platform& platform, v1::JobSpec* spec);

// The id of `spec`, which is salted first if what is on record for a job of this content does not
// count: it was given up (lost with its workers or cancelled), which says nothing about the
// candidate and must not stand for it, or it was not measured with spec.platform. Every caller is
// led to the same new job, until that one is lost too.
absl::StatusOr<std::string> IdOfJobToTry(Store& store, v1::JobSpec* spec);

// The same for a PROFILE job. One that brought no profile says nothing about the candidate either:
// it is retried, as permissions may have changed. `replays`: the run repeats a recorded one, so
// the last job that has a result is taken, whatever it brought.
absl::StatusOr<std::string> IdOfProfileToTry(Store& store, bool replays, v1::JobSpec* spec);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_JOB_SPECS_H_
