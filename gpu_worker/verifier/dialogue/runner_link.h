#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_LINK_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_LINK_H_

#include <time.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/unique_fd.h"
#include "gpu_worker/sandbox/sandbox.h"
#include "gpu_worker/verifier/dialogue/ending.h"
#include "gpu_worker/verifier/dialogue/process_threads.h"
#include "gpu_worker/verifier/dialogue/program_image.h"
#include "gpu_worker/verifier/dialogue/program_slot.h"
#include "gpu_worker/verifier/dialogue/run_queue_delay.h"
#include "gpu_worker/verifier/dialogue/runner_reply.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "proto/runner.pb.h"

namespace ksearch {

// The verifier's end of the dialogue with one runner, which is hostile from Load on. The first
// ending that is not PASSED is final: later calls return it again. Silence past a deadline is
// TIMEOUT, the runner's death RUNTIME_ERROR (LOAD_ERROR while loading; RESOURCE_LIMIT if the
// sandbox says so), anything forged CHEAT. While a call waits, this process sleeps in poll(): it
// takes no core from the candidate (but see WaitAwake); between calls, once something is loaded,
// the runner is stopped (SIGSTOP): no thread of it can finish late work, or slow a rival. That it
// is, AwaitStop sees; what it ran all the same is held against it when it goes on.
// Thread-compatible. Deadlines are on the Clock::SteadyNow() scale.
class RunnerLink {
 public:
  // Starts a runner and waits for its HELLO. `spec` needs argv and limits; the control socket is
  // added. Non-OK is trouble of this machine.
  static absl::StatusOr<std::unique_ptr<RunnerLink>> Start(Sandbox& sandbox, SandboxSpec spec,
                                                           const Clock& clock);
  // The same in steps, for a runner that was started with --in-advance. Launch waits for nothing.
  // `folder`, which may be null, is kept until the runner has ended.
  static absl::StatusOr<std::unique_ptr<RunnerLink>> Launch(
      Sandbox& sandbox, SandboxSpec spec, const Clock& clock,
      std::shared_ptr<ProgramSlot> folder = nullptr);
  // Waits for its READY. Afterwards: whether it still lives.
  absl::Status AwaitReady();
  // After its READY: has it go on, and waits for its HELLO.
  absl::Status Begin();
  // Whether it has hung up: one that was launched, and not begun, has then ended.
  bool HungUp() const;
  // The folder of Launch; also the warm stage's, which outlives the runner.
  const std::shared_ptr<ProgramSlot>& folder() const { return folder_; }
  ~RunnerLink();
  RunnerLink(const RunnerLink&) = delete;
  RunnerLink& operator=(const RunnerLink&) = delete;

  // Answers are waited for without sleep, at most 50 ms each: for programs that need the device
  // and not every core.
  void WaitAwake() { spin_ = true; }

  // `entry`: of a program that is a folder; empty: its runner's usual one.
  Ending Load(const ProgramImage& program, absl::Time deadline, absl::string_view entry = "");
  // What the candidate prints from the first of these on is not kept: it may have seen inputs.
  Ending Map(const std::vector<MapPacket>& packets, absl::Time deadline);
  // Whether, by the runner's word at the last Map, the program returns its outputs.
  bool returns_outputs() const { return returns_outputs_; }

  struct BatchReply {
    Ending ending;
    // By the runner's clock: advisory. One per call; of FREE and REPLAY one in all.
    std::vector<uint64_t> inner_ns;
    // GPU, also the runner's word: of each call, the time that the host spent in it.
    std::vector<uint64_t> host_ns;
    bool queued = false;       // EVENTS: no call waited for the host
    std::string not_captured;  // CAPTURE: why not; empty: done
    // This process' clock around the message and its answer.
    absl::Duration audit;
    // Before that the runner's threads were woken, which have the inputs from then on, and may take
    // this process' core.
    absl::Duration head_start;
    // Part of `audit` in which this thread or the runner's main thread wanted a core and had none,
    // as far as it was not the runner's own threads that had them.
    absl::Duration waited;
    // Part of `waited` that no thread of the runner can have caused, whatever the runner says.
    absl::Duration waited_for_others;
  };
  // GPU: has the runner's own empty kernel run, and does not stop the runner afterwards: the device
  // and both processes are ready for a batch that follows at once. Returns how long that took,
  // without waits for a core (2 ms each where compilers keep them busy, since a program that spins
  // has no claim to a core at once); the candidate's threads have that time too.
  absl::Duration LeadIn(absl::Time deadline);
  BatchReply RunBatch(const std::vector<int>& set_order, absl::Time deadline);
  // `meanwhile`, which may be null, runs once the request is sent, before the answer is waited for.
  BatchReply RunBatch(const v1::BatchRequest& batch, absl::Time deadline,
                      const std::function<void()>& meanwhile = nullptr);
  // Within it: whether there is nothing more to wait for.
  bool Answered() const;

