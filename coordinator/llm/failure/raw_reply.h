#ifndef KSEARCH_COORDINATOR_LLM_FAILURE_RAW_REPLY_H_
#define KSEARCH_COORDINATOR_LLM_FAILURE_RAW_REPLY_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace ksearch {

inline constexpr char kRawReplyPayload[] = "ksearch.v1/raw_reply";
// An unreadable reply is truncated to this size.
inline constexpr size_t kMaxRawReplyBytes = 64 << 10;

// Attaches to a failure the bytes that the provider sent instead of a reply, for display. They must
// be UTF-8 and must not contain the key.
inline void SetRawReply(absl::Status* status, std::string bytes) {
  if (!status->ok()) status->SetPayload(kRawReplyPayload, absl::Cord(std::move(bytes)));
}

// Returns the attached bytes, or "" if there are none.
inline std::string RawReply(const absl::Status& status) {
  const auto payload = status.GetPayload(kRawReplyPayload);
  return payload.has_value() ? std::string(*payload) : "";
}

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_FAILURE_RAW_REPLY_H_
