#ifndef KSEARCH_COMMON_FOLDER_DIGEST_H_
#define KSEARCH_COMMON_FOLDER_DIGEST_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace ksearch {

// Hex SHA-256 over the relative paths and contents of all files below a folder, in the order of
// their paths; empty folders, times and permissions do not count. FAILED_PRECONDITION if anything
// in it is neither a file nor a folder (links would lead out of it), or if it is more than
// `max_bytes` or 100,000 files.
absl::StatusOr<std::string> FolderSha256(const std::string& folder, int64_t max_bytes);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_FOLDER_DIGEST_H_
