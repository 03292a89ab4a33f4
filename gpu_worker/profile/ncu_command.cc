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
          // As in the compiler's report, whose names are made from the same symbols.
          "--print-kernel-base", "mangled", "--target-processes", "all", "--replay-mode", "kernel",
          "--clock-control", "none", "--cache-control", "all", "--launch-skip",
          absl::StrCat(launches.skip), "--launch-count", absl::StrCat(launches.count), "--metrics",
          metrics};
}

}  // namespace ksearch
