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

// Blobs as files of a folder, each named by the SHA-256 (hex) of its bytes, so that a file that is
// there is whole and never changes. What is being written lies beside them under another name. A
// process that is killed leaves at most such a partial file behind, and a later one continues it.
// Thread-safe; one folder is for one process.
class BlobFolder {
 public:
  // Makes the folder if it is not there.
  static absl::StatusOr<std::unique_ptr<BlobFolder>> Open(const std::string& path);

  bool Has(const std::string& sha256) const;
  // Returns the path of a blob, which counts as used now. NOT_FOUND; INVALID_ARGUMENT: not a name.
  absl::StatusOr<std::string> Use(const std::string& sha256) const;
  // No effect if it is there. INVALID_ARGUMENT: `bytes` are not what the name says.
  absl::Status Put(const std::string& sha256, absl::string_view bytes) const;

  // For a blob that comes in pieces: how many bytes there are; the next ones; and that these were
  // all. DATA_LOSS: they are not what the name says, and were dropped. One writer a blob.
  absl::StatusOr<int64_t> Begun(const std::string& sha256) const;
  absl::Status Append(const std::string& sha256, absl::string_view bytes) const;
  absl::Status Finish(const std::string& sha256) const;

  // Removes blobs, those that were not used for longest first, until at most `most_bytes` are left;
  // none of `kept`. Partial files that nobody continued for a day are removed, too.
  absl::Status Collect(int64_t most_bytes, const std::set<std::string>& kept) const;

 private:
  explicit BlobFolder(std::string path) : path_(std::move(path)) {}
  std::string PathOf(const std::string& sha256) const;
  std::string PartOf(const std::string& sha256) const;

  const std::string path_;
};

}  // namespace ksearch

#endif  // KSEARCH_COMMON_BLOB_FOLDER_H_
