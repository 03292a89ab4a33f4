#ifndef KSEARCH_COORDINATOR_ENGINE_ARRIVAL_ORDER_H_
#define KSEARCH_COORDINATOR_ENGINE_ARRIVAL_ORDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "coordinator/store/store.h"

namespace ksearch {

// The name of an arrival, which is the same in every run of the same search: "call/<n>" or
// "job/<tag>".
std::string ArrivalKey(const Arrival& arrival);

// The keys of an earlier run's arrivals in the order in which they were applied, followed by those
// of arrivals not applied yet. NOT_FOUND: no such run.
absl::StatusOr<std::vector<std::string>> RecordedOrder(Store* store, const std::string& run_id);

// Chooses which available arrival is processed next. Without a recorded order: the first. With one:
// the next recorded key that is outstanding, even if others have arrived already; recorded keys
// that were never requested this time are skipped, and after the end of the record the order is
// that of arrival. Thread-compatible.
class ArrivalOrder {
 public:
  ArrivalOrder(std::vector<std::string> recorded, int64_t position)
      : recorded_(std::move(recorded)), position_(position) {}

  // Index into `arrivals` of the next one, or nullopt to wait for more. `outstanding`: requested
  // and not yet applied.
  std::optional<size_t> Next(const std::vector<Arrival>& arrivals,
                             const absl::flat_hash_set<std::string>& outstanding);
  int64_t position() const { return position_; }

 private:
  std::vector<std::string> recorded_;
  int64_t position_;  // index of the next recorded key
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_ARRIVAL_ORDER_H_
