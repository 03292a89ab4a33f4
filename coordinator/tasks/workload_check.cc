#include "coordinator/tasks/workload_check.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/kernel_header.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

// For all tensors of one workload together. More than the memory of any current device.
constexpr int64_t kMaxWorkloadBytes = int64_t{1} << 40;

}  // namespace

absl::Status CheckWorkload(const v1::Definition& definition, const v1::Workload& workload) {
  RETURN_IF_ERROR(KernelArguments(definition, workload).status());
  int64_t total = 0;
  for (const auto* tensors : {&definition.inputs(), &definition.outputs()}) {
    for (const v1::TensorSpec& tensor : *tensors) {
      if (tensor.scalar()) continue;
      ASSIGN_OR_RETURN(const std::vector<int64_t> shape, TensorShape(definition, workload, tensor));
      ASSIGN_OR_RETURN(int64_t bytes, ElementBytes(tensor.dtype()));
      for (const int64_t extent : shape) {
        if (__builtin_mul_overflow(bytes, extent, &bytes)) bytes = kMaxWorkloadBytes + 1;
        if (bytes > kMaxWorkloadBytes) break;
      }
      total += bytes;
      if (total > kMaxWorkloadBytes) {
        return absl::InvalidArgumentError(absl::StrCat("workload ", workload.uuid(), ": '",
                                                       tensor.name(),
                                                       "' makes its buffers larger than 1 TiB"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace ksearch
