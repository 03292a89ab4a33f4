#include "common/blob_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/mapped_file.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/unique_fd.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

constexpr char kPartEnding[] = ".part";
constexpr auto kPartLife = std::chrono::hours(24);

absl::Status CheckName(const std::string& sha256) {
  if (IsSha256Hex(sha256)) return absl::OkStatus();
  return absl::InvalidArgumentError("a blob's name must be 64 lower-case hex digits");
}

absl::Status SyncFolder(const std::string& path) {
  const UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.ok() || ::fsync(folder.get()) != 0) {
    return ErrnoStatus(errno, absl::StrCat("sync ", path));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<BlobFolder>> BlobFolder::Open(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, absl::StrCat("create ", path));
  }
  return std::unique_ptr<BlobFolder>(new BlobFolder(path));
}

std::string BlobFolder::PathOf(const std::string& sha256) const {
  return absl::StrCat(path_, "/", sha256);
}

std::string BlobFolder::PartOf(const std::string& sha256) const {
  return absl::StrCat(PathOf(sha256), kPartEnding);
}

bool BlobFolder::Has(const std::string& sha256) const {
  struct stat facts;
  return IsSha256Hex(sha256) && ::stat(PathOf(sha256).c_str(), &facts) == 0;
}

absl::StatusOr<std::string> BlobFolder::Use(const std::string& sha256) const {
  RETURN_IF_ERROR(CheckName(sha256));
  const std::string path = PathOf(sha256);
  // The modification time records the last use.
  if (::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) != 0) {
    return ErrnoStatus(errno, absl::StrCat("use blob ", sha256));
  }
  return path;
}

absl::Status BlobFolder::Put(const std::string& sha256, absl::string_view bytes) const {
  RETURN_IF_ERROR(CheckName(sha256));
  if (Use(sha256).ok()) return absl::OkStatus();
  if (Sha256Hex(bytes) != sha256) {
    return absl::InvalidArgumentError(absl::StrCat("the bytes are not those of blob ", sha256));
  }
  return WriteFileAtomically(PathOf(sha256), bytes, 0644);
}

absl::StatusOr<int64_t> BlobFolder::Begun(const std::string& sha256) const {
  RETURN_IF_ERROR(CheckName(sha256));
  struct stat facts;
  if (::stat(PartOf(sha256).c_str(), &facts) == 0) return int64_t{facts.st_size};
  if (errno == ENOENT) return int64_t{0};
  return ErrnoStatus(errno, absl::StrCat("look at the beginning of blob ", sha256));
}

absl::Status BlobFolder::Append(const std::string& sha256, absl::string_view bytes) const {
  RETURN_IF_ERROR(CheckName(sha256));
  const std::string path = PartOf(sha256);
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file.ok()) return ErrnoStatus(errno, absl::StrCat("open ", path));
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus(errno, absl::StrCat("write ", path));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status BlobFolder::Finish(const std::string& sha256) const {
  RETURN_IF_ERROR(CheckName(sha256));
  const std::string part = PartOf(sha256);
  {
    ASSIGN_OR_RETURN(const auto mapped, MappedFile::Open(part));
    if (Sha256Hex(mapped->bytes()) != sha256) {
      ::unlink(part.c_str());
      return absl::DataLossError(
          absl::StrCat(mapped->bytes().size(), " bytes came that are not those of blob ", sha256));
    }
  }
  const UniqueFd file(::open(part.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok() || ::fsync(file.get()) != 0) {
    return ErrnoStatus(errno, absl::StrCat("sync ", part));
  }
  if (::rename(part.c_str(), PathOf(sha256).c_str()) != 0) {
    return ErrnoStatus(errno, absl::StrCat("rename ", part));
  }
  return SyncFolder(path_);
}

absl::Status BlobFolder::Collect(int64_t most_bytes, const std::set<std::string>& kept) const {
  struct Blob {
    fs::file_time_type used;
    int64_t bytes = 0;
    fs::path path;
  };
  std::vector<Blob> blobs;
  int64_t total = 0;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error)) {
    // Ignores files that vanish meanwhile.
    std::error_code gone;
    const fs::file_time_type used = entry->last_write_time(gone);
    const std::string name = entry->path().filename().string();
    if (gone) continue;
    if (!IsSha256Hex(name)) {
      if (absl::EndsWith(name, kPartEnding) && now - used > kPartLife) {
        fs::remove(entry->path(), gone);
      }
      continue;
    }
    const auto bytes = static_cast<int64_t>(entry->file_size(gone));
    if (gone) continue;
    total += bytes;
    if (kept.count(name) == 0) blobs.push_back({used, bytes, entry->path()});
  }
  if (error) {
    return absl::InternalError(absl::StrCat("look through ", path_, ": ", error.message()));
  }
  std::sort(blobs.begin(), blobs.end(),
            [](const Blob& a, const Blob& b) { return a.used < b.used; });
  for (const Blob& blob : blobs) {
    if (total <= most_bytes) break;
    if (!fs::remove(blob.path, error) && error) {
      return absl::InternalError(
          absl::StrCat("remove ", blob.path.string(), ": ", error.message()));
    }
    total -= blob.bytes;
  }
  return absl::OkStatus();
}

}  // namespace ksearch
