#ifndef KSEARCH_GPU_WORKER_EXECUTOR_PIPELINE_EXECUTOR_H_
#define KSEARCH_GPU_WORKER_EXECUTOR_PIPELINE_EXECUTOR_H_

#include <optional>
#include <stop_token>
#include <string>

#include "common/clock.h"
#include "gpu_worker/build/toolchain_factory.h"
#include "gpu_worker/executor/build_turns.h"
#include "gpu_worker/executor/device_pool.h"
#include "gpu_worker/executor/job_executor.h"

namespace ksearch {

// Build, then wait for a device that fits, then check and measure. Several jobs may be building
// while others hold the devices. Thread-safe.
class PipelineExecutor : public JobExecutor {
 public:
  // All borrowed.
  struct Parts {
    const Toolchains* toolchains;
    DevicePool* devices;
    // Null: no processors are measured that builds would disturb.
    BuildTurns* build_turns = nullptr;
    const Clock* clock;
    // The isolation of builds, for results that end there; a verdict contains its own.
    v1::IsolationLevel isolation;
    // The folder of tasks' recorded inputs, by the names of their blobs.
    std::string inputs_folder;
  };
  explicit PipelineExecutor(Parts parts) : parts_(std::move(parts)) {}

  absl::StatusOr<v1::JobResult> Execute(const v1::JobSpec& spec, const v1::Task& task,
                                        const ProgressSink& progress,
                                        std::stop_token stop) override;

 private:
  absl::StatusOr<std::optional<BuildTurns::Turn>> BeginBuild(std::stop_token stop);

  const Parts parts_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_EXECUTOR_PIPELINE_EXECUTOR_H_
