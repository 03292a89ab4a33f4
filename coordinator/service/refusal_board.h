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

// Workers that were refused or disconnected, so that an operator can see why machines do not show
// up. Strangers can fill it, but only up to its bounds. Thread-safe.
class RefusalBoard {
 public:
  explicit RefusalBoard(const Clock& clock) : clock_(clock) {}

  // `worker_name` as it says, cut to what is printable. The event is for the feed: nullopt if the
  // same was said less than 10 s ago.
  std::optional<v1::FleetEvent> Note(absl::string_view worker_name, absl::string_view reason);
  // As in ListWorkersReply.
  std::vector<v1::WorkerRefusal> Refusals();

 private:
  struct Refusal {
    int times = 0;
    absl::Time last_at;      // wall clock
    absl::Time last_seen;    // steady
    absl::Time last_logged;  // steady
  };
  void ForgetOld(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Clock& clock_;
  Mutex mu_;
  // By name and reason.
  std::map<std::pair<std::string, std::string>, Refusal> refusals_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_REFUSAL_BOARD_H_
