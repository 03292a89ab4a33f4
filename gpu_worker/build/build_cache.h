#ifndef KSEARCH_GPU_WORKER_BUILD_BUILD_CACHE_H_
#define KSEARCH_GPU_WORKER_BUILD_BUILD_CACHE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "gpu_worker/build/builder.h"

namespace ksearch {

// Caches on disk what a builder made of the same sources, header, limits and toolchain: successes
// and failures, but not timeouts, which a busy machine may have caused. Equal requests at the same
// time are built once. Several processes may share a folder: entries appear by rename. An entry
// with a damaged artifact counts as absent.
//
// When entries together exceed `max_bytes`, the least recently used ones are removed, but never one
// that a living BuildResult holds. Thread-safe.
class BuildCache : public Builder {
 public:
  // Creates `folder` if it is missing.
  static absl::StatusOr<std::unique_ptr<BuildCache>> Create(std::unique_ptr<Builder> builder,
                                                            const std::string& folder,
                                                            int64_t max_bytes);

  absl::StatusOr<BuildResult> Build(const BuildRequest& request, std::stop_token stop) override;
  // Not cached, because the coordinator asks only once.
  absl::StatusOr<ProgramDescription> Describe(const BuildRequest& request,
                                              std::stop_token stop) override {
    return builder_->Describe(request, stop);
  }
  std::string fingerprint() const override { return builder_->fingerprint(); }
  std::string toolkit() const override { return builder_->toolkit(); }
  std::vector<std::string> architectures() const override { return builder_->architectures(); }
  absl::Status ServesDevice(v1::DeviceClass device) const override {
    return builder_->ServesDevice(device);
  }

 private:
  struct Building {
    bool done = false;
    absl::StatusOr<BuildResult> result = absl::UnknownError("not built");
  };
  struct Entry {
    int64_t bytes = 0;
    int64_t last_use = 0;  // increases with every use
    std::weak_ptr<const void> hold;
  };

  BuildCache(std::unique_ptr<Builder> builder, std::string folder, int64_t max_bytes)
      : builder_(std::move(builder)), folder_(std::move(folder)), max_bytes_(max_bytes) {}

  std::string Key(const BuildRequest& request) const;
  std::string EntryFolder(const std::string& key) const { return folder_ + "/" + key; }
  void ScanFolder();
  // The stored result, pinned and marked as used.
  std::optional<BuildResult> Find(const std::string& key);
  // Stores the result if it can be stored; a full disk loses the cache entry, not the build.
  BuildResult Store(const std::string& key, BuildResult result);
  absl::StatusOr<BuildResult> BuildOnce(const std::string& key, const BuildRequest& request,
                                        std::stop_token stop);
  std::shared_ptr<const void> Pin(const std::string& key, int64_t bytes);
  void DropOldEntries();

  const std::unique_ptr<Builder> builder_;
  const std::string folder_;
  const int64_t max_bytes_;
  Mutex mu_;
  CondVar changed_;
  absl::flat_hash_map<std::string, std::shared_ptr<Building>> building_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mu_);
  int64_t uses_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_BUILD_CACHE_H_
