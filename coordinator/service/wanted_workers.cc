#include "coordinator/service/wanted_workers.h"

#include <utility>

namespace ksearch {
namespace {

constexpr size_t kMostCallers = 10'000;

}  // namespace

void WantedWorkers::Note(const Requirement& requirement, const std::string& caller,
                         absl::Time now) {
  if (last_.size() >= kMostCallers && !last_.contains(caller)) return;
  last_[caller] = {requirement, now};
}

std::map<Requirement, int> WantedWorkers::Waiting(absl::Time now) {
  std::erase_if(last_, [&](const auto& entry) { return now - entry.second.second > kCounts; });
  std::map<Requirement, int> waiting;
  for (const auto& [caller, word] : last_) ++waiting[word.first];
  return waiting;
}

}  // namespace ksearch
