#ifndef KSEARCH_GPU_WORKER_SANDBOX_PROCESSORS_ALLOW_LIST_H_
#define KSEARCH_GPU_WORKER_SANDBOX_PROCESSORS_ALLOW_LIST_H_

#include <sys/types.h>

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

// All that the runner and a candidate for processors may call once the candidate is there: what the
// honest programs of tests/bad_candidates were seen to call (threads of their own and of OpenMP,
// memory, exceptions, output, clocks, loading; traced with strace on Linux 6.18, glibc 2.36), what
// takes its place with other versions of the C library, and what asks the kernel for a fact about
// the machine. `self` is the calling process, the only one that may be sent a signal.
std::vector<AllowedCall> ProcessorsAllowList(pid_t self);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_PROCESSORS_ALLOW_LIST_H_
