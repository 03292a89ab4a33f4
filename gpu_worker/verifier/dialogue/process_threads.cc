#include "gpu_worker/verifier/dialogue/process_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

// Returns "" if the thread is gone.
std::string ReadAt(int folder, const std::string& path) {
  const UniqueFd file(::openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[1024];
  const ssize_t n = file.ok() ? ::read(file.get(), text, sizeof text) : 0;
  return std::string(text, n > 0 ? static_cast<size_t>(n) : 0);
}

}  // namespace

ProcessThreads::ProcessThreads(pid_t pid)
    : pid_(pid),
      folder_(::open(absl::StrCat("/proc/", pid).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  clockid_t clock;
  if (::clock_getcpuclockid(pid, &clock) == 0) processor_clock_ = clock;
}

bool ProcessThreads::AllStopped() const {
  // A thread created while the list was read appears in the next one.
  int before = -1;
  while (true) {
    const int list = ::openat(folder_.get(), "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> tasks(list < 0 ? nullptr : ::fdopendir(list),
                                                    &::closedir);
    if (tasks == nullptr) return true;
    int threads = 0;
    while (const dirent* entry = ::readdir(tasks.get())) {
      if (entry->d_name[0] == '.') continue;
      ++threads;
      const auto stat =
          ParseThreadStat(ReadAt(folder_.get(), absl::StrCat("task/", entry->d_name, "/stat")));
      if (!stat.has_value()) continue;
      if (!stat->stopped_or_ended()) return false;
    }
    if (threads == before) return true;
    before = threads;
  }
}

bool ProcessThreads::Exiting() const {
  const auto stat = ParseThreadStat(ReadAt(folder_.get(), absl::StrCat("task/", pid_, "/stat")));
  return !stat.has_value() || stat->exiting();
}

std::optional<absl::Duration> ProcessThreads::ProcessorTime() const {
  struct timespec time;
  if (!processor_clock_.has_value() || ::clock_gettime(*processor_clock_, &time) != 0) {
    return std::nullopt;
  }
  return absl::DurationFromTimespec(time);
}

std::optional<int64_t> ProcessThreads::Turns() const {
  const int list = ::openat(folder_.get(), "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(list < 0 ? nullptr : ::fdopendir(list),
                                                  &::closedir);
  if (tasks == nullptr) return std::nullopt;
  int64_t all = 0;
  while (const dirent* entry = ::readdir(tasks.get())) {
    if (entry->d_name[0] == '.') continue;
    const std::string text =
        ReadAt(folder_.get(), absl::StrCat("task/", entry->d_name, "/schedstat"));
    int64_t running = 0, waiting = 0, turns = 0;
    if (std::sscanf(text.c_str(), "%" SCNd64 " %" SCNd64 " %" SCNd64, &running, &waiting, &turns) !=
        3) {
      return std::nullopt;
    }
    all += turns;
  }
  return all;
}

int64_t ProcessThreads::ResidentBytes() const {
  int64_t size = 0, resident = 0;
  const std::string text = ReadAt(folder_.get(), "statm");
  if (std::sscanf(text.c_str(), "%" SCNd64 " %" SCNd64, &size, &resident) != 2) return 0;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace ksearch
