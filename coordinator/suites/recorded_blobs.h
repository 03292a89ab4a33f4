#ifndef KSEARCH_COORDINATOR_SUITES_RECORDED_BLOBS_H_
#define KSEARCH_COORDINATOR_SUITES_RECORDED_BLOBS_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/blob_folder.h"
#include "common/mutex.h"

namespace ksearch {

// A byte range of a suite's file: the values of one recorded tensor.
struct FileRange {
  std::string path;
  int64_t begin = 0;
  int64_t bytes = 0;
};

// Names recorded tensors that are too large to be sent with their tasks, and stores them for
// workers. Thread-safe.
class RecordedBlobs {
 public:
  // `folder` must outlive this object.
  explicit RecordedBlobs(const BlobFolder* folder) : folder_(*folder) {}

  // Returns the SHA-256 of the range. The range is read again only if the file has changed.
  absl::StatusOr<std::string> NameOf(const FileRange& range);
  // Copies the range to the folder that workers fetch from, unless it is already there.
  // FAILED_PRECONDITION: the file has changed since NameOf returned this name.
  absl::Status Keep(const std::string& sha256, const FileRange& range);

 private:
  // Path, size, modification time in nanoseconds, begin and bytes.
  using Key = std::tuple<std::string, int64_t, int64_t, int64_t, int64_t>;

  const BlobFolder& folder_;
  Mutex mu_;
  std::map<Key, std::string> names_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_RECORDED_BLOBS_H_