  // After a batch and a look at what it left: waits until every thread of the runner is stopped,
  // which a long system call may delay. CHEAT if one is not within kStopTimeout; RESOURCE_LIMIT if
  // the process holds more memory than its sandbox allows, where no control group sees to that.
  // Call it before another runner's turn.
  Ending AwaitStop();

  // Whether the runner told, before it loaded anything, that its tight filter is in force.
  bool tight_filter() const { return tight_filter_; }
  // And whether that is an allow-list.
  bool allow_list() const { return allow_list_; }

  // May be called from any thread: a caller that waits for the runner's reply gets its end instead.
  void Kill() { process_->Kill(); }
  // Asks the runner to end and waits until its sandbox has: a program around the runner may then
  // still write its report. Kills it at `deadline`, and answers false then. Nothing else but
  // EndAndReadOutput may follow.
  bool End(absl::Time deadline);
  // Kills the runner and returns what the candidate printed before the first Map, cleaned, at most
  // `max_bytes`.
  std::string EndAndReadOutput(int64_t max_bytes);

 private:
  RunnerLink(std::shared_ptr<ProgramSlot> folder, UniqueFd socket,
             std::unique_ptr<SandboxedProcess> process, int64_t counted_bytes, const Clock& clock)
      : folder_(std::move(folder)),
        socket_(std::move(socket)),
        process_(std::move(process)),
        counted_bytes_(counted_bytes),
        clock_(clock) {}

  // Sends, waits for the answer and judges it.
  Ending Exchange(v1::RunnerRequest* request, const std::vector<int>& fds, ExpectedReply expected,
                  absl::Time deadline, v1::RunnerReply* reply,
                  const std::function<void()>& meanwhile = nullptr);
  // Waits for one packet; an ending if there is none.
  Ending ReceivePacket(absl::Time deadline, std::string* packet);
  // Looks at the first packet, which stays there: its sender is the runner's main thread, by the
  // kernel's word.
  void LearnSender(absl::Time deadline);
  absl::Status ReceiveHello();
  absl::Status NotStarted(absl::string_view why);
  // What became of a runner that hung up.
  Ending DescribeDeath();
  // Processor time of the runner's threads but the main one, since they began.
  absl::Duration OtherThreadsTime() const;
  // By the kernel's word, reaped or not.
  bool RunnerEnded() const;
  // Whether it holds more than this many bytes of memory beside the buffers, where that is counted.
  bool HoldsMoreThan(int64_t bytes) const;
  Ending Fail(Ending ending);
  void Pause();
  // Before Resume: holds against it what it ran while it was stopped.
  void JudgeRest();
  void Resume();

  const std::shared_ptr<ProgramSlot> folder_;
  UniqueFd socket_;
  std::unique_ptr<SandboxedProcess> process_;
  const int64_t counted_bytes_;  // SandboxSpec.memory_bytes; 0: not counted here
  const Clock& clock_;
  const absl::Time launched_at_ = clock_.SteadyNow();
  const uint64_t nonce_ = NewNonce();
  static uint64_t NewNonce();
  const RunQueueDelay own_delay_ = RunQueueDelay::OfThisThread();
  std::optional<RunQueueDelay> runner_delay_;
  std::optional<ProcessThreads> runner_threads_;
  UniqueFd runner_pidfd_;
  bool cannot_watch_ = false;  // for want of a descriptor
  bool ready_ = false;
  bool paused_ = false;
  // The runner's processor time and turns once all its threads were seen stopped.
  struct WhenStopped {
    std::optional<absl::Duration> time;
    std::optional<int64_t> turns;
  };
  std::optional<WhenStopped> when_stopped_;
  int64_t buffer_bytes_ = 0;  // mapped by the last Map
  int64_t own_bytes_ = 0;     // what the runner took with nothing loaded
  bool keeps_output_ = true;
  bool returns_outputs_ = false;
  bool spin_ = false;
  bool leading_in_ = false;
  uint32_t step_ = 0;
  bool loading_ = false;
  bool tight_filter_ = false;
  bool allow_list_ = false;
  std::optional<Ending> failure_;
  std::optional<SandboxExit> exit_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_LINK_H_
