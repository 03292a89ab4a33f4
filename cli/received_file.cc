#include "cli/received_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/mapped_file.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

absl::Status ExistsError(const std::string& path) {
  return absl::AlreadyExistsError(absl::StrCat(path, " exists; name a new file"));
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReceivedFile>> ReceivedFile::Create(const std::string& path,
                                                                   bool replace) {
  if (!replace && ::access(path.c_str(), F_OK) == 0) return ExistsError(path);
  const std::string part = absl::StrCat(path, ".part-", RandomHex(6));
  UniqueFd fd(::open(part.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.ok()) return ErrnoStatus(errno, absl::StrCat("create ", path));
  return std::unique_ptr<ReceivedFile>(new ReceivedFile(path, part, std::move(fd), replace));
}

ReceivedFile::~ReceivedFile() { ::unlink(part_.c_str()); }

absl::Status ReceivedFile::Append(absl::string_view bytes) {
  bytes_ += static_cast<int64_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus(errno, absl::StrCat("write ", path_));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status ReceivedFile::Finish(const v1::TransferEnd& end) {
  if (::fsync(fd_.get()) != 0) return ErrnoStatus(errno, absl::StrCat("sync ", path_));
  fd_.Reset();
  {
    ASSIGN_OR_RETURN(const auto file, MappedFile::Open(part_));
    if (bytes_ != end.bytes() || Sha256Hex(file->bytes()) != end.sha256()) {
      return absl::DataLossError(absl::StrCat(path_, " was not written: ", bytes_,
                                              " bytes came that are not the ", end.bytes(),
                                              " that were sent"));
    }
  }
  if (replace_) {
    if (::rename(part_.c_str(), path_.c_str()) != 0) {
      return ErrnoStatus(errno, absl::StrCat("rename ", part_, " to ", path_));
    }
  } else if (::link(part_.c_str(), path_.c_str()) != 0) {
    // Another process created the file meanwhile; a rename would replace it.
    return errno == EEXIST ? ExistsError(path_)
                           : ErrnoStatus(errno, absl::StrCat("name ", part_, " ", path_));
  }
  const UniqueFd folder(::open(FolderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.ok() || ::fsync(folder.get()) != 0) {
    return ErrnoStatus(errno, absl::StrCat("sync the folder of ", path_));
  }
  return absl::OkStatus();
}

}  // namespace ksearch
