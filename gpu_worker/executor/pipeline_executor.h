#ifndef KSEARCH_GPU_WORKER_EXECUTOR_PIPELINE_EXECUTOR_H_
#define KSEARCH_GPU_WORKER_EXECUTOR_PIPELINE_EXECUTOR_H_

#include "common/clock.h"
#include "gpu_worker/build/toolchain_factory.h"
#include "gpu_worker/device/device_lock.h"
#include "gpu_worker/device/device_monitor.h"
#include "gpu_worker/executor/job_executor.h"
#include "gpu_worker/executor/verifier.h"

namespace ksearch {

// Build, then wait for the device, then check and measure. Several jobs may be building while one
// holds the device. Thread-safe.
class PipelineExecutor : public JobExecutor {
 public:
  // All borrowed.
  struct Parts {
    const Toolchains* toolchains;
    DeviceMonitor* monitor;
    DeviceLock* lock;    // null if `verifier` is
    Verifier* verifier;  // null: there is no device, only BUILD jobs are carried out
    const Clock* clock;
    // Of the builds, for results that end there; a verdict brings its own.
    v1::IsolationLevel isolation;
    v1::DeviceClass device_class = v1::DEVICE_CLASS_CPU;
  };
  explicit PipelineExecutor(Parts parts) : parts_(std::move(parts)) {}

  absl::StatusOr<v1::JobResult> Execute(const v1::JobSpec& spec, const v1::Task& task,
                                        const ProgressSink& progress,
                                        std::stop_token stop) override;

 private:
  const Parts parts_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_EXECUTOR_PIPELINE_EXECUTOR_H_
