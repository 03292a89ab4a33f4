#ifndef KSEARCH_GPU_WORKER_SANDBOX_PRIVILEGES_H_
#define KSEARCH_GPU_WORKER_SANDBOX_PRIVILEGES_H_

#include <sys/types.h>

#include <string>

#include "absl/status/status.h"

namespace ksearch {

// The account of a worker that was started as root and not told otherwise: no login, above the
// ranges of Debian's packages and users.
inline constexpr uid_t kDefaultWorkerUid = 64123;

// Drops the process's privileges permanently: no supplementary groups, `uid` and `gid`
// throughout, no_new_privs. Call before any thread is started. INVALID_ARGUMENT for uid or gid 0,
// FAILED_PRECONDITION when not root, INTERNAL if root could be taken back.
absl::Status DropPrivileges(uid_t uid, gid_t gid);

// Whether this process may execute `path`; if not, PERMISSION_DENIED or NOT_FOUND with the first
// folder on the way that bars it and the chmod that opens it.
absl::Status CheckExecutable(const std::string& path);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_PRIVILEGES_H_
