#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROCESS_THREADS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROCESS_THREADS_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/unique_fd.h"

namespace ksearch {

// A thread as /proc/PID/task/TID/stat shows it.
struct ThreadStat {
  char state = '?';  // R running, S asleep, D in the kernel, T stopped, t traced, Z or X ended
  uint32_t kernel_flags = 0;  // PF_... of the kernel's include/linux/sched.h
  bool exiting() const;       // it, or its whole process, is exiting or has ended
  // False while it is exiting: an exiting thread walks a list of locks that the program chose,
  // which takes processor time and memory, and no signal stops it.
  bool ended() const;
};

// Absent if the text has another form. The program chooses the thread's name, which may contain
// anything.
std::optional<ThreadStat> ParseThreadStat(absl::string_view text);

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
