#include "gpu_worker/verifier/timing/alone_calls.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {

double AloneCalls::Allowed(double us) const { return share_ * us + allowed_us_; }

void AloneCalls::Add(bool of_candidate, double us) {
  (of_candidate ? candidate_us_ : rival_us_).push_back(us);
}

double AloneCalls::ExtraMicros(double rival_us, double candidate_us, double beside_us) const {
  if (empty()) return 0;
  // A candidate must not gain by making the rival's calls slow.
  const double usual = std::clamp(Median(rival_us_) - rival_us, 0.0, beside_us + Allowed(rival_us));
  const double longer = Median(candidate_us_) - candidate_us - usual;
  return longer > Allowed(candidate_us) ? longer : 0;
}

std::string AloneCalls::Summary() const {
  return empty() ? "" : absl::StrCat("alone_us=", Median(rival_us_), "/", Median(candidate_us_));
}

}  // namespace ksearch
