#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_TRUSTED_FUNCTION_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_TRUSTED_FUNCTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "gpu_worker/verifier/dialogue/runner_starter.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "proto/runner.pb.h"

namespace ksearch {

// A function of a task's reference beside its entry: called in a runner of its own, sandboxed like
// any, stopped between its calls. What it gives is copied from the memory that it shares to memory
// of this process' own, on the same device. Thread-compatible.
class TrustedFunction {
 public:
  // `entry` is the function's name. It is called on processors whatever the task's device; with
  // `on_device`, which allocates that device's memory, on the device, unless it gives more tensors
  // than the device's buffers have (kMostDeviceOutputs).
  TrustedFunction(RunnerStarter& starter, const Clock& clock, absl::string_view entry,
                  BufferSetsFactory on_device = nullptr)
      : starter_(starter), clock_(clock), entry_(entry), on_device_(std::move(on_device)) {}

  // From now on the function of this program, an artifact that was checked elsewhere.
  void Use(const v1::Artifact& program);

  // The outputs of a call on one input variant. The runner is started, and the workload mapped,
  // when that is needed: not again as long as it is the same object. A TaskFault if the function
  // fails, which ends its runner; else trouble of the machine.
  absl::StatusOr<std::shared_ptr<const SavedOutputs>> Call(
      const std::shared_ptr<const WorkloadCase>& workload, int64_t variant);

 private:
  bool IsOnDevice(const WorkloadCase& workload) const;
  absl::Status Prepare(const std::shared_ptr<const WorkloadCase>& workload);
  absl::Status Broken(const WorkloadCase& workload, const Ending& ending);
  void Stop();

  RunnerStarter& starter_;
  const Clock& clock_;
  const std::string entry_;
  const BufferSetsFactory on_device_;
  v1::Artifact program_;
  std::unique_ptr<RunnerLink> link_;
  bool linked_on_device_ = false;
  std::shared_ptr<const WorkloadCase> mapped_;  // in session_
  std::unique_ptr<WorkloadSession> session_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_TRUSTED_FUNCTION_H_
