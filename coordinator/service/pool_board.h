#ifndef KSEARCH_COORDINATOR_SERVICE_POOL_BOARD_H_
#define KSEARCH_COORDINATOR_SERVICE_POOL_BOARD_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// What autoscalers report about their pools, and which autoscaler holds each pool, so that no two
// fill the same one. Kept in memory only; after a restart the first one to report takes the pool.
// Thread-safe.
class PoolBoard {
 public:
  explicit PoolBoard(const Clock& clock) : clock_(clock) {}

  // As ReportPool says. INVALID_ARGUMENT, ABORTED, RESOURCE_EXHAUSTED (too many pools). `event`: a
  // fault that began or ended.
  absl::Status Report(const v1::ReportPoolRequest& request, std::optional<v1::FleetEvent>* event);
  // What one instance costs; 0: not known.
  int64_t NanoUsdPerHour(const std::string& pool) const;
  // By name. Those that nobody has held for an hour are forgotten.
  std::vector<v1::PoolStatus> Pools();

 private:
  struct Pool {
    v1::PoolReport report;
    absl::Time reported_at;      // wall clock
    absl::Time held_until;       // steady
    absl::Time forgotten_after;  // steady
  };

  const Clock& clock_;
  mutable Mutex mu_;
  std::map<std::string, Pool> pools_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_POOL_BOARD_H_
