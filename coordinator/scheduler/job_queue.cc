#include "coordinator/scheduler/job_queue.h"

#include <utility>
#include <vector>

namespace ksearch {

void JobQueue::Push(const Requirement& requirement, const Turn& turn, const std::string& job_id) {
  if (groups_[requirement].emplace(turn, job_id).second) ++size_;
}

void JobQueue::Remove(const Requirement& requirement, const Turn& turn) {
  const auto group = groups_.find(requirement);
  if (group == groups_.end() || group->second.erase(turn) == 0) return;
  --size_;
  if (group->second.empty()) groups_.erase(group);
}

void JobQueue::Visit(absl::FunctionRef<bool(const Requirement&)> accepts,
                     absl::FunctionRef<bool(const std::string& job_id)> visit) const {
  using Position = std::map<Turn, std::string>::const_iterator;
  std::vector<std::pair<Position, Position>> ranges;  // (next, end) of each accepted group
  for (const auto& [requirement, jobs] : groups_) {
    if (accepts(requirement)) ranges.emplace_back(jobs.begin(), jobs.end());
  }
  // There are only as many groups as kinds of device and language: a linear search for the first
  // head is cheaper than a heap.
  while (true) {
    std::pair<Position, Position>* first = nullptr;
    for (auto& range : ranges) {
      if (range.first == range.second) continue;
      if (first == nullptr || range.first->first < first->first->first) first = &range;
    }
    if (first == nullptr) return;
    const Position job = first->first++;
    if (!visit(job->second)) return;
  }
}

bool JobQueue::HasAny(absl::FunctionRef<bool(const Requirement&)> accepts) const {
  for (const auto& [requirement, jobs] : groups_) {
    if (accepts(requirement)) return true;
  }
  return false;
}

}  // namespace ksearch
