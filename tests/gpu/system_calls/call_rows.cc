#include "tests/gpu/system_calls/call_rows.h"

#include <fcntl.h>
#include <seccomp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace ksearch {
namespace {

struct Shown {
  const char* call;
  unsigned argument;
  const char* name;
};
// Calls that are not listed here are shown by name only. Commands, options and flags are ints.
constexpr Shown kShown[] = {
    {"arch_prctl", 0, "option"},   {"clone", 0, "flags"},        {"dup3", 2, "flags"},
    {"epoll_create1", 0, "flags"}, {"eventfd2", 1, "flags"},     {"fcntl", 1, "command"},
    {"futex", 1, "operation"},     {"ioctl", 1, "request"},      {"madvise", 2, "advice"},
    {"mbind", 2, "mode"},          {"membarrier", 0, "command"}, {"memfd_create", 1, "flags"},
    {"mmap", 2, "protection"},     {"mmap", 3, "flags"},         {"mprotect", 2, "protection"},
    {"mremap", 3, "flags"},        {"open", 1, "flags"},         {"openat", 2, "flags"},
    {"pipe2", 1, "flags"},         {"prctl", 0, "option"},       {"socket", 0, "family"},
    {"socket", 1, "type"},         {"socketpair", 0, "family"},  {"timerfd_create", 1, "flags"},
    {"rt_sigprocmask", 0, "how"},  {"unlinkat", 2, "flags"},     {"faccessat2", 3, "flags"},
};

std::string Hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string NameOf(int number) {
  char* const name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
  const std::string copy = name == nullptr ? "call-" + std::to_string(number) : name;
  std::free(name);
  return copy;
}

}  // namespace

std::string DescribeCall(const SystemCall& call, pid_t self) {
  const std::string name = NameOf(call.number);
  std::string row = name;
  for (const Shown& shown : kShown) {
    if (name != shown.call) continue;
    row += std::string(" ") + shown.name + "=" + Hex(call.arguments[shown.argument] & kLowerHalf);
  }
  if (name == "fcntl" && (call.arguments[1] & kLowerHalf) == F_SETFL) {
    row += " flags=" + Hex(call.arguments[2] & kLowerHalf);
  }
  if (name == "mremap") row += call.arguments[1] == 0 ? " old_size=none" : " old_size=some";
  if (name == "prlimit64") row += call.arguments[2] == 0 ? " reads" : " sets";
  if (name == "kill" || name == "tgkill") {
    const bool own = (call.arguments[0] & kLowerHalf) == static_cast<uint32_t>(self);
    row += own ? " who=self" : " who=another";
  }
  return row;
}

CallList::CallList(const std::vector<AllowedCall>& calls) {
  for (const AllowedCall& call : calls) {
    const int number = seccomp_syscall_resolve_name(call.name);
    if (number >= 0) by_number_[number].push_back(call);
  }
}

bool CallList::Has(const SystemCall& call) const {
  const auto found = by_number_.find(call.number);
  if (found == by_number_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const AllowedCall& allowed) {
    return std::all_of(allowed.conditions.begin(), allowed.conditions.end(),
                       [&](const AllowedCall::Condition& condition) {
                         return (call.arguments[condition.argument] & condition.mask) ==
                                condition.value;
                       });
  });
}

}  // namespace ksearch
