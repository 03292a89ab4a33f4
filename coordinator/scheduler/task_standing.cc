#include "coordinator/scheduler/task_standing.h"

#include "common/job_kind.h"
#include "common/task_evidence.h"

namespace ksearch {
namespace {

// About 100 bytes each.
constexpr size_t kMaxRemembered = 100'000;

}  // namespace

bool TaskStanding::Note(const v1::JobSpec& spec, const v1::JobResult& result) {
  const std::string key = EvidenceKey(spec);
  switch (EvidenceOf(spec, result)) {
    case TaskEvidence::kNone:
      return false;
    case TaskEvidence::kFaulty:
      proven_.erase(key);
      if (faults_.size() >= kMaxRemembered) faults_.clear();
      return faults_.insert_or_assign(key, result.message()).second;
    case TaskEvidence::kWorks:
      faults_.erase(key);
      if (proven_.size() >= kMaxRemembered) proven_.clear();
      proven_.insert(key);
      return false;
  }
  return false;
}

const std::string* TaskStanding::FaultFor(const v1::JobSpec& spec) const {
  if (!spec.salt().empty() || TakesNoDevice(spec.kind())) return nullptr;
  const auto it = faults_.find(EvidenceKey(spec));
  return it == faults_.end() ? nullptr : &it->second;
}

bool TaskStanding::IsProven(const v1::JobSpec& spec) const {
  return proven_.contains(EvidenceKey(spec));
}

}  // namespace ksearch
