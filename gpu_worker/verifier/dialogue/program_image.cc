#include "gpu_worker/verifier/dialogue/program_image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/folder_digest.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// For an artifact that does not set a load time.
constexpr absl::Duration kLoadTime = absl::Seconds(10);

absl::Status CheckSha256(const v1::Artifact& artifact, const std::string& sha256) {
  if (sha256 == artifact.sha256()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("artifact '", artifact.id(), "' at ",
                                                    artifact.path(), " has SHA-256 ", sha256,
                                                    ", not ", artifact.sha256()));
}

bool IsFile(const std::string& path) {
  struct stat facts;
  return ::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

bool IsFolder(const std::string& path) {
  struct stat facts;
  return ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

absl::StatusOr<UniqueFd> MakeFile() {
  UniqueFd fd(::memfd_create("ksearch-program", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.ok()) return ErrnoStatus(errno, "memfd_create");
  return fd;
}

absl::Status Seal(const UniqueFd& fd) {
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) !=
      0) {
    return ErrnoStatus(errno, "seal an artifact");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<UniqueFd> ProgramImage::CopyForRunner() const {
  struct stat facts;
  if (::fstat(fd_.get(), &facts) != 0) return ErrnoStatus(errno, "look at a program's file");
  ASSIGN_OR_RETURN(UniqueFd copy, MakeFile());
  off_t done = 0;
  while (done < facts.st_size) {
    const ssize_t n =
        ::sendfile(copy.get(), fd_.get(), &done, static_cast<size_t>(facts.st_size - done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ErrnoStatus(errno, "copy a program's file");
  }
  RETURN_IF_ERROR(Seal(copy));
  return copy;
}

absl::Duration ProgramImage::load_time() const {
  return artifact_.has_load_time() ? FromProto(artifact_.load_time()) : kLoadTime;
}

absl::StatusOr<ProgramImage> ProgramImage::Open(const v1::Artifact& artifact) {
  if (artifact.has_runner() &&
      (artifact.runner().argv().empty() || !absl::StartsWith(artifact.runner().argv(0), "/"))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "artifact '", artifact.id(), "': runner.argv must begin with an absolute path"));
  }
  if (IsFolder(artifact.path())) {
    ASSIGN_OR_RETURN(const std::string sha256, FolderSha256(artifact.path(), kMaxBytes));
    RETURN_IF_ERROR(CheckSha256(artifact, sha256));
    ProgramImage image(artifact, UniqueFd());
    if (!artifact.has_runner() || !IsFile(artifact.path() + "/" + artifact.main_file())) {
      return absl::InvalidArgumentError(
          absl::StrCat("artifact '", artifact.id(), "' at ", artifact.path(),
                       " is a folder: it needs a runner, and main_file to name one of its files"));
    }
    return image;
  }
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(artifact.path(), kMaxBytes));
  RETURN_IF_ERROR(CheckSha256(artifact, Sha256Hex(bytes)));
  ASSIGN_OR_RETURN(UniqueFd fd, MakeFile());
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ErrnoStatus(errno, "copy an artifact");
    done += static_cast<size_t>(n);
  }
  RETURN_IF_ERROR(Seal(fd));
  return ProgramImage(artifact, std::move(fd));
}

}  // namespace ksearch
