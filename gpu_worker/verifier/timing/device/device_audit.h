#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_AUDIT_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_AUDIT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/timing/device/deferred_work.h"
#include "gpu_worker/verifier/timing/device/idle_paces.h"

namespace ksearch {

// Compares the time per call that a GPU's runner reported with the verifier's clock around batches
// that contained nothing but calls. Thread-compatible.
class DeviceAudit {
 public:
  void AddPace(const Metronome::Pace& idle) { paces_.Add(idle); }
  // Adds a batch of FREE calls (`per_call`), or a replay of a graph, which counts as one unit.
  // `idle`: how long checking the outputs of as many calls takes on an idle device.
  void AddBatch(const WorkloadSession::Batch& batch, bool per_call, absl::Duration idle);

  // The ratio of the verifier's time to the reported time, `call_us` per call.
  double Ratio(double call_us) const;
  // Returns true if the median batch took longer than its calls can explain. `host_us`: host time
  // per call, which may exceed the device's time.
  bool TimeEscaped(double call_us, double host_us) const;
  const IdlePaces& paces() const { return paces_; }
  // Time per call of each batch by the verifier's clock alone.
  std::vector<double> VerifierMicros() const;
  // For the log: medians over batches, assuming that a call takes `call_us`.
  std::string Summary(double call_us) const;

 private:
  struct Batch {
    double micros = 0;  // without waits for a core
    double lead_in_us = 0;
    double calls = 0;
    double allowed_calls = 0;  // calls that may each cost a little more
  };
  // The batch's time, plus late work and the part of its lead-in beyond kMaxLeadIn times the 90 %
  // quantile of an idle runner's.
  double Micros(const Batch& batch) const;

  std::vector<Batch> batches_;
  DeferredWork deferred_work_;
  IdlePaces paces_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_AUDIT_H_
