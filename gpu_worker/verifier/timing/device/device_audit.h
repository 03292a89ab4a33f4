#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_AUDIT_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_AUDIT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/timing/device/deferred_work.h"
#include "gpu_worker/verifier/timing/device/idle_paces.h"

namespace ksearch {

// Holds the time per call that a GPU's runner reported against the verifier's clock around batches
// that had nothing in them but calls. Thread-compatible.
class DeviceAudit {
 public:
  void AddPace(const Metronome::Pace& idle) { paces_.Add(idle); }
  // A batch of FREE calls (`per_call`), or a replay of a graph, whose calls are one unit.
  // `idle`: what checking the outputs of as many calls takes if nothing is at work.
  void AddBatch(const WorkloadSession::Batch& batch, bool per_call, absl::Duration idle);

  // The verifier's time over the reported one, `call_us` a call.
  double Ratio(double call_us) const;
  // Whether the median batch took longer than its calls can account for. `host_us`: time of the
  // host per call, which may be longer than the device's.
  bool TimeEscaped(double call_us, double host_us) const;
  const IdlePaces& paces() const { return paces_; }
  // Time per call of each batch by the verifier's clock alone.
  std::vector<double> VerifierMicros() const;
  // For the log: medians over batches; a call is taken to last `call_us`.
  std::string Summary(double call_us) const;

 private:
  struct Batch {
    double micros = 0;  // without waits for a core
    double lead_in_us = 0;
    double calls = 0;
    double allowed_calls = 0;  // that may each cost a little more
  };
  // With what its lead-in took over kMaxLeadIn times that of an idle runner (9 of 10), and with
  // late work.
  double Micros(const Batch& batch) const;

  std::vector<Batch> batches_;
  DeferredWork deferred_work_;
  IdlePaces paces_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_DEVICE_AUDIT_H_
