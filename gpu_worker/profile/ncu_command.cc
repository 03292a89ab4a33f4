#include "gpu_worker/profile/ncu_command.h"

#include "absl/strings/str_cat.h"
#include "gpu_worker/profile/ncu_metrics.h"

namespace ksearch {

std::vector<std::string> NcuArguments(const NcuLaunches& launches) {
  std::string metrics = kNcuDurationMetric;
  for (const NcuMetric& metric : NcuMetrics()) absl::StrAppend(&metrics, ",", metric.name);
  for (const char* reason : NcuStallReasons()) {
    absl::StrAppend(&metrics, ",", kNcuStallPrefix, reason, kNcuStallSuffix);
  }
  return {"--csv", "--page", "raw", "--print-units", "base",
          // The same symbols as in the compiler's report.
          "--print-kernel-base", "mangled", "--target-processes", "all", "--replay-mode", "kernel",
          "--clock-control", "none", "--cache-control", "all", "--launch-skip",
          absl::StrCat(launches.skip), "--launch-count", absl::StrCat(launches.count), "--metrics",
          metrics};
}

}  // namespace ksearch
