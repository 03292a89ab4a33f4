#ifndef KSEARCH_COORDINATOR_ENGINE_TASK_ADMISSION_H_
#define KSEARCH_COORDINATOR_ENGINE_TASK_ADMISSION_H_

#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/engine/job_sink.h"
#include "coordinator/store/store.h"
#include "proto/config.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Finds out whether a task's own programs work before a run pays for its first model call. Thread-
// safe.
class TaskAdmission {
 public:
  struct Parts {
    Store* store;
    JobSink* jobs;
    // Returns true if a connected worker could take the job.
    std::function<bool(const v1::JobSpec&)> can_place;
  };
  explicit TaskAdmission(Parts parts) : parts_(std::move(parts)) {}

  // Has the baseline of the run's language checked like a candidate on the feedback workloads, with
  // the run's platform, unless there is a stored result, and blocks until the result is known.
  // `wait` waits at most that long and returns whether to continue. FAILED_PRECONDITION: reference
  // or baseline fails, with the message. OK: they work, or it cannot be determined now (no worker,
  // or the job was lost), or `wait` returned false.
  absl::Status Admit(const v1::Task& task, const v1::RunConfig& config,
                     const v1::Platform& platform, absl::FunctionRef<bool(absl::Duration)> wait);

  // Returns true if a connected worker could take the job.
  bool CanPlace(const v1::JobSpec& spec) const { return parts_.can_place(spec); }

 private:
  const Parts parts_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_TASK_ADMISSION_H_
