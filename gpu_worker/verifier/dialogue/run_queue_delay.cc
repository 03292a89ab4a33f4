#include "gpu_worker/verifier/dialogue/run_queue_delay.h"

#include <fcntl.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"

namespace ksearch {

RunQueueDelay RunQueueDelay::OfThisThread() {
  return RunQueueDelay(UniqueFd(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)));
}

RunQueueDelay RunQueueDelay::OfProcess(pid_t pid) {
  const std::string path = absl::StrCat("/proc/", pid, "/schedstat");
  return RunQueueDelay(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
}

RunQueueDelay::Times RunQueueDelay::Read() const {
  char text[128];
  const ssize_t n = fd_.ok() ? ::pread(fd_.get(), text, sizeof text - 1, 0) : 0;
  if (n <= 0) return {};
  text[n] = '\0';
  uint64_t running = 0, waiting = 0;
  if (std::sscanf(text, "%" SCNu64 " %" SCNu64, &running, &waiting) != 2) {
    return {};
  }
  return {absl::Nanoseconds(static_cast<int64_t>(running)),
          absl::Nanoseconds(static_cast<int64_t>(waiting))};
}

}  // namespace ksearch
