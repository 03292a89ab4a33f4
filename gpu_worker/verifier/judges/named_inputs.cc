#include "gpu_worker/verifier/judges/named_inputs.h"

#include "common/status_macros.h"
#include "gpu_worker/verifier/tensors/element.h"

namespace ksearch {

int FindInput(const WorkloadCase& workload, absl::string_view name) {
  for (int i = 0; i < workload.inputs(); ++i) {
    if (workload.tensors()[static_cast<size_t>(i)].name == name) return i;
  }
  return -1;
}

const v1::TensorView& ViewOf(const WorkloadCase& workload, int tensor) {
  const TensorArgument& argument = workload.tensors()[static_cast<size_t>(tensor)];
  return workload.slots()[static_cast<size_t>(argument.slot)].view();
}

std::vector<std::byte> BytesOf(const WorkloadCase& workload, int tensor, int64_t variant) {
  std::vector<std::byte> bytes(
      static_cast<size_t>(workload.tensors()[static_cast<size_t>(tensor)].bytes));
  workload.generator(tensor).Write(variant, bytes.data());
  return bytes;
}

std::vector<double> NumbersOf(const WorkloadCase& workload, int tensor, int64_t variant) {
  const TensorArgument& argument = workload.tensors()[static_cast<size_t>(tensor)];
  const std::vector<std::byte> bytes = BytesOf(workload, tensor, variant);
  std::vector<double> numbers(static_cast<size_t>(argument.elements));
  DecodeElements(argument.dtype, bytes.data(), argument.elements, numbers.data());
  return numbers;
}

absl::StatusOr<std::vector<int64_t>> WholeNumbersIn(const WorkloadCase& workload,
                                                    const SavedOutputs& outputs) {
  ASSIGN_OR_RETURN(const auto bytes, outputs.ToHost());
  const TensorArgument& output = workload.tensors()[static_cast<size_t>(workload.inputs())];
  std::vector<double> numbers(static_cast<size_t>(output.elements));
  DecodeElements(output.dtype, bytes[0].data(), output.elements, numbers.data());
  return std::vector<int64_t>(numbers.begin(), numbers.end());
}

}  // namespace ksearch
