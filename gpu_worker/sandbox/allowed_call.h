#ifndef KSEARCH_GPU_WORKER_SANDBOX_ALLOWED_CALL_H_
#define KSEARCH_GPU_WORKER_SANDBOX_ALLOWED_CALL_H_

#include <fcntl.h>

#include <cstdint>
#include <vector>

namespace ksearch {

// A system call that a filter permits, and the required values of its arguments. If there are
// several rules for one call, one of them must match.
struct AllowedCall {
  struct Condition {
    unsigned argument = 0;  // from 0
    uint64_t mask = 0;
    uint64_t value = 0;  // of argument & mask
  };
  const char* name = nullptr;
  std::vector<Condition> conditions;
};

// The kernel uses only the lower half of int arguments.
inline constexpr uint64_t kLowerHalf = 0xFFFFFFFFu;

// Flags of open() that create or change nothing; the kernel adds the last one itself.
inline constexpr uint64_t kPlainOpenFlags = O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW | O_NOCTTY |
                                            O_NONBLOCK | O_NOATIME | 0100000 /* O_LARGEFILE */;

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_ALLOWED_CALL_H_
