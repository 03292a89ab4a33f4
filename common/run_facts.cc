#include "common/run_facts.h"

#include <cmath>

namespace ksearch {

bool HasEnded(v1::RunState state) {
  return state != v1::RUN_STATE_RUNNING && state != v1::RUN_STATE_STOPPING;
}

std::optional<double> SpeedupOverBaseline(const v1::JobResult& result) {
  double sum_of_logs = 0;
  for (const v1::WorkloadResult& workload : result.workloads()) {
    const double candidate = workload.candidate().median_us();
    const double baseline = workload.baseline().median_us();
    if (!(candidate > 0) || !(baseline > 0)) return std::nullopt;
    sum_of_logs += std::log(baseline / candidate);
  }
  if (result.workloads_size() == 0) return std::nullopt;
  return std::exp(sum_of_logs / result.workloads_size());
}

}  // namespace ksearch
