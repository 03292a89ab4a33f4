#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_STARTER_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_STARTER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "gpu_worker/sandbox/gpu_binds.h"
#include "gpu_worker/sandbox/sandbox.h"
#include "gpu_worker/verifier/dialogue/instrument_command.h"
#include "gpu_worker/verifier/dialogue/program_image.h"
#include "gpu_worker/verifier/dialogue/runner_link.h"
#include "proto/config.pb.h"
#include "proto/job.pb.h"

namespace ksearch {

// Starts runners, each in a sandbox of its own. Thread-compatible.
class RunnerStarter {
 public:
  // `runner_path`: the absolute path of ksearch-runner.
  RunnerStarter(Sandbox& sandbox, std::string runner_path, const v1::SandboxSettings& settings,
                const Clock& clock)
      : sandbox_(sandbox),
        runner_path_(std::move(runner_path)),
        settings_(settings),
        clock_(clock) {}

  // From now on runners use this GPU, and see no other.
  void UseGpu(std::string uuid, GpuBinds binds) {
    gpu_uuid_ = std::move(uuid);
    gpu_binds_ = std::move(binds);
  }

  // A runner that can load `program`, with nothing loaded. Non-OK is trouble of this machine.
  absl::StatusOr<std::unique_ptr<RunnerLink>> Start(const ProgramImage& program,
                                                    const v1::Limits& limits);
  // As Start, but on processors whatever the device.
  absl::StatusOr<std::unique_ptr<RunnerLink>> StartOnHost(const ProgramImage& program,
                                                          const v1::Limits& limits);
  // ksearch-runner, which will load nothing.
  absl::StatusOr<std::unique_ptr<RunnerLink>> StartIdle(const v1::Limits& limits);

  // As Start, under a program that looks on, and without the tight filter (which such programs
  // cannot do with). `report`, an open file, is there as kInstrumentReport.
  absl::StatusOr<std::unique_ptr<RunnerLink>> StartUnder(const InstrumentCommand& instrument,
                                                         int report, const ProgramImage& program,
                                                         const v1::Limits& limits);

  // As Start, for the program's warm stage (warm/warm_stage.h): without the tight filter, with what
  // compilers need, and with the folder `compiled` in the program's own to write to.
  absl::StatusOr<std::unique_ptr<RunnerLink>> StartWarm(const ProgramImage& program,
                                                        absl::string_view compiled,
                                                        const v1::Limits& limits);

  // For references and baselines: generous, since they are the task author's.
  static v1::Limits TrustedLimits();

  v1::IsolationLevel isolation() const { return sandbox_.isolation(); }

 private:
  // Null: of a runner that will load nothing. `gpu_uuid`: empty without one.
  SandboxSpec Spec(const ProgramImage* program, const v1::Limits& limits,
                   const std::string& gpu_uuid) const;
  SandboxSpec Spec(const ProgramImage* program, const v1::Limits& limits) const {
    return Spec(program, limits, gpu_uuid_);
  }
  absl::StatusOr<std::unique_ptr<RunnerLink>> Start(SandboxSpec spec);

  Sandbox& sandbox_;
  const std::string runner_path_;
  const v1::SandboxSettings settings_;
  const Clock& clock_;
  std::string gpu_uuid_;  // empty: none
  GpuBinds gpu_binds_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_STARTER_H_
