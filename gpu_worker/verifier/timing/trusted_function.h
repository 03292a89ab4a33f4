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

// A function of a task's reference other than its entry point. It is called in its own runner,
// which is sandboxed like any other and stopped between calls. Its outputs are copied from shared
// memory to this process's own memory, on the same device. Thread-compatible.
class TrustedFunction {
 public:
  // `entry` is the function's name. It runs on the CPU, whatever the task's device. If `on_device`
  // is given, which allocates memory of the device, it runs on the device instead, unless it
  // returns more tensors than the device's buffers support (kMostDeviceOutputs).
  TrustedFunction(RunnerStarter& starter, const Clock& clock, absl::string_view entry,
                  BufferSetsFactory on_device = nullptr)
      : starter_(starter), clock_(clock), entry_(entry), on_device_(std::move(on_device)) {}

  // From now on, calls the function of this program; the artifact must have been checked.
  void Use(const v1::Artifact& program);

  // The outputs of a call on one input variant. Starts the runner and maps the workload if needed,
  // but not again for the same workload object. A TaskFault if the function fails, which ends its
  // runner; other errors are the machine's.
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
