#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_STARTER_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_STARTER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "gpu_worker/sandbox/gpu_binds.h"
#include "gpu_worker/sandbox/sandbox.h"
#include "gpu_worker/verifier/dialogue/instrument_command.h"
#include "gpu_worker/verifier/dialogue/program_image.h"
#include "gpu_worker/verifier/dialogue/runner_link.h"
#include "gpu_worker/verifier/dialogue/runner_reserve.h"
#include "proto/config.pb.h"
#include "proto/job.pb.h"
#include "proto/runner.pb.h"

namespace ksearch {

// Starts runners, each in its own sandbox. Programs whose RunnerCommand has in_advance get a runner
// from the reserve, if there is a reserve. Thread-compatible.
class RunnerStarter {
 public:
  // `runner_path`: the absolute path of ksearch-runner.
  RunnerStarter(Sandbox& sandbox, std::string runner_path, const v1::SandboxSettings& settings,
                const Clock& clock)
      : sandbox_(sandbox),
        runner_path_(std::move(runner_path)),
        settings_(settings),
        clock_(clock) {}

  // From now on, runners see and use only this GPU.
  void UseGpu(std::string uuid, GpuBinds binds) {
    gpu_uuid_ = std::move(uuid);
    gpu_binds_ = std::move(binds);
  }

  void UseReserve(std::unique_ptr<RunnerReserve> reserve) { reserve_ = std::move(reserve); }

  // A runner that can load `program` but has not loaded anything yet. Non-OK is an error of this
  // machine.
  absl::StatusOr<std::unique_ptr<RunnerLink>> Start(const ProgramImage& program,
                                                    const v1::Limits& limits);
  // Like Start, but does not wait for the runner's HELLO, so that two runners can start at the same
  // time. Call RunnerLink::AwaitHello before anything else. One from the reserve has sent its HELLO
  // by then, so announce both (Foresee) before the first.
  absl::StatusOr<std::unique_ptr<RunnerLink>> Launch(const ProgramImage& program,
                                                     const v1::Limits& limits);
  // Like Start, but on the CPU, whatever the device.
  absl::StatusOr<std::unique_ptr<RunnerLink>> StartOnHost(const ProgramImage& program,
                                                          const v1::Limits& limits);
  // A ksearch-runner that will not load anything.
  absl::StatusOr<std::unique_ptr<RunnerLink>> StartIdle(const v1::Limits& limits);

  // Like Launch, but under an instrument and without the tight filter, with which instruments do
  // not work. `report`, an open file, is passed as kInstrumentReportFd.
  absl::StatusOr<std::unique_ptr<RunnerLink>> LaunchUnder(const InstrumentCommand& instrument,
                                                          int report, const ProgramImage& program,
                                                          const v1::Limits& limits);

  // Like Start, for the program's warm stage (warm/warm_stage.h): without the tight filter, with
  // what compilers need, and with the writable subfolder `compiled` in the program's folder. The
  // runner has a folder().
  absl::StatusOr<std::unique_ptr<RunnerLink>> StartWarm(const ProgramImage& program,
                                                        absl::string_view compiled,
                                                        const v1::Limits& limits);

  // Announces that a runner of this command will be needed soon: if it is slow to start, its start
  // begins now. Does not block. Must not be called while a busy processor would disturb a
  // measurement; call Settle before such a measurement.
  void Foresee(const v1::RunnerCommand& runner, const v1::Limits& limits);
  // The same for the runner of `program`, if it has its own command.
  void Foresee(const ProgramImage& program, const v1::Limits& limits) {
    if (program.runner() != nullptr) Foresee(*program.runner(), limits);
  }
  // Waits until no start that Foresee began is in progress.
  void Settle();
  // Starts the runners that the next job will probably need. To be called only when processor use
  // disturbs nothing: between jobs and during screenings on a GPU.
  void FillReserve();
  void DropReserve();
  // How long starting `program` would take now, given that a start took `seen`.
  absl::Duration StartTime(const ProgramImage& program, const v1::Limits& limits,
                           absl::Duration seen) const;

  // For references and baselines: generous, since they are the task author's.
  static v1::Limits TrustedLimits();

  v1::IsolationLevel isolation() const { return sandbox_.isolation(); }

 private:
  // Without the program's folder. `runner` null: ksearch-runner. `gpu_uuid` empty: no GPU.
  SandboxSpec Spec(const v1::RunnerCommand* runner, const v1::Limits& limits,
                   const std::string& gpu_uuid) const;
  // With the program's folder.
  SandboxSpec Spec(const ProgramImage& program, const v1::Limits& limits,
                   const std::string& gpu_uuid) const;
  bool InAdvance(const v1::RunnerCommand* runner) const {
    return reserve_ != nullptr && runner != nullptr && runner->in_advance();
  }
  RunnerReserve::Kind KindOf(const v1::RunnerCommand& runner, const v1::Limits& limits) const;
  // Turns the specification of a program's runner into that of its warm stage.
  static void Warm(SandboxSpec* spec);
  absl::StatusOr<std::unique_ptr<RunnerLink>> Launch(SandboxSpec spec);
  absl::StatusOr<std::unique_ptr<RunnerLink>> Take(const RunnerReserve::Kind& kind,
                                                   const ProgramImage& program);

  Sandbox& sandbox_;
  const std::string runner_path_;
  const v1::SandboxSettings settings_;
  const Clock& clock_;
  std::string gpu_uuid_;  // empty: none
  GpuBinds gpu_binds_;
  std::unique_ptr<RunnerReserve> reserve_;  // null: none
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_STARTER_H_
