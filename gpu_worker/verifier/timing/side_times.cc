#include "gpu_worker/verifier/timing/side_times.h"

#include "absl/strings/str_cat.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {

void SideTimes::Add(bool of_candidate, double us) {
  (of_candidate ? candidate_us : rival_us).push_back(us);
}

std::string SideTimes::Summary(absl::string_view name, double quantile) const {
  if (empty()) return "";
  return absl::StrCat(name, "=", Quantile(rival_us, quantile), "/",
                      Quantile(candidate_us, quantile));
}

}  // namespace ksearch
