#include "gpu_worker/verifier/timing/alone_calls.h"

#include <algorithm>

#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {

double AloneCalls::Allowed(double us) const { return share_ * us + allowed_us_; }

double AloneCalls::ExtraMicros(double rival_us, double candidate_us, double beside_us) const {
  if (empty()) return 0;
  // A candidate must not gain by making the rival's calls slow.
  const double usual =
      std::clamp(Median(times_.rival_us) - rival_us, 0.0, beside_us + Allowed(rival_us));
  const double longer = Median(times_.candidate_us) - candidate_us - usual;
  return longer > Allowed(candidate_us) ? longer : 0;
}

std::string AloneCalls::Summary() const { return times_.Summary("alone_us", 0.5); }

}  // namespace ksearch
