#include "gpu_worker/verifier/warm/folder_watch.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/time/time.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kBetweenLooks = absl::Milliseconds(100);
constexpr int64_t kStatBlockBytes = 512;  // stat(2)

}  // namespace

FolderWatch::FolderWatch(std::string folder, const Limits& limits, std::function<void()> stop)
    : folder_(std::move(folder)), limits_(limits), stop_(std::move(stop)) {
  thread_ = std::thread([this] { Loop(); });
}

FolderWatch::~FolderWatch() {
  if (thread_.joinable()) Finish();
}

bool FolderWatch::Finish() {
  {
    MutexLock lock(&mutex_);
    ending_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
  const bool now = IsTooMuch();
  MutexLock lock(&mutex_);
  return too_much_ || now;
}

bool FolderWatch::IsTooMuch() const {
  int64_t bytes = 0, entries = 0;
  std::error_code error;
  fs::recursive_directory_iterator at(folder_, error);
  // A file that vanishes meanwhile ends this scan; the next one sees the rest.
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    struct stat facts;
    if (::lstat(at->path().c_str(), &facts) == 0) bytes += facts.st_blocks * kStatBlockBytes;
    if (++entries > limits_.entries || bytes > limits_.bytes) return true;
  }
  return false;
}

void FolderWatch::Loop() {
  while (true) {
    {
      MutexLock lock(&mutex_);
      if (!ending_) changed_.WaitFor(&mutex_, kBetweenLooks);
      if (ending_) return;
    }
    if (!IsTooMuch()) continue;
    {
      MutexLock lock(&mutex_);
      too_much_ = true;
    }
    stop_();
    return;
  }
}

}  // namespace ksearch
