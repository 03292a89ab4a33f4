#ifndef KSEARCH_GPU_WORKER_VERIFIER_WARM_FOLDER_WATCH_H_
#define KSEARCH_GPU_WORKER_VERIFIER_WARM_FOLDER_WATCH_H_

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "common/mutex.h"

namespace ksearch {

// Stops a foreign process that fills a folder of this machine's disk. While it lives, a
// thread looks ten times a second how much the files of the folder take, so what is written in a
// tenth of a second, and in the time that the look takes, comes on top. Links are not followed.
class FolderWatch {
 public:
  struct Limits {
    int64_t bytes = 0;  // on the disk: holes do not count
    int64_t entries = 0;
  };

  // Calls `stop` once, from the thread, when the folder has more than one of the limits.
  FolderWatch(std::string folder, const Limits& limits, std::function<void()> stop);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // Looks once more, and says whether there ever was too much. Once; afterwards nobody watches.
  bool EndAndTell();

 private:
  bool IsTooMuch() const;
  void Loop();

  const std::string folder_;
  const Limits limits_;
  const std::function<void()> stop_;

  Mutex mutex_;
  CondVar changed_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool too_much_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_WARM_FOLDER_WATCH_H_
