#ifndef KSEARCH_TESTS_GPU_SYSTEM_CALLS_CALL_ROWS_H_
#define KSEARCH_TESTS_GPU_SYSTEM_CALLS_CALL_ROWS_H_

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu_worker/sandbox/allowed_call.h"

namespace ksearch {

// A system call as a filter sees it.
struct SystemCall {
  int number = 0;
  std::array<uint64_t, 6> arguments = {};
};

// Returns its name and the arguments that a list may depend on; equal for calls that no list
// distinguishes: "ioctl request=0xc020462a", "kill who=self" (for the process `self`).
std::string DescribeCall(const SystemCall& call, pid_t self);

// Answers as a filter made from these calls would.
class CallList {
 public:
  explicit CallList(const std::vector<AllowedCall>& calls);
  bool Has(const SystemCall& call) const;

 private:
  std::map<int, std::vector<AllowedCall>> by_number_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_SYSTEM_CALLS_CALL_ROWS_H_
