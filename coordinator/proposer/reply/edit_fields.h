#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_EDIT_FIELDS_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_EDIT_FIELDS_H_

// Names and limits of the world-model JSON, shared by the parser that reads it and the prompt that
// explains it. The names are those of the published system, so that its recorded replies can be
// parsed.

#include <cstddef>

#include "absl/strings/string_view.h"

namespace ksearch::edit_fields {

inline constexpr absl::string_view kRating = "overall_rating_0_to_10";
inline constexpr absl::string_view kConfidence = "confidence_0_to_1";
inline constexpr absl::string_view kDifficulty = "difficulty_1_to_5";
inline constexpr absl::string_view kScore = "score_0_to_1";
inline constexpr absl::string_view kExpected = "expected_vs_baseline_factor";
inline constexpr absl::string_view kImpactRating = "rating_0_to_10";
inline constexpr absl::string_view kMemoryBandwidth = "memory_bandwidth";
inline constexpr absl::string_view kRegisterPressure = "register_pressure";
inline constexpr absl::string_view kComputeIntensity = "compute_intensity_and_hw_fit";

// The largest expected factor that is accepted; generous, because a reference loop may be very
// slow.
inline constexpr double kMaxExpectedFactor = 1e6;
inline constexpr size_t kMaxShortText = 400;  // decision, choice, title, risk
inline constexpr size_t kMaxLongText = 8000;  // notes, description, rationale, kernel_summary
inline constexpr int kMaxOps = 64;            // per script, including the nodes of an initial model
inline constexpr int kMaxSplitChildren = 8;
inline constexpr int kMaxQuestions = 32;
inline constexpr int kMaxFaultsListed = 40;
inline constexpr int kMaxJsonDepth = 32;
inline constexpr size_t kMaxNodeIdBytes = 64;

}  // namespace ksearch::edit_fields

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_EDIT_FIELDS_H_
