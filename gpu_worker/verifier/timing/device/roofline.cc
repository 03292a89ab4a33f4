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

double Micros(const std::string& formula, const absl::flat_hash_map<std::string, int64_t>& axes,
              double per_second) {
  if (formula.empty() || per_second <= 0) return 0;
  const absl::StatusOr<double> work = EvaluateWorkFormula(formula, axes);
  return work.ok() ? std::max(0.0, *work / per_second * 1e6) : 0;
}

// What a kernel of mma.sync alone reaches at least, of an architecture that has nothing faster.
constexpr double kLeastShareOfPeak = 0.8;

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
  const double flops =
      HasByteFloats(task.definition()) ? peaks.byte_flops_per_second : peaks.half_flops_per_second;
  return std::max(Micros(task.work().bytes(), axes, peaks.bytes_per_second),
                  Micros(task.work().flops(), axes, flops));
}

std::string FasterThanFloorText(double call_us, double floor_us) {
  return absl::StrFormat(
      "faster than this device can be: %.2f us a call, but moving the task's bytes and doing its "
      "operations takes at least %.2f us",
      call_us, floor_us);
}

}  // namespace ksearch
