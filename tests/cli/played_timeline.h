#ifndef KSEARCH_TESTS_CLI_PLAYED_TIMELINE_H_
#define KSEARCH_TESTS_CLI_PLAYED_TIMELINE_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/textproto.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Entries of a run's timeline; times are seconds from its beginning.
inline const absl::Time kBegin = absl::FromUnixSeconds(1'790'000'000);

inline google::protobuf::Timestamp At(double seconds) {
  return ToProto(kBegin + absl::Seconds(seconds));
}

inline v1::TimelineEntry Call(double from, double until) {
  v1::TimelineEntry entry;
  v1::TimedCall* const call = entry.mutable_call();
  call->mutable_call()->set_model("m");
  call->mutable_call()->set_purpose("action");
  *call->mutable_created_at() = At(from);
  if (until > from) *call->mutable_answered_at() = At(until);
  return entry;
}

inline v1::TimelineEntry Lease(const std::string& worker, double from, double build, double wait,
                               double device) {
  v1::TimelineEntry entry;
  v1::TimedLease* const lease = entry.mutable_lease();
  lease->set_worker_id(worker);
  lease->set_worker_name("name of \"" + worker + "\"");
  lease->set_kind(v1::JOB_KIND_SCREEN);
  lease->set_candidate_id("0123456789abcdef");
  lease->set_device_id("GPU-1");
  lease->set_outcome(v1::OUTCOME_PASSED);
  *lease->mutable_started_at() = At(from);
  *lease->mutable_ended_at() = At(from + build + wait + device);
  *lease->mutable_stages()->mutable_build() = ToProto(absl::Seconds(build));
  *lease->mutable_stages()->mutable_wait_device() = ToProto(absl::Seconds(wait));
  *lease->mutable_stages()->mutable_device_held() = ToProto(absl::Seconds(device));
  *lease->mutable_stages()->mutable_check() = ToProto(absl::Seconds(device / 2));
  *lease->mutable_stages()->mutable_measure() = ToProto(absl::Seconds(device / 2));
  return entry;
}

// 40 calls to models, up to eight at a time, and one that is not answered; 40 jobs on two workers,
// up to three at a time on each.
inline std::vector<v1::TimelineEntry> PlayedTimeline() {
  std::vector<v1::TimelineEntry> entries;
  for (int i = 0; i < 40; ++i) {
    entries.push_back(Call(i * 0.7, i * 0.7 + 5));
    entries.push_back(Lease(i % 2 == 0 ? "w1" : "w2", i * 1.1, 3, 0.5, 1));
  }
  entries.push_back(Call(3, 3));  // has not ended
  return entries;
}

}  // namespace ksearch

#endif  // KSEARCH_TESTS_CLI_PLAYED_TIMELINE_H_
