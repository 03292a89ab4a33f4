#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROCESS_THREADS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROCESS_THREADS_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "common/thread_stat.h"
#include "common/unique_fd.h"

namespace ksearch {

// The threads of one process as the kernel reports them: whether all of them are stopped, and how
// much processor time they used. Holds the process's folder in /proc open, so that another process
// with the same id is not mistaken for it. Thread-compatible.
class ProcessThreads {
 public:
  explicit ProcessThreads(pid_t pid);

  // Returns true if every thread is stopped or has ended. True for a process that has ended.
  bool AllStopped() const;
  // Returns true if its main thread is exiting or has ended.
  bool Exiting() const;
  // The sum over all threads, including those that have ended; absent if the kernel does not report
  // it. For a running thread, the kernel counts only up to the last tick.
  std::optional<absl::Duration> ProcessorTime() const;
  // How often its threads were scheduled onto a processor, not counting threads that have ended;
  // absent if the kernel does not report it.
  std::optional<int64_t> Turns() const;
  // Resident memory of its mappings, including shared ones; 0 if the kernel does not report it.
  int64_t ResidentBytes() const;

 private:
  const pid_t pid_;
  const UniqueFd folder_;  // /proc/PID
  std::optional<clockid_t> processor_clock_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROCESS_THREADS_H_
