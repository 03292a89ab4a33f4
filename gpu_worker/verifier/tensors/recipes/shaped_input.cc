#include "gpu_worker/verifier/tensors/recipes/shaped_input.h"

#include "absl/strings/str_cat.h"

namespace ksearch {

uint64_t ShapedInput::Key(absl::string_view purpose) const {
  return DeriveKey(seed, workload.uuid(), tensor.name(), purpose);
}

absl::StatusOr<int64_t> AxisValueOf(const v1::Definition& definition, const v1::Workload& workload,
                                    const std::string& name) {
  for (const v1::Axis& axis : definition.axes()) {
    if (axis.name() == name && axis.has_const_value()) return axis.const_value();
  }
  for (const v1::AxisValue& axis : workload.axes()) {
    if (axis.axis() == name) return axis.value();
  }
  return absl::InvalidArgumentError(absl::StrCat("axis '", name, "' has no value"));
}

bool IsIndexType(v1::DType dtype) { return dtype == v1::DTYPE_INT32 || dtype == v1::DTYPE_INT64; }

}  // namespace ksearch
