#ifndef KSEARCH_COMMON_BLOB_FOLDER_H_
#define KSEARCH_COMMON_BLOB_FOLDER_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// Stores blobs as the files of a folder. Each is named by the SHA-256 (hex) of its bytes, so an
// existing file is complete and never changes. While a blob is being written, its partial file has
// another name. If the process is killed, a later one continues the partial file. Thread-safe; only
// one process may use a folder.
class BlobFolder {
 public:
  // Creates the folder if it does not exist.
  static absl::StatusOr<std::unique_ptr<BlobFolder>> Open(const std::string& path);

  bool Has(const std::string& sha256) const;
  // Returns the path of a blob and marks it as used now. NOT_FOUND: no such blob.
  // INVALID_ARGUMENT: `sha256` is not a SHA-256 in hex.
  absl::StatusOr<std::string> Use(const std::string& sha256) const;
  // Has no effect if the blob exists. INVALID_ARGUMENT: `bytes` have another SHA-256.
  absl::Status Put(const std::string& sha256, absl::string_view bytes) const;

  // For a blob that arrives in pieces, with one writer per blob. Begun returns how many bytes have
  // been written, Append adds the next ones, and Finish completes the blob. DATA_LOSS: the bytes
  // have another SHA-256 and were removed.
  absl::StatusOr<int64_t> Begun(const std::string& sha256) const;
  absl::Status Append(const std::string& sha256, absl::string_view bytes) const;
  absl::Status Finish(const std::string& sha256) const;

  // Removes blobs, the least recently used first, until at most `most_bytes` are left, but none of
  // `kept`. Also removes partial files that have not been continued for a day.
  absl::Status Collect(int64_t most_bytes, const std::set<std::string>& kept) const;

 private:
  explicit BlobFolder(std::string path) : path_(std::move(path)) {}
  std::string PathOf(const std::string& sha256) const;
  std::string PartOf(const std::string& sha256) const;

  const std::string path_;
};

}  // namespace ksearch

#endif  // KSEARCH_COMMON_BLOB_FOLDER_H_
