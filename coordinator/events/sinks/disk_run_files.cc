#include "coordinator/events/sinks/disk_run_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch::sinks {
namespace {

// Number of bytes at the start of `bytes` that the file already has at `position`.
absl::StatusOr<size_t> CountEqual(int fd, int64_t position, absl::string_view bytes) {
  char buffer[65536];
  size_t equal = 0;
  while (equal < bytes.size()) {
    const size_t wanted = std::min(sizeof buffer, bytes.size() - equal);
    const ssize_t got =
        ::pread(fd, buffer, wanted, static_cast<off_t>(position + static_cast<int64_t>(equal)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, "read");
    if (got == 0) return equal;
    const auto end = buffer + got;
    const auto differs = std::mismatch(buffer, end, bytes.data() + equal).first;
    equal += static_cast<size_t>(differs - buffer);
    if (differs != end) return equal;
  }
  return equal;
}

absl::Status WriteAt(int fd, int64_t position, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return ErrnoStatus(errno, "write");
    bytes.remove_prefix(static_cast<size_t>(done));
    position += done;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MakeFolderOf(const std::string& path) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder, error);
  if (error) return ErrnoStatus(error.value(), absl::StrCat("create ", folder.string()));
  return absl::OkStatus();
}

absl::StatusOr<DiskRunFiles::File*> DiskRunFiles::Open(const std::string& path) {
  const auto known = files_.find(path);
  if (known != files_.end()) return &known->second;
  const std::string whole = absl::StrCat(folder_, "/", path);
  RETURN_IF_ERROR(MakeFolderOf(whole));
  File file;
  // O_NOFOLLOW: never write through a link that another user has put there.
  file.fd = UniqueFd(::open(whole.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file.fd.ok()) return ErrnoStatus(errno, absl::StrCat("open ", whole));
  struct stat facts;
  if (::fstat(file.fd.get(), &facts) != 0) {
    return ErrnoStatus(errno, absl::StrCat("look at ", whole));
  }
  file.size = facts.st_size;
  return &files_.emplace(path, std::move(file)).first->second;
}

absl::Status DiskRunFiles::Append(const std::string& path, absl::string_view bytes) {
  ASSIGN_OR_RETURN(File* const file, Open(path));
  if (file->position < file->size) {
    const auto equal = CountEqual(file->fd.get(), file->position, bytes);
    RETURN_IF_ERROR(Annotate(equal.status(), absl::StrCat(folder_, "/", path)));
    file->position += static_cast<int64_t>(*equal);
    bytes.remove_prefix(*equal);
    if (bytes.empty()) return absl::OkStatus();
    // From here on the file differs: what follows is obsolete.
    if (file->position < file->size) {
      if (::ftruncate(file->fd.get(), static_cast<off_t>(file->position)) != 0) {
        return ErrnoStatus(errno, absl::StrCat("cut ", folder_, "/", path));
      }
      file->size = file->position;
    }
  }
  file->written = true;
  RETURN_IF_ERROR(
      Annotate(WriteAt(file->fd.get(), file->position, bytes), absl::StrCat(folder_, "/", path)));
  file->position += static_cast<int64_t>(bytes.size());
  file->size = file->position;
  return absl::OkStatus();
}

absl::Status DiskRunFiles::Place(const std::string& path, absl::string_view content) {
  const std::string whole = absl::StrCat(folder_, "/", path);
  struct stat facts;
  if (::lstat(whole.c_str(), &facts) == 0 && S_ISREG(facts.st_mode)) return absl::OkStatus();
  RETURN_IF_ERROR(MakeFolderOf(whole));
  return WriteFileAtomically(whole, content);
}

absl::Status DiskRunFiles::Sync() {
  for (auto& [path, file] : files_) {
    if (!file.written) continue;
    if (::fsync(file.fd.get()) != 0) {
      return ErrnoStatus(errno, absl::StrCat("fsync ", folder_, "/", path));
    }
    file.written = false;
  }
  return absl::OkStatus();
}

}  // namespace ksearch::sinks
