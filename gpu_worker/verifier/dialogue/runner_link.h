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

#include "absl/container/flat_hash_map.h"
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

// The verifier's end of the dialogue with one runner, which must be considered hostile from Load
// on. The first ending other than PASSED is final: later calls return it again. No answer by a
// deadline is TIMEOUT; the runner's death is RUNTIME_ERROR (LOAD_ERROR while loading;
// RESOURCE_LIMIT if the sandbox reports that); anything forged is CHEAT. While a call waits, this
// process sleeps in poll(), so that it takes no core from the candidate (but see WaitAwake).
// Between calls, once a program is loaded, the runner is stopped (SIGSTOP), so that none of its
// threads can finish late work or slow a rival. AwaitStop verifies the stop; processor time that
// the runner used while stopped is judged when it continues. Thread-compatible. Deadlines are on
// the Clock::SteadyNow() scale.
class RunnerLink {
 public:
  // Starts a runner and does not wait, so several can start at the same time. `spec` needs argv and
  // limits; the control socket is added. `folder`, which may be null, is kept until the runner has
  // ended. Non-OK is an error of this machine.
  static absl::StatusOr<std::unique_ptr<RunnerLink>> Launch(
      Sandbox& sandbox, SandboxSpec spec, const Clock& clock,
      std::shared_ptr<ProgramSlot> folder = nullptr);
  // Waits for its HELLO. After that, returns at once.
  absl::Status AwaitHello();
  // For a runner that is started with --in-advance: waits for its READY. After that, returns
  // whether it is still alive.
  absl::Status AwaitReady();
  // After its READY: lets it continue, and waits for its HELLO.
  absl::Status Begin();
  // Returns true if it has closed the connection. A runner that was launched but not begun has then
  // ended.
  bool HungUp() const;
  // The folder of Launch; also the warm stage's, which outlives the runner.
  const std::shared_ptr<ProgramSlot>& folder() const { return folder_; }
  ~RunnerLink();
  RunnerLink(const RunnerLink&) = delete;
  RunnerLink& operator=(const RunnerLink&) = delete;

  // From now on, spins for up to 50 ms for each answer. For programs that do not need every core.
  void WaitAwake() { spin_ = true; }

  // `entry`: the entry point of a program that is a folder; empty: its runner's usual one.
  Ending Load(const ProgramImage& program, absl::Time deadline, absl::string_view entry = "");
  // From the first Map on, the candidate's output is discarded, because it may reveal inputs.
  Ending Map(const std::vector<MapPacket>& packets, absl::Time deadline);
  // Returns true if the program returns its outputs, as the runner reported at the last Map.
  bool returns_outputs() const { return returns_outputs_; }

  struct BatchReply {
    Ending ending;
    // By the runner's clock, so advisory only. One per call; for FREE and REPLAY a single one.
    std::vector<uint64_t> inner_ns;
    // GPU: the time that the host spent in each call, also as reported by the runner.
    std::vector<uint64_t> host_ns;
    bool queued = false;       // EVENTS: no call waited for the host
    std::string not_captured;  // CAPTURE: why not; empty: done
    // This process' clock around the message and its answer.
    absl::Duration audit;
    // The time before `audit` in which the runner's threads were woken, which then have the inputs.
    absl::Duration head_start;
    // The part of `audit` in which this thread or the runner's main thread was waiting for a core,
    // unless the runner's own threads occupied the cores.
    absl::Duration waited;
    // The part of `waited` that no thread of the runner can have caused, whatever the runner
    // reports.
    absl::Duration waited_for_others;
    // The processor time of the runner's threads other than its main thread.
    absl::Duration other_threads;
  };
  // Makes the runner wake up (GPU: and run its own empty kernel), and does not stop it afterwards,
  // so that the device and both processes are ready for a batch that follows immediately. Returns
  // how long that took, without waits for a core (2 ms each while compilers keep the cores busy,
  // because the scheduler does not favor a spinning program). The candidate's threads have that
  // time too.
  absl::Duration LeadIn(absl::Time deadline);
  BatchReply RunBatch(const std::vector<int>& set_order, absl::Time deadline);
  // `meanwhile`, which may be null, runs after the request was sent and before this waits for the
  // answer.
  BatchReply RunBatch(const v1::BatchRequest& batch, absl::Time deadline,
                      const std::function<void()>& meanwhile = nullptr);
  // Returns true if the runner reported, since the last Map, that its chain of this number consists
  // of the recorded calls of these buffer sets, in this order. A batch in mode REPLAY needs it.
  bool HasChain(int number, const std::vector<int>& sets) const;
  // Its main thread; absent before it has said HELLO.
  std::optional<pid_t> runner_pid() const { return runner_pid_; }
  // For use within `meanwhile`: whether the answer has already arrived.
  bool Answered() const;

  // To be called after a batch and its output check, before another runner's turn: waits until
  // every thread of the runner is stopped, which a long system call may delay. CHEAT if a thread is
  // not stopped within kStopTimeout; RESOURCE_LIMIT if the process holds more memory than its
  // sandbox allows and no control group enforces that.
  Ending AwaitStop();

  // Returns true if the runner reported, before it loaded anything, that its tight filter is in
  // force.
  bool tight_filter() const { return tight_filter_; }
  // Returns true if that filter is an allow-list.
  bool allow_list() const { return allow_list_; }

  // May be called from any thread. A caller that is waiting for the runner's reply then sees the
  // runner end.
  void Kill() { process_->Kill(); }
  // Asks the runner to end and waits until its sandbox has ended, so that an instrument around the
  // runner can still write its report. At `deadline`, kills it and returns false. Only
  // EndAndReadOutput may be called afterwards.
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

  // Sends a request, waits for the answer and judges it.
  Ending Exchange(v1::RunnerRequest* request, const std::vector<int>& fds, ExpectedReply expected,
                  absl::Time deadline, v1::RunnerReply* reply,
                  const std::function<void()>& meanwhile = nullptr);
  // Waits for one packet; an ending if there is none.
  Ending ReceivePacket(absl::Time deadline, std::string* packet);
  // Peeks at the first packet: the kernel reports its sender, which is the runner's main thread.
  void LearnSender(absl::Time deadline);
  absl::Status NotStarted(absl::string_view why);
  // How a runner that closed the connection ended.
  Ending DescribeDeath();
  // Total processor time of the runner's threads other than the main one.
  absl::Duration OtherThreadsTime() const;
  // Returns true if the kernel reports that the runner has ended, reaped or not.
  bool RunnerEnded() const;
  // Returns true if it holds more than this many bytes of memory besides the buffers, if that is
  // counted.
  bool HoldsMoreThan(int64_t bytes) const;
  Ending Fail(Ending ending);
  void Pause();
  // To be called before Resume: judges what the runner ran while it was stopped.
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
  std::optional<pid_t> runner_pid_;
  UniqueFd runner_pidfd_;
  bool cannot_watch_ = false;  // no descriptor was available
  bool ready_ = false;
  bool greeted_ = false;
  bool paused_ = false;
  // The runner's processor time and turns once all its threads were seen stopped.
  struct WhenStopped {
    std::optional<absl::Duration> time;
    std::optional<int64_t> turns;
  };
  std::optional<WhenStopped> when_stopped_;
  int64_t buffer_bytes_ = 0;  // mapped by the last Map
  int64_t own_bytes_ = 0;     // the runner's memory before anything was loaded
  bool keeps_output_ = true;
  bool returns_outputs_ = false;
  absl::flat_hash_map<int, std::vector<int>> chains_;  // by number: the sets in their order
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
