#ifndef KSEARCH_COORDINATOR_EVENTS_SINKS_RUN_PROGRESS_H_
#define KSEARCH_COORDINATOR_EVENTS_SINKS_RUN_PROGRESS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "proto/search_service.pb.h"

namespace ksearch::sinks {

// The progress of a run as numbers over time, computed from its events alone.
class RunProgress {
 public:
  // Returns true if there is something new to draw: a candidate was judged, confirmed or refused, a
  // reply was unusable, or the run has ended.
  bool Add(const v1::RunEvent& event);

  // Names and values as of the last event, without those that have no value yet. Names are made of
  // lower-case letters, '_' and '/'; at most 40 of them. Money in US dollars, times in seconds.
  std::vector<std::pair<std::string, double>> Values() const;

  absl::Time started() const { return started_; }
  absl::Time now() const { return now_; }
  int round() const { return round_; }
  const std::string& best_candidate() const { return best_candidate_; }  // "": none is confirmed

 private:
  void AddCall(const v1::CallDetail& call);
  void AddTotals(const v1::RunDetail& totals);

  absl::Time started_ = absl::InfinitePast();
  absl::Time now_ = absl::InfinitePast();
  int round_ = 0;
  int64_t passed_ = 0;
  int64_t failed_ = 0;
  int64_t confirmed_ = 0;
  int64_t refused_ = 0;
  std::map<std::string, int64_t> failures_;  // by lower-case outcome
  std::set<std::string> calls_;
  int64_t nano_usd_ = 0;
  int64_t input_tokens_ = 0;
  int64_t output_tokens_ = 0;
  absl::Duration device_time_;
  // From the last event, if it is about a judged candidate.
  std::optional<double> speedup_;
  std::optional<double> latency_us_;
  double best_screened_ = 0;
  double best_speedup_ = 0;
  double best_low_ = 0;
  double best_high_ = 0;
  std::string best_candidate_;
};

}  // namespace ksearch::sinks

#endif  // KSEARCH_COORDINATOR_EVENTS_SINKS_RUN_PROGRESS_H_
