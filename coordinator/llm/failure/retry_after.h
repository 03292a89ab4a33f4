#ifndef KSEARCH_COORDINATOR_LLM_FAILURE_RETRY_AFTER_H_
#define KSEARCH_COORDINATOR_LLM_FAILURE_RETRY_AFTER_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/time/time.h"

namespace ksearch {

inline constexpr char kRetryAfterPayload[] = "ksearch.v1/retry_after";

// Attaches the delay that the server demands to a failed call's status.
inline void SetRetryAfter(absl::Status* status, absl::Duration delay) {
  status->SetPayload(kRetryAfterPayload, absl::Cord(absl::FormatDuration(delay)));
}

inline std::optional<absl::Duration> GetRetryAfter(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryAfterPayload);
  absl::Duration delay;
  if (!payload || !absl::ParseDuration(std::string(*payload), &delay)) return std::nullopt;
  return delay;
}

// The server reported too many calls, not a fault.
inline constexpr char kThrottledPayload[] = "ksearch.v1/throttled";
inline void SetThrottled(absl::Status* status) {
  status->SetPayload(kThrottledPayload, absl::Cord("1"));
}
inline bool IsThrottled(const absl::Status& status) {
  return status.GetPayload(kThrottledPayload).has_value();
}

// The request has been corrected since: send it again at once, without counting an attempt.
inline constexpr char kCorrectedPayload[] = "ksearch.v1/corrected";
inline void SetCorrected(absl::Status* status) {
  status->SetPayload(kCorrectedPayload, absl::Cord("1"));
}
inline bool IsCorrected(const absl::Status& status) {
  return status.GetPayload(kCorrectedPayload).has_value();
}

// The server said that retrying is useless, whatever the code is.
inline constexpr char kFinalPayload[] = "ksearch.v1/final";
inline void SetFinal(absl::Status* status) { status->SetPayload(kFinalPayload, absl::Cord("1")); }
inline bool IsFinal(const absl::Status& status) {
  return status.GetPayload(kFinalPayload).has_value();
}

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_FAILURE_RETRY_AFTER_H_
