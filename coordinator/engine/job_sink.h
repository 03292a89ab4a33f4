#ifndef KSEARCH_COORDINATOR_ENGINE_JOB_SINK_H_
#define KSEARCH_COORDINATOR_ENGINE_JOB_SINK_H_

#include <string>

#include "proto/job.pb.h"

namespace ksearch {

// Where committed jobs go to be tried. Thread-safe; submitting a known or done job has no effect.
class JobSink {
 public:
  virtual ~JobSink() = default;
  // `run_id`: whose turn it takes; "": of no run.
  virtual void Submit(const std::string& run_id, const std::string& job_id,
                      const v1::JobSpec& spec) = 0;
  // RunConfig.priority, for what the run submits from now on.
  virtual void SetPriority(const std::string& /*run_id*/, int /*priority*/) {}
  // Takes the job back if no worker has it yet; it may be submitted again.
  virtual void CancelQueued(const std::string& job_id) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_JOB_SINK_H_
