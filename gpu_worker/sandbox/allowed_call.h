#ifndef KSEARCH_GPU_WORKER_SANDBOX_ALLOWED_CALL_H_
#define KSEARCH_GPU_WORKER_SANDBOX_ALLOWED_CALL_H_

#include <fcntl.h>

#include <cstdint>
#include <vector>

namespace ksearch {

// A system call that a filter lets through, and what its arguments must be for that. Several rules
// for one call: any of them.
struct AllowedCall {
  struct Condition {
    unsigned argument = 0;  // from 0
    uint64_t mask = 0;
    uint64_t value = 0;  // of argument & mask
  };
  const char* name = nullptr;
  std::vector<Condition> conditions;
};

// The kernel looks at the lower half of int arguments only.
inline constexpr uint64_t kLowerHalf = 0xFFFFFFFFu;

// Flags of open() with which nothing is made or changed; the kernel adds the last by itself.
inline constexpr uint64_t kPlainOpenFlags = O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW | O_NOCTTY |
                                            O_NONBLOCK | O_NOATIME | 0100000 /* O_LARGEFILE */;

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_ALLOWED_CALL_H_
