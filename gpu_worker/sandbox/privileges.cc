#include "gpu_worker/sandbox/privileges.h"

#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ksearch {

absl::Status DropPrivileges(uid_t uid, gid_t gid) {
  if (uid == 0 || gid == 0) {
    return absl::InvalidArgumentError(
        "run_as_uid and run_as_gid must not be 0: candidates never run under root");
  }
  if (::geteuid() != 0) {
    return absl::FailedPreconditionError("only root can change its user id");
  }
  if (::setgroups(0, nullptr) != 0) return ErrnoStatus(errno, "setgroups");
  if (::setresgid(gid, gid, gid) != 0) return ErrnoStatus(errno, absl::StrCat("setresgid ", gid));
  if (::setresuid(uid, uid, uid) != 0) return ErrnoStatus(errno, absl::StrCat("setresuid ", uid));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return ErrnoStatus(errno, "no_new_privs");
  // A changed uid makes /proc/self root's; this process still needs its own entries there.
  ::prctl(PR_SET_DUMPABLE, 1);
  uid_t real, effective, saved;
  if (::getresuid(&real, &effective, &saved) != 0 || real != uid || effective != uid ||
      saved != uid || ::setuid(0) == 0 || ::setgid(0) == 0) {
    return absl::InternalError("privileges were not dropped");
  }
  return absl::OkStatus();
}

absl::Status CheckExecutable(const std::string& path) {
  if (::access(path.c_str(), X_OK) == 0) return absl::OkStatus();
  const int error_number = errno;
  if (error_number != EACCES) return ErrnoStatus(error_number, absl::StrCat("execute ", path));
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (::access(folder.c_str(), X_OK) != 0) {
      return absl::PermissionDeniedError(
          absl::StrCat(path, " cannot be reached by uid ", ::geteuid(), ": folder ", folder,
                       " is closed to it; run `chmod o+x ", folder, "` or install elsewhere"));
    }
  }
  return absl::PermissionDeniedError(absl::StrCat(path, " is not executable by uid ", ::geteuid(),
                                                  "; run `chmod o+rx ", path, "`"));
}

}  // namespace ksearch
