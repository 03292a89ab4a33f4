#ifndef KSEARCH_COORDINATOR_ENGINE_JOB_SINK_H_
#define KSEARCH_COORDINATOR_ENGINE_JOB_SINK_H_

#include <string>

#include "proto/job.pb.h"

namespace ksearch {

// Receives committed jobs for execution. Thread-safe; submitting a known or completed job has no
// effect.
class JobSink {
 public:
  virtual ~JobSink() = default;
  // `run_id`: the run whose share it uses; "": no run.
  virtual void Submit(const std::string& run_id, const std::string& job_id,
                      const v1::JobSpec& spec) = 0;
  // Sets RunConfig.priority for jobs that the run submits from now on.
  virtual void SetPriority(const std::string& /*run_id*/, int /*priority*/) {}
  // Cancels the job if no worker has it yet; it may be submitted again.
  virtual void CancelQueued(const std::string& job_id) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_JOB_SINK_H_
