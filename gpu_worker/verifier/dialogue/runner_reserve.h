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

// Runners that are slow to start (an interpreter that imports torch: seconds) started before they
// are needed, each for one program and in a sandbox of its own, as all. What they wait with:
//
// - They have said READY and wait in a read: they use no processor. No program was loaded, and
// their
//   folder (program_slot.h) is empty.
// - They have not touched the device: no context, no memory of it, nothing at work on it, so a
//   reserve may be there while others are timed. What is left to do after BEGIN is that, what
//   Triton does once a process (some tenths of a second), and the tight filter, in force before
//   HELLO as ever.
// - A start takes processors, though. It must be over before anything is timed: Settle.
//
// They end with the verifier: its end of their sockets closes, and their sandboxes die with it.
// Thread-compatible.
class RunnerReserve {
 public:
  // What distinguishes runners before they have a program.
  struct Kind {
    SandboxSpec spec;      // without the program's folder; argv has --in-advance
    std::string writable;  // a folder in the program's that the runner writes to; empty: none
    bool operator==(const Kind&) const = default;
  };

  // `folder`, made if missing, is this process' own: program slots are made there, and those of a
  // dead process removed. At most `most` runners wait at a time.
  static absl::StatusOr<std::unique_ptr<RunnerReserve>> Create(Sandbox& sandbox,
                                                               const std::string& folder,
                                                               size_t most, const Clock& clock);

  // A runner that sees `program` and has said HELLO: one that waits, if it is of this kind and
  // still lives, else a new one. Non-OK is trouble of this machine.
  absl::StatusOr<std::unique_ptr<RunnerLink>> Take(const Kind& kind, const ProgramImage& program);

  // One of this kind is about to be taken: has one started unless one waits. Waits for nothing.
  void Foresee(const Kind& kind);
  bool Holds(const Kind& kind) const { return Count(kind) > 0; }
  // Has one of each of the kinds that were wanted last wait, then a second one, as many as may;
  // replaces what has died. Waits for nothing.
  void Fill();
  // Waits until no start is under way.
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
  // Has this kind be the one that was wanted last.
  void Remember(const Kind& kind);

  Sandbox& sandbox_;
  const std::string folder_;
  const size_t most_;
  const Clock& clock_;
  std::list<Kind> wanted_;  // last first
  std::list<Waiting> waiting_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_RESERVE_H_
