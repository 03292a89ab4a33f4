#include "common/mean_times.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

namespace ksearch {

double MeanUs(const v1::Samples& samples) {
  if (samples.latency_us().empty()) return 0;
  return std::accumulate(samples.latency_us().begin(), samples.latency_us().end(), 0.0) /
         samples.latency_us_size();
}

v1::JobResult OfficialCases(v1::JobResult result) {
  std::set<std::string> held_out;
  for (const v1::Comparison& comparison : result.comparisons()) {
    for (const v1::Comparison::PerWorkload& workload : comparison.workloads()) {
      if (workload.held_out()) held_out.insert(workload.workload_uuid());
    }
  }
  auto* const workloads = result.mutable_workloads();
  workloads->erase(std::remove_if(workloads->begin(), workloads->end(),
                                  [&](const v1::WorkloadResult& workload) {
                                    return held_out.count(workload.workload_uuid()) > 0;
                                  }),
                   workloads->end());
  return result;
}

double GeometricMeanOfMeans(const v1::JobResult& result, bool baseline) {
  if (result.workloads().empty()) return 0;
  double sum_of_logs = 0;
  for (const v1::WorkloadResult& workload : result.workloads()) {
    const double mean = MeanUs(baseline ? workload.baseline() : workload.candidate());
    if (!(mean > 0)) return 0;
    sum_of_logs += std::log(mean);
  }
  return std::exp(sum_of_logs / result.workloads_size());
}

}  // namespace ksearch
