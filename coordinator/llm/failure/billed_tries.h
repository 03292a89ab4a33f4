#ifndef KSEARCH_COORDINATOR_LLM_FAILURE_BILLED_TRIES_H_
#define KSEARCH_COORDINATOR_LLM_FAILURE_BILLED_TRIES_H_

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ksearch {

inline constexpr char kBilledTriesPayload[] = "ksearch/billed_tries";

// Records in a failure how many attempts of the call may have been billed.
inline void SetBilledTries(absl::Status* status, int tries) {
  if (!status->ok()) status->SetPayload(kBilledTriesPayload, absl::Cord(absl::StrCat(tries)));
}

// Returns how many attempts of a failed call may have been billed: as recorded, else 1 if the
// request may have reached the model (timeout, cancelled, unreadable reply) and 0 if it was refused
// or never sent. The ledger counts by this, so the estimate is deliberately high.
inline int BilledTries(const absl::Status& status) {
  if (status.ok()) return 0;
  if (const auto noted = status.GetPayload(kBilledTriesPayload); noted.has_value()) {
    int tries = 0;
    if (absl::SimpleAtoi(std::string(*noted), &tries)) return tries;
  }
  switch (status.code()) {
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
      return 1;
    default:
      return 0;
  }
}

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_FAILURE_BILLED_TRIES_H_
