#include "gpu_worker/verifier/dialogue/program_image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// Far above Limits.artifact_bytes, which the builder enforces.
constexpr int64_t kMaxImageBytes = int64_t{1} << 30;

}  // namespace

absl::StatusOr<ProgramImage> ProgramImage::Open(const v1::Artifact& artifact) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(artifact.path(), kMaxImageBytes));
  const std::string sha256 = Sha256Hex(bytes);
  if (sha256 != artifact.sha256()) {
    return absl::FailedPreconditionError(absl::StrCat("artifact '", artifact.id(), "' at ",
                                                      artifact.path(), " has SHA-256 ", sha256,
                                                      ", not ", artifact.sha256()));
  }
  UniqueFd fd(::memfd_create("ksearch-program", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.ok()) return ErrnoStatus(errno, "memfd_create");
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ErrnoStatus(errno, "copy an artifact");
    done += static_cast<size_t>(n);
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) !=
      0) {
    return ErrnoStatus(errno, "seal an artifact");
  }
  return ProgramImage(artifact.id(), sha256, std::move(fd));
}

}  // namespace ksearch
