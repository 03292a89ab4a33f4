#include "gpu_worker/verifier/host/host_outputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gpu_worker/verifier/tensors/element.h"
#include "gpu_worker/verifier/tensors/suite_verdict.h"

namespace ksearch {
namespace {

constexpr int64_t kStretch = 2048;  // elements decoded at a time: two arrays stay in L1

}  // namespace

TensorComparison CompareTensor(const WorkloadCase& workload, const TensorArgument& tensor,
                               const std::byte* got, const std::byte* oracle) {
  const v1::Tolerance& tolerance = workload.tolerance();
  const device::ElementRule rule = ElementRuleOf(workload.suite_rule(), tensor.dtype);
  TensorComparison result;
  const int64_t element_bytes = tensor.elements == 0 ? 0 : tensor.bytes / tensor.elements;
  double a[kStretch], b[kStretch];
  for (int64_t first = 0; first < tensor.elements; first += kStretch) {
    const int64_t count = std::min(kStretch, tensor.elements - first);
    DecodeElements(tensor.dtype, got + first * element_bytes, count, a);
    DecodeElements(tensor.dtype, oracle + first * element_bytes, count, b);
    for (int64_t i = 0; i < count; ++i) {
      bool wrong;
      if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
        wrong = !(a[i] == b[i]);  // equal infinities are right; NaN never is
        if (std::isfinite(b[i])) ++result.wrong_non_finite;
      } else {
        const double abs = std::fabs(a[i] - b[i]);
        const double rel = abs / (std::fabs(b[i]) + 1e-8);
        wrong = tolerance.sum_of_bounds()
                    ? abs > tolerance.atol() + tolerance.rtol() * std::fabs(b[i])
                    : abs > tolerance.atol() && rel > tolerance.rtol();
        result.max_abs = std::max(result.max_abs, abs);
        result.max_rel = std::max(result.max_rel, rel);
        result.error_squares += abs * abs;
        result.oracle_squares += b[i] * b[i];
      }
      if (wrong && result.wrong++ == 0) {
        result.first_wrong = first + i;
        result.first_got = a[i];
        result.first_expected = b[i];
      }
    }
    if (rule.rule == device::Rule::kNone) continue;
    for (int64_t i = 0; i < count; ++i) {
      if (!std::isfinite(a[i])) ++result.non_finite;
      if (device::IsWrongBy(rule, a[i], b[i])) ++result.wrong_by_suite;
    }
  }
  return result;
}

int64_t HostOutputs::bytes() const {
  int64_t bytes = 0;
  for (const auto& output : outputs_) bytes += static_cast<int64_t>(output.size());
  return bytes;
}

absl::Status HostOutputs::Read(size_t index, std::byte* out) const {
  const std::vector<std::byte>& output = outputs_[index];
  if (!output.empty()) std::memcpy(out, output.data(), output.size());
  return absl::OkStatus();
}

bool HostOutputs::Equals(const SavedOutputs& other) const {
  return outputs_ == static_cast<const HostOutputs&>(other).outputs_;
}

std::vector<TensorComparison> HostOutputs::CompareWith(const WorkloadCase& workload,
                                                       const SavedOutputs& oracle) const {
  const auto& right = static_cast<const HostOutputs&>(oracle);
  std::vector<TensorComparison> comparisons;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TensorArgument& tensor = workload.tensors()[static_cast<size_t>(workload.inputs()) + i];
    comparisons.push_back(
        CompareTensor(workload, tensor, outputs_[i].data(), right.outputs_[i].data()));
  }
  return comparisons;
}

}  // namespace ksearch
