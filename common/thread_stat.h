#ifndef KSEARCH_COMMON_THREAD_STAT_H_
#define KSEARCH_COMMON_THREAD_STAT_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace ksearch {

// A thread as /proc/PID/task/TID/stat shows it, or a process's main thread as /proc/PID/stat does.
struct ThreadStat {
  char state = '?';  // R running, S asleep, D in the kernel, T stopped, t traced, Z or X ended
  pid_t parent = 0;  // of its process
  uint32_t kernel_flags = 0;  // PF_... of the kernel's include/linux/sched.h
  bool exiting() const;       // it, or its whole process, is exiting or has ended
  // False while it is exiting: an exiting thread walks a list of locks that the program chose,
  // which takes processor time and memory, and no signal stops it.
  bool ended() const;
  bool stopped_or_ended() const;
};

// Absent if the text has another form. The program chooses the thread's name, which may contain
// anything.
std::optional<ThreadStat> ParseThreadStat(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_THREAD_STAT_H_
