#ifndef KSEARCH_GPU_WORKER_VERIFIER_WARM_FOLDER_WATCH_H_
#define KSEARCH_GPU_WORKER_VERIFIER_WARM_FOLDER_WATCH_H_

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "common/mutex.h"

namespace ksearch {

// Stops another process that fills a folder on this machine's disk. While this object exists, a
// thread measures the folder ten times a second, so the limits can be exceeded by what is written
// within a tenth of a second plus the time of a measurement. Links are not followed.
class FolderWatch {
 public:
  struct Limits {
    int64_t bytes = 0;  // space on disk, without holes
    int64_t entries = 0;
  };

  // Calls `stop` once, from the thread, when the folder exceeds one of the limits.
  FolderWatch(std::string folder, const Limits& limits, std::function<void()> stop);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // Measures once more and returns whether a limit was ever exceeded. Call it once; it ends the
  // watch.
  bool Finish();

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
