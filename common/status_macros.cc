#include "common/status_macros.h"

#include <cerrno>
#include <cstring>
#include <system_error>

namespace ksearch {

absl::Status ErrnoStatus(int error_number, absl::string_view doing) {
  const std::string message =
      absl::StrCat(doing, ": ", std::generic_category().message(error_number));
  switch (error_number) {
    case ENOENT:
      return absl::NotFoundError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return absl::ResourceExhaustedError(message);
    case EADDRINUSE:
      return absl::AlreadyExistsError(message);
    default:
      return absl::InternalError(message);
  }
}

}  // namespace ksearch
