#ifndef KSEARCH_GPU_WORKER_SANDBOX_PRIVILEGES_H_
#define KSEARCH_GPU_WORKER_SANDBOX_PRIVILEGES_H_

#include <sys/types.h>

#include <string>

#include "absl/status/status.h"

namespace ksearch {

// The default account of a worker that was started as root: no login, above the ranges of Debian's
// packages and users.
inline constexpr uid_t kDefaultWorkerUid = 64123;

// Drops the process's privileges permanently: no supplementary groups, `uid` and `gid` throughout,
// no_new_privs. Must be called before any thread is started. INVALID_ARGUMENT for uid or gid 0,
// FAILED_PRECONDITION if not root, INTERNAL if root could be regained.
absl::Status DropPrivileges(uid_t uid, gid_t gid);

// Checks that this process may execute `path`. PERMISSION_DENIED or NOT_FOUND names the first
// folder on the way that denies access and the chmod that permits it.
absl::Status CheckExecutable(const std::string& path);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_PRIVILEGES_H_
