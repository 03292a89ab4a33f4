#include "coordinator/engine/arrival_order.h"

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "proto/run_state.pb.h"

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

absl::StatusOr<std::vector<std::string>> RecordedOrder(Store* store, const std::string& run_id) {
  ASSIGN_OR_RETURN(const RunRow row, store->ReadRun(run_id));
  std::vector<std::string> order;
  v1::RunEngineState state;
  if (!state.ParseFromString(row.state)) {
    return absl::DataLossError(absl::StrCat("state of run ", run_id, " is unreadable"));
  }
  // The run was itself a replay: its arrivals are numbered as they came, not as the run folded
  // them.
  order.assign(state.fold_order().begin(), state.fold_order().end());
  const absl::flat_hash_set<std::string> folded(order.begin(), order.end());
  int64_t after = 0;
  while (true) {
    ASSIGN_OR_RETURN(const auto arrivals, store->ReadArrivals(run_id, after, 1000));
    if (arrivals.empty()) return order;
    for (const Arrival& arrival : arrivals) {
      std::string key = ArrivalKey(arrival);
      if (!folded.contains(key)) order.push_back(std::move(key));
    }
    after = arrivals.back().seq;
  }
}

}  // namespace ksearch
