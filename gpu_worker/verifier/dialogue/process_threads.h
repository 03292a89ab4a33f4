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
  bool exiting() const;       // it, or its whole process, is on its way out, or has ended
  // Not one on its way out: it walks a list of locks that the program chose, which takes time and
  // memory that others are to have, and no signal stops it.
  bool ended() const;
};

// Absent if this is no such text. The thread's name, which the program chose, may hold anything.
std::optional<ThreadStat> ParseThreadStat(absl::string_view text);

// The threads of one process, by the kernel's word: whether all of them are stopped, and what they
// took of the processors. Holds the process' folder in /proc, so that another process that gets the
// same number is not taken for it. Thread-compatible.
class ProcessThreads {
 public:
  explicit ProcessThreads(pid_t pid);

  // Whether every thread is stopped or has ended. True for a process that has ended.
  bool AllStopped() const;
  // Whether its main thread is on its way out, or gone.
  bool Exiting() const;
  // Sum over all threads, those that ended included; absent if the kernel does not tell. A thread
  // that is on a processor the kernel counts only what it did until the last tick.
  std::optional<absl::Duration> ProcessorTime() const;
  // How often its threads were put on a processor, threads that are gone not included; absent if
  // the kernel does not tell.
  std::optional<int64_t> Turns() const;
  // Memory that is in use by its mappings, shared ones included; 0 if the kernel does not tell.
  int64_t ResidentBytes() const;

 private:
  const pid_t pid_;
  const UniqueFd folder_;  // /proc/PID
  std::optional<clockid_t> processor_clock_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_PROCESS_THREADS_H_
