#include "gpu_worker/verifier/timing/device/roofline.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "common/work_formula.h"

namespace ksearch {
namespace {

bool HasByteFloats(const v1::Definition& definition) {
  return std::any_of(
      definition.inputs().begin(), definition.inputs().end(), [](const v1::TensorSpec& input) {
        return input.dtype() == v1::DTYPE_FLOAT8_E4M3FN || input.dtype() == v1::DTYPE_FLOAT8_E5M2 ||
               input.dtype() == v1::DTYPE_INT8;
      });
}

bool HasOnlyWideNumbers(const v1::Definition& definition) {
  return std::all_of(definition.inputs().begin(), definition.inputs().end(),
                     [](const v1::TensorSpec& input) {
                       return input.dtype() == v1::DTYPE_FLOAT32 ||
                              input.dtype() == v1::DTYPE_INT32 || input.dtype() == v1::DTYPE_INT64;
                     });
}

// 0: not known.
double Work(const std::string& formula, const absl::flat_hash_map<std::string, int64_t>& axes) {
  if (formula.empty()) return 0;
  const absl::StatusOr<double> work = EvaluateWorkFormula(formula, axes);
  return work.ok() ? std::max(0.0, *work) : 0;
}

double Micros(double work, double per_second) {
  return per_second <= 0 ? 0 : std::max(0.0, work) / per_second * 1e6;
}

// The least share of the peak that an mma.sync kernel reaches where nothing faster exists.
constexpr double kLeastShareOfPeak = 0.8;

// A CPU's rates for 16-bit and 8-bit operations relative to 32-bit ones, and the factor of matrix
// instructions for any of them (bfloat16 AMX: 1024 multiply-adds per clock and core; vectors 32).
constexpr double kHalfFactor = 2;
constexpr double kByteFactor = 4;
constexpr double kTileFactor = 32;

}  // namespace

double PeakPerClock(double measured, double known) {
  return known > 0 ? std::max(measured, known) : measured / kLeastShareOfPeak;
}

double FloorMicros(const v1::Task& task, const v1::Workload& workload, const DevicePeaks& peaks) {
  absl::flat_hash_map<std::string, int64_t> axes;
  for (const v1::Axis& axis : task.definition().axes()) {
    if (axis.has_const_value()) axes[axis.name()] = axis.const_value();
  }
  for (const v1::AxisValue& axis : workload.axes()) axes[axis.axis()] = axis.value();
  double flops_per_second = peaks.half_flops_per_second;
  if (HasByteFloats(task.definition())) {
    flops_per_second = peaks.byte_flops_per_second;
  } else if (peaks.single_flops_per_second > 0 && HasOnlyWideNumbers(task.definition())) {
    flops_per_second = peaks.single_flops_per_second;
  }
  const double bytes = Work(task.work().bytes(), axes);
  const double beyond_cache = bytes - static_cast<double>(peaks.cached_bytes);
  return peaks.least_call_us +
         std::max({Micros(bytes, peaks.bytes_per_second),
                   Micros(beyond_cache, peaks.memory_bytes_per_second),
                   Micros(Work(task.work().flops(), axes), flops_per_second)});
}

DevicePeaks PeaksOf(const HostPeaks& host) {
  const double flops = host.single_flops_per_second * (host.has_tiles ? kTileFactor : 1);
  DevicePeaks peaks;
  peaks.bytes_per_second = host.cache_bytes_per_second;
  peaks.single_flops_per_second = flops;
  peaks.half_flops_per_second = kHalfFactor * flops;
  peaks.byte_flops_per_second = kByteFactor * flops;
  peaks.memory_bytes_per_second = host.memory_bytes_per_second;
  peaks.cached_bytes = host.last_level_cache_bytes;
  return peaks;
}

std::string FasterThanFloorText(double call_us, double floor_us) {
  return absl::StrFormat(
      "faster than this device can be: %.2f us a call, but a call that does nothing, moving the "
      "task's bytes and doing its operations take at least %.2f us",
      call_us, floor_us);
}

}  // namespace ksearch
