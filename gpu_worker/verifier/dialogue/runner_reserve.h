#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_RESERVE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_RESERVE_H_

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "gpu_worker/sandbox/sandbox.h"
#include "gpu_worker/verifier/dialogue/program_image.h"
#include "gpu_worker/verifier/dialogue/runner_link.h"

namespace ksearch {

// Starts runners before they are needed, because some are slow to start (an interpreter takes
// seconds to import torch). Like all runners, each serves one program in its own sandbox. While
// they wait:
//
// - They have sent READY and wait in a read, so they use no processor time. No program is loaded,
//   and their folder (program_slot.h) is empty.
// - They have not touched the device: they have no context or memory there and run nothing on it.
//   So a reserve may exist while other programs are timed. After BEGIN they still have to do that,
//   what Triton does once per process (some tenths of a second), and enter the tight filter, which
//   is in force before HELLO as always.
// - Starting one does use processors, so a start must be over before anything is timed: Settle.
//
// They end with the verifier: its end of their sockets closes, and their sandboxes end with it.
// Thread-compatible.
class RunnerReserve {
 public:
  // The properties by which runners differ before they have a program.
  struct Kind {
    SandboxSpec spec;      // without the program's folder; argv has --in-advance
    std::string writable;  // a subfolder of the program's that the runner writes to; empty: none
    bool operator==(const Kind&) const = default;
  };

  // Program slots are made in `folder`, which belongs to this process alone and is created if
  // missing; slots left by a dead process are removed. At most `most` runners wait at a time.
  static absl::StatusOr<std::unique_ptr<RunnerReserve>> Create(Sandbox& sandbox,
                                                               const std::string& folder,
                                                               size_t most, const Clock& clock);

  // A runner that sees `program` and has sent HELLO: a waiting one of this kind if there is one
  // alive, else a new one. Non-OK is an error of this machine.
  absl::StatusOr<std::unique_ptr<RunnerLink>> Take(const Kind& kind, const ProgramImage& program);

  // Announces that a runner of this kind will be taken soon: starts one unless one is waiting. Does
  // not block.
  void Foresee(const Kind& kind);
  bool Holds(const Kind& kind) const { return Count(kind) > 0; }
  // Starts runners of the most recently wanted kinds, first one of each, then a second one, up to
  // the limit; replaces those that have died. Does not block.
  void Fill();
  // Waits until no start is in progress.
  void Settle();
  void Clear() { waiting_.clear(); }
  size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    Kind kind;
    std::unique_ptr<RunnerLink> link;
  };

  RunnerReserve(Sandbox& sandbox, std::string folder, size_t most, const Clock& clock)
      : sandbox_(sandbox), folder_(std::move(folder)), most_(most), clock_(clock) {}
  absl::StatusOr<std::unique_ptr<RunnerLink>> Launch(const Kind& kind);
  void Start(const Kind& kind);
  int Count(const Kind& kind) const;
  // Drops runners that have ended.
  void DropDead();
  // Makes this kind the most recently wanted one.
  void Remember(const Kind& kind);

  Sandbox& sandbox_;
  const std::string folder_;
  const size_t most_;
  const Clock& clock_;
  std::list<Kind> wanted_;  // most recent first
  std::list<Waiting> waiting_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_RESERVE_H_
