#ifndef KSEARCH_COORDINATOR_DASHBOARD_METRICS_FEED_COUNTS_H_
#define KSEARCH_COORDINATOR_DASHBOARD_METRICS_FEED_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/mutex.h"
#include "proto/search_service.pb.h"

namespace ksearch::dashboard {

// Counts the entries of the event feed since the coordinator started. Thread-safe; counting takes
// microseconds.
class FeedCounts {
 public:
  struct Calls {
    int64_t answered = 0;
    int64_t failed = 0;
    int64_t input_tokens = 0;
    int64_t output_tokens = 0;
    int64_t nano_usd = 0;
  };
  struct Totals {
    std::map<v1::Outcome, int64_t> results;  // jobs that ended, by outcome
    // Seconds from lease to result: one count per bound of EvalBounds, and one for values beyond
    // the last.
    std::vector<int64_t> eval_seconds;
    double eval_seconds_sum = 0;
    double device_seconds = 0;
    int64_t leases_lost = 0;
    std::map<std::pair<std::string, std::string>, Calls> calls;  // by provider and model
  };
  // Upper bounds of eval_seconds.
  static const std::vector<double>& EvalBounds();

  FeedCounts();
  void Count(const v1::FeedEntry& entry);
  Totals totals() const;

 private:
  void CountResult(const v1::FleetEvent& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable Mutex mu_;
  Totals totals_ ABSL_GUARDED_BY(mu_);
  // Start of the newest lease of each job.
  std::map<std::string, absl::Time> leased_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_METRICS_FEED_COUNTS_H_
