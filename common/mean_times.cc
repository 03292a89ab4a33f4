#include "common/mean_times.h"

#include <cmath>
#include <numeric>

namespace ksearch {

double MeanUs(const v1::Samples& samples) {
  if (samples.latency_us().empty()) return 0;
  return std::accumulate(samples.latency_us().begin(), samples.latency_us().end(), 0.0) /
         samples.latency_us_size();
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
