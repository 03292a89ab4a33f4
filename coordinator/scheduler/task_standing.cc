#include "coordinator/scheduler/task_standing.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/platform.h"

namespace ksearch {
namespace {

// About 100 bytes each.
constexpr size_t kMaxRemembered = 100'000;

std::string KeyOf(const v1::JobSpec& spec) {
  // Another compiler or device may take what this one does not.
  return absl::StrCat(spec.task_sha256(), "/", static_cast<int>(spec.candidate().language()), "/",
                      PlatformText(spec.platform()));
}

// A rival's fault is reported as the task's, but is that job's own.
bool BringsRival(const v1::JobSpec& spec) {
  return std::any_of(spec.rivals().begin(), spec.rivals().end(),
                     [](const v1::Rival& rival) { return rival.has_sources(); });
}

// Endings that come after the reference has answered on every workload of the job.
bool MetReference(const v1::JobSpec& spec, v1::Outcome outcome) {
  if (spec.kind() == v1::JOB_KIND_BUILD) return false;
  switch (outcome) {
    case v1::OUTCOME_UNSPECIFIED:
    case v1::OUTCOME_INVALID_SOURCE:
    case v1::OUTCOME_COMPILE_ERROR:
    case v1::OUTCOME_COMPILE_TIMEOUT:
    case v1::OUTCOME_COMPILE_LIMIT:
    case v1::OUTCOME_WORKER_LOST:
    case v1::OUTCOME_CANCELLED:
    case v1::OUTCOME_TASK_ERROR:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool TaskStanding::Note(const v1::JobSpec& spec, const v1::JobResult& result) {
  const std::string key = KeyOf(spec);
  if (result.outcome() == v1::OUTCOME_TASK_ERROR) {
    if (BringsRival(spec)) return false;
    proven_.erase(key);
    if (faults_.size() >= kMaxRemembered) faults_.clear();
    return faults_.insert_or_assign(key, result.message()).second;
  }
  if (!MetReference(spec, result.outcome())) return false;
  faults_.erase(key);
  if (proven_.size() >= kMaxRemembered) proven_.clear();
  proven_.insert(key);
  return false;
}

const std::string* TaskStanding::FaultFor(const v1::JobSpec& spec) const {
  if (!spec.salt().empty() || spec.kind() == v1::JOB_KIND_BUILD) return nullptr;
  const auto it = faults_.find(KeyOf(spec));
  return it == faults_.end() ? nullptr : &it->second;
}

bool TaskStanding::IsProven(const v1::JobSpec& spec) const { return proven_.contains(KeyOf(spec)); }

}  // namespace ksearch
