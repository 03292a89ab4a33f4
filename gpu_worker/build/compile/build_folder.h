#ifndef KSEARCH_GPU_WORKER_BUILD_COMPILE_BUILD_FOLDER_H_
#define KSEARCH_GPU_WORKER_BUILD_COMPILE_BUILD_FOLDER_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// Modification time of every source, in seconds since 1970: a program that is being compiled sees
// no other time in __DATE__, __TIME__ or __TIMESTAMP__.
inline constexpr int64_t kSourceTime = 1'000'000'000;

// The folder of one build: "src", which a compiler sees read-only, and "out", which it writes to.
// Removed on destruction.
class BuildFolder {
 public:
  explicit BuildFolder(std::string path) : path_(std::move(path)) {}
  ~BuildFolder();
  BuildFolder(const BuildFolder&) = delete;
  BuildFolder& operator=(const BuildFolder&) = delete;

  // Writes src/<path>, creating its folders. REQUIRES: `path` has passed CheckSources.
  absl::Status WriteSource(absl::string_view path, absl::string_view content) const;

  const std::string& path() const { return path_; }
  std::string src() const { return path_ + "/src"; }
  std::string out() const { return path_ + "/out"; }

 private:
  const std::string path_;
};

// The folder below `work_dir` in which one toolchain of this process builds; removed at the end.
// Thread-safe.
class BuildFolders {
 public:
  // Removes the remains of dead processes in `work_dir`, which is created if missing. UNAVAILABLE
  // if it is not writable.
  static absl::StatusOr<std::unique_ptr<BuildFolders>> Create(const std::string& work_dir);
  ~BuildFolders();

  // Creates a folder for a new build and writes these sources into it.
  absl::StatusOr<std::shared_ptr<const BuildFolder>> Make(const v1::Sources& sources);

 private:
  explicit BuildFolders(std::string path) : path_(std::move(path)) {}

  const std::string path_;
  std::atomic<int64_t> next_build_{0};
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_COMPILE_BUILD_FOLDER_H_
