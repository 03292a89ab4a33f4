#ifndef KSEARCH_COORDINATOR_SERVICE_REFUSAL_BOARD_H_
#define KSEARCH_COORDINATOR_SERVICE_REFUSAL_BOARD_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Workers that were refused or disconnected, so that an operator can see why machines do not
// appear. Unauthenticated peers can add entries, but the number is limited. Thread-safe.
class RefusalBoard {
 public:
  explicit RefusalBoard(const Clock& clock) : clock_(clock) {}

  // `worker_name`: as the worker claims; reduced to printable characters. Returns the event for the
  // feed, or nullopt if the same refusal was reported less than 10 s ago.
  std::optional<v1::FleetEvent> Note(absl::string_view worker_name, absl::string_view reason);
  // As in ListWorkersReply.
  std::vector<v1::WorkerRefusal> Refusals();

 private:
  struct Refusal {
    int times = 0;
    absl::Time last_at;      // wall clock
    absl::Time last_seen;    // monotonic clock
    absl::Time last_logged;  // monotonic clock
  };
  void ForgetOld(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Clock& clock_;
  Mutex mu_;
  // By name and reason.
  std::map<std::pair<std::string, std::string>, Refusal> refusals_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_REFUSAL_BOARD_H_
