#ifndef KSEARCH_COMMON_SUSPICION_H_
#define KSEARCH_COMMON_SUSPICION_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "proto/result.pb.h"

namespace ksearch {

inline constexpr absl::string_view kSuspicious = "suspicious";

// "suspicious: <reasons>": why a program that passed does not count as right
// (JobResult.suspicions); empty if it does, or if it did not pass.
inline std::string SuspicionText(const v1::JobResult& result) {
  if (result.outcome() != v1::OUTCOME_PASSED || result.suspicions().empty()) return "";
  return absl::StrCat(kSuspicious, ": ", absl::StrJoin(result.suspicions(), "; "));
}

}  // namespace ksearch

#endif  // KSEARCH_COMMON_SUSPICION_H_
