#include "common/folder_digest.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 100'000;
constexpr char kKindOfName[] = "folder 1";

}  // namespace

absl::StatusOr<std::string> FolderSha256(const std::string& folder, int64_t max_bytes) {
  std::set<std::string> paths;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const fs::file_type type = at->symlink_status(error).type();
    if (error || type == fs::file_type::directory) continue;
    if (type != fs::file_type::regular) {
      return absl::FailedPreconditionError(
          absl::StrCat(at->path().string(), " is neither a file nor a folder"));
    }
    paths.insert(at->path().lexically_relative(folder).string());
    if (paths.size() > kMaxFiles) {
      return absl::FailedPreconditionError(
          absl::StrCat(folder, " has more than ", kMaxFiles, " files"));
    }
  }
  if (error) {
    return absl::UnavailableError(absl::StrCat("read folder ", folder, ": ", error.message()));
  }
  CanonicalBytes bytes;
  bytes.Add(kKindOfName);
  int64_t left = max_bytes;
  for (const std::string& path : paths) {
    const auto size = static_cast<int64_t>(fs::file_size(fs::path(folder) / path, error));
    if (error || size > left) {
      return absl::FailedPreconditionError(
          absl::StrCat(folder, " has more than ", max_bytes, " bytes"));
    }
    left -= size;
    ASSIGN_OR_RETURN(const std::string contents, ReadFile(absl::StrCat(folder, "/", path), size));
    bytes.Add(path).Add(Sha256Hex(contents));
  }
  return bytes.Sha256();
}

}  // namespace ksearch
