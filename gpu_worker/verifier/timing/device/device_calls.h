#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_CALLS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_CALLS_H_

#include <vector>

#include "gpu_worker/verifier/dialogue/workload_session.h"

namespace ksearch {

// Calls of one program on one workload of a GPU, as the sampler uses them: prepared, made and
// judged. Thread-compatible.
class DeviceCalls {
 public:
  virtual ~DeviceCalls() = default;
  virtual WorkloadSession::Batch Run(const std::vector<WorkloadSession::Call>& calls,
                                     WorkloadSession::Mode mode,
                                     const WorkloadSession::BatchForm& form) = 0;
  // WorkloadSession's.
  virtual Ending RunWithLateInputs(const std::vector<WorkloadSession::Call>& calls,
                                   const WorkloadSession::BatchForm& form, bool* seen) = 0;
  virtual WorkloadSession::Recording Record(const std::vector<int>& sets, int graph) = 0;
  // Begins a measurement. Some of its timed calls are compared with oracles once nothing is being
  // timed anymore; earlier calls are not.
  virtual void BeginMeasurement() = 0;
  // How long checking the outputs of these calls takes on an idle device.
  virtual absl::Duration CheckOutputs(const std::vector<WorkloadSession::Call>& calls) = 0;
};

// Calls through a session, which keeps `late_comparisons` calls of the measurement that counts.
class SessionCalls final : public DeviceCalls {
 public:
  SessionCalls(WorkloadSession& session, const OracleEntries& oracles,
               const WorkloadSession::Limits& limits, int late_comparisons = 0)
      : session_(session),
        oracles_(oracles),
        limits_(limits),
        late_comparisons_(late_comparisons) {}

  WorkloadSession::Batch Run(const std::vector<WorkloadSession::Call>& calls,
                             WorkloadSession::Mode mode,
                             const WorkloadSession::BatchForm& form) override {
    return session_.Run(calls, mode, form, oracles_, limits_);
  }
  Ending RunWithLateInputs(const std::vector<WorkloadSession::Call>& calls,
                           const WorkloadSession::BatchForm& form, bool* seen) override {
    return session_.RunWithLateInputs(calls, form, limits_, seen);
  }
  WorkloadSession::Recording Record(const std::vector<int>& sets, int graph) override {
    return session_.Record(sets, graph, limits_);
  }
  void BeginMeasurement() override { session_.CompareLater(late_comparisons_); }
  absl::Duration CheckOutputs(const std::vector<WorkloadSession::Call>& calls) override {
    return session_.CheckOutputs(calls);
  }

 private:
  WorkloadSession& session_;
  const OracleEntries& oracles_;
  const WorkloadSession::Limits limits_;
  const int late_comparisons_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_CALLS_H_
