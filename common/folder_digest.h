#ifndef KSEARCH_COMMON_FOLDER_DIGEST_H_
#define KSEARCH_COMMON_FOLDER_DIGEST_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace ksearch {

// Hex SHA-256 over the relative paths and contents of all files below a folder, in the order of
// their paths; empty folders, times and permissions are ignored. FAILED_PRECONDITION if the folder
// contains anything but files and folders (links would lead out of it), more than `max_bytes`, or
// more than 100,000 files.
absl::StatusOr<std::string> FolderSha256(const std::string& folder, int64_t max_bytes);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_FOLDER_DIGEST_H_
