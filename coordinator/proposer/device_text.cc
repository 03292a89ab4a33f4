#include "coordinator/proposer/device_text.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace ksearch {
namespace {

// 4.12e12, "B/s" -> "4.12 TB/s".
std::string Rate(double per_second, const char* unit) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  while (per_second >= 999.5 && prefix + 1 < std::size(kPrefixes)) {
    per_second /= 1000;
    ++prefix;
  }
  return absl::StrFormat("%.3g %s%s", per_second, kPrefixes[prefix], unit);
}

bool IsKnown(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

std::string PeaksText(const v1::DevicePeaks& peaks) {
  std::vector<std::string> measured;
  const auto add = [&measured](double value, const char* unit, const char* before) {
    if (IsKnown(value)) measured.push_back(absl::StrCat(before, " ", Rate(value, unit)));
  };
  add(peaks.memory_bytes_per_second(), "B/s", "memory");
  add(peaks.cache_bytes_per_second(), "B/s", "first-level caches together");
  add(peaks.single_flops_per_second(), "FLOP/s", "float32 multiply-adds of all processors");
  if (IsKnown(peaks.empty_call_us())) {
    measured.push_back(
        absl::StrFormat("a call that launches one empty kernel %.2f us", peaks.empty_call_us()));
  }
  std::string text;
  if (!measured.empty()) {
    text = absl::StrCat("Measured on this very device: ", absl::StrJoin(measured, ", "), ".\n");
  }
  if (IsKnown(peaks.half_flops_per_second())) {
    absl::StrAppend(&text, "No program exceeds ", Rate(peaks.half_flops_per_second(), "FLOP/s"),
                    " on 16-bit floats");
    if (IsKnown(peaks.byte_flops_per_second())) {
      absl::StrAppend(&text, " and ", Rate(peaks.byte_flops_per_second(), "FLOP/s"),
                      " on 8-bit ones");
    }
    absl::StrAppend(&text, ".\n");
  }
  return text;
}

}  // namespace ksearch
