#ifndef KSEARCH_COORDINATOR_SERVICE_GATEWAY_SINK_H_
#define KSEARCH_COORDINATOR_SERVICE_GATEWAY_SINK_H_

#include <string>

#include "coordinator/engine/job_sink.h"
#include "coordinator/service/worker_gateway.h"

namespace ksearch {

// Hands the jobs of runs to the workers. Borrows the gateway. Thread-safe.
class GatewaySink final : public JobSink {
 public:
  explicit GatewaySink(WorkerGateway* gateway) : gateway_(gateway) {}
  void Submit(const std::string& run_id, const std::string& job_id,
              const v1::JobSpec& spec) override {
    gateway_->Submit(job_id, spec, 0, run_id);
  }
  void SetPriority(const std::string& run_id, int priority) override {
    gateway_->SetPriority(run_id, priority);
  }
  void CancelQueued(const std::string& job_id) override {
    if (gateway_->State(job_id).phase == JobState::Phase::kQueued) gateway_->Cancel(job_id);
  }

 private:
  WorkerGateway* const gateway_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_GATEWAY_SINK_H_
