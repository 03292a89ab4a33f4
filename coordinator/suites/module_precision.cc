#include "coordinator/suites/module_precision.h"

#include <algorithm>
#include <iterator>

namespace ksearch {
namespace {

// Tolerances: get_tolerance_for_precision in KernelBench's src/kernelbench/eval.py.
constexpr ModulePrecision kPrecisions[] = {
    {"fp32", v1::DTYPE_FLOAT32, 1e-4},
    {"bf16", v1::DTYPE_BFLOAT16, 1e-2},
    {"fp16", v1::DTYPE_FLOAT16, 1e-2},
};

}  // namespace

const ModulePrecision* FindModulePrecision(absl::string_view name) {
  if (name.empty()) return std::begin(kPrecisions);
  const auto* const found =
      std::find_if(std::begin(kPrecisions), std::end(kPrecisions),
                   [&](const ModulePrecision& each) { return each.name == name; });
  return found == std::end(kPrecisions) ? nullptr : found;
}

std::string ModulePrecisionNames() { return "fp32, bf16 or fp16"; }

}  // namespace ksearch
