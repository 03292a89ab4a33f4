#include "gpu_worker/verifier/timing/in_turn_times.h"

#include <algorithm>

#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {
namespace {

// A busy machine delays many calls, and none can be faster than it is.
constexpr double kQuantile = 0.25;

}  // namespace

double InTurnTimes::ExtraMicros(double rival_us, double candidate_us) const {
  const double rival_in_turn_us = Quantile(times_.rival_us, kQuantile);
  if (empty() || rival_in_turn_us <= 0) return 0;
  const double ratio = Quantile(times_.candidate_us, kQuantile) / rival_in_turn_us;
  const double longer_us = rival_us * ratio - candidate_us;
  return longer_us > kInTurnShare * candidate_us + kInTurnMicros ? longer_us : 0;
}

double InTurnTimes::LongerMicros(double rival_us, double candidate_us) const {
  if (empty()) return 0;
  const double usual_us = std::max(0.0, Quantile(times_.rival_us, kQuantile) - rival_us);
  return Quantile(times_.candidate_us, kQuantile) - candidate_us - usual_us;
}

std::string InTurnTimes::Summary() const { return times_.Summary("in_turn_us", kQuantile); }

}  // namespace ksearch
