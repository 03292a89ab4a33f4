#include "gpu_worker/verifier/timing/in_turn_times.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {
namespace {

// A busy machine delays many calls, and none can be faster than it is.
constexpr double kQuantile = 0.25;

}  // namespace

void InTurnTimes::Add(bool of_candidate, double us) {
  (of_candidate ? candidate_us_ : rival_us_).push_back(us);
}

double InTurnTimes::ExtraMicros(double rival_us, double candidate_us) const {
  const double rival_in_turn_us = Quantile(rival_us_, kQuantile);
  if (empty() || rival_in_turn_us <= 0) return 0;
  const double ratio = Quantile(candidate_us_, kQuantile) / rival_in_turn_us;
  const double longer_us = rival_us * ratio - candidate_us;
  return longer_us > kInTurnShare * candidate_us + kInTurnMicros ? longer_us : 0;
}

double InTurnTimes::LongerMicros(double rival_us, double candidate_us) const {
  if (empty()) return 0;
  const double usual_us = std::max(0.0, Quantile(rival_us_, kQuantile) - rival_us);
  return Quantile(candidate_us_, kQuantile) - candidate_us - usual_us;
}

std::string InTurnTimes::Summary() const {
  return empty() ? ""
                 : absl::StrCat("in_turn_us=", Quantile(rival_us_, kQuantile), "/",
                                Quantile(candidate_us_, kQuantile));
}

}  // namespace ksearch
