#include "coordinator/scheduler/job_times.h"

#include <algorithm>

#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr size_t kRemembered = 8;

}  // namespace

void JobTimes::Note(const v1::JobSpec& spec, const v1::JobResult& result) {
  const absl::Duration total = FromProto(result.stage_times().total());
  if (total <= absl::ZeroDuration()) return;
  std::deque<absl::Duration>& last = last_[{spec.task_sha256(), spec.kind()}];
  last.push_back(total);
  if (last.size() > kRemembered) last.pop_front();
}

absl::Duration JobTimes::Expected(const v1::JobSpec& spec) const {
  const auto it = last_.find({spec.task_sha256(), spec.kind()});
  return it == last_.end() ? otherwise_ : *std::max_element(it->second.begin(), it->second.end());
}

}  // namespace ksearch
