#include "coordinator/engine/arrival_order.h"

#include "absl/strings/str_cat.h"

namespace ksearch {

std::string ArrivalKey(const Arrival& arrival) {
  if (arrival.kind == Arrival::Kind::kResult) return absl::StrCat("job/", arrival.tag);
  return absl::StrCat("call/", arrival.ref.substr(arrival.ref.rfind('/') + 1));
}

std::optional<size_t> ArrivalOrder::Next(const std::vector<Arrival>& arrivals,
                                         const absl::flat_hash_set<std::string>& outstanding) {
  if (arrivals.empty()) return std::nullopt;
  while (position_ < static_cast<int64_t>(recorded_.size())) {
    const std::string& key = recorded_[static_cast<size_t>(position_)];
    if (!outstanding.contains(key)) {
      ++position_;
      continue;
    }
    for (size_t i = 0; i < arrivals.size(); ++i) {
      if (ArrivalKey(arrivals[i]) == key) {
        ++position_;
        return i;
      }
    }
    return std::nullopt;
  }
  return 0;
}

}  // namespace ksearch
