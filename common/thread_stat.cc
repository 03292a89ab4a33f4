#include "common/thread_stat.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace ksearch {
namespace {

constexpr uint32_t kExitingFlag = 0x4;  // PF_EXITING

}  // namespace

bool ThreadStat::exiting() const { return ended() || (kernel_flags & kExitingFlag) != 0; }
bool ThreadStat::ended() const { return state == 'Z' || state == 'X'; }
bool ThreadStat::stopped_or_ended() const { return state == 'T' || state == 't' || ended(); }

std::optional<ThreadStat> ParseThreadStat(absl::string_view text) {
  // "TID (name) STATE ppid pgrp session tty tpgid flags ...": a name may contain ") R", so look for
  // the last parenthesis.
  const size_t end = text.rfind(") ");
  if (end == absl::string_view::npos) return std::nullopt;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(text.substr(end + 2), absl::MaxSplits(' ', 7));
  ThreadStat stat;
  if (fields.size() < 8 || fields[0].size() != 1 || !absl::SimpleAtoi(fields[1], &stat.parent) ||
      !absl::SimpleAtoi(fields[6], &stat.kernel_flags)) {
    return std::nullopt;
  }
  stat.state = fields[0][0];
  return stat;
}

}  // namespace ksearch
