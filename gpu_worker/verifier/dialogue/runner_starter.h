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

// Starts runners, each in a sandbox of its own, or takes them from a reserve: those of programs
// whose RunnerCommand has in_advance, if there is one. Thread-compatible.
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

  void UseReserve(std::unique_ptr<RunnerReserve> reserve) { reserve_ = std::move(reserve); }

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
  // compilers need, and with the folder `compiled` in the program's own to write to; of a runner
  // with a folder() there.
  absl::StatusOr<std::unique_ptr<RunnerLink>> StartWarm(const ProgramImage& program,
                                                        absl::string_view compiled,
                                                        const v1::Limits& limits);

  // A runner of this command is about to be started: one that is slow to start begins with that
  // now. Waits for nothing. Not while anything is timed that a busy processor disturbs, and Settle
  // must follow before.
  void Foresee(const v1::RunnerCommand& runner, const v1::Limits& limits);
  // The same for `program`'s, if it has one of its own.
  void Foresee(const ProgramImage& program, const v1::Limits& limits) {
    if (program.runner() != nullptr) Foresee(*program.runner(), limits);
  }
  // Waits until nothing that was begun so is under way.
  void Settle();
  // Where what runs on the processors disturbs nobody, between jobs and beside screenings on a GPU:
  // begins to start what the next job will probably want.
  void FillReserve();
  void DropReserve();
  // How long a start of `program` would take now, if one was seen to take `seen`.
  absl::Duration StartTime(const ProgramImage& program, const v1::Limits& limits,
                           absl::Duration seen) const;

  // For references and baselines: generous, since they are the task author's.
  static v1::Limits TrustedLimits();

  v1::IsolationLevel isolation() const { return sandbox_.isolation(); }

 private:
  // `runner` null: ksearch-runner. Without the program's folder. `gpu_uuid`: empty without one.
  SandboxSpec Spec(const v1::RunnerCommand* runner, const v1::Limits& limits,
                   const std::string& gpu_uuid) const;
  // With it.
  SandboxSpec Spec(const ProgramImage& program, const v1::Limits& limits,
                   const std::string& gpu_uuid) const;
  bool InAdvance(const v1::RunnerCommand* runner) const {
    return reserve_ != nullptr && runner != nullptr && runner->in_advance();
  }
  RunnerReserve::Kind KindOf(const v1::RunnerCommand& runner, const v1::Limits& limits) const;
  // Turns one of a program's runners into that of its warm stage.
  static void Warm(SandboxSpec* spec);
  absl::StatusOr<std::unique_ptr<RunnerLink>> Start(SandboxSpec spec);
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
