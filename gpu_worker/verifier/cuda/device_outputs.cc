#include "gpu_worker/verifier/cuda/device_outputs.h"

#include <algorithm>
#include <cstring>

#include "common/status_macros.h"

namespace ksearch {

OutputLayout::OutputLayout(const WorkloadCase& workload) {
  for (const TensorArgument& tensor : workload.tensors()) {
    if (!tensor.output) continue;
    offsets.push_back(bytes);
    output_bytes.push_back(tensor.bytes);
    bytes += (tensor.bytes + 255) / 256 * 256;
  }
}

absl::StatusOr<std::shared_ptr<const SavedOutputs>> DeviceOutputs::Copy(
    std::shared_ptr<VerifierDevice> device, const WorkloadCase& workload, CUdeviceptr source) {
  RETURN_IF_ERROR(device->health());
  const DriverApi& api = device->api();
  OutputLayout layout(workload);
  ASSIGN_OR_RETURN(CudaBlock memory, AllocateCudaBlock(api, std::max<int64_t>(layout.bytes, 1)));
  device->Keep(api.cuMemcpyDtoDAsync(memory.get(), source, static_cast<size_t>(layout.bytes),
                                     device->stream()),
               "keep outputs");
  device->Synchronize();
  RETURN_IF_ERROR(device->health());
  return std::shared_ptr<const SavedOutputs>(
      new DeviceOutputs(std::move(device), std::move(layout), std::move(memory)));
}

DeviceOutputs::~DeviceOutputs() {
  device_->Keep(device_->api().cuMemsetD8Async(memory_.get(), 0, static_cast<size_t>(layout_.bytes),
                                               device_->stream()),
                "overwrite outputs");
  device_->Synchronize();
}

std::vector<TensorComparison> DeviceOutputs::CompareWith(const WorkloadCase& workload,
                                                         const SavedOutputs& oracle) const {
  return static_cast<const DeviceOutputs&>(oracle).CompareAsOracle(workload, memory_.get());
}

absl::StatusOr<std::vector<std::vector<std::byte>>> DeviceOutputs::ToHost() const {
  std::vector<std::vector<std::byte>> outputs;
  for (size_t i = 0; i < layout_.offsets.size(); ++i) {
    const auto bytes = static_cast<size_t>(layout_.output_bytes[i]);
    std::vector<std::byte>& output = outputs.emplace_back(bytes);
    if (bytes == 0) continue;
    device_->Keep(device_->api().cuMemcpyDtoHAsync(
                      output.data(), memory_.get() + static_cast<CUdeviceptr>(layout_.offsets[i]),
                      bytes, device_->stream()),
                  "read outputs");
  }
  device_->Synchronize();
  RETURN_IF_ERROR(device_->health());
  return outputs;
}

absl::Status DeviceOutputs::Read(size_t index, std::byte* out) const {
  const int64_t bytes = layout_.output_bytes[index];
  if (bytes == 0) return absl::OkStatus();
  const std::byte* const found = device_->FromDevice(on_device(index), bytes);
  if (found == nullptr) return device_->health();
  std::memcpy(out, found, static_cast<size_t>(bytes));
  return absl::OkStatus();
}

bool DeviceOutputs::Equals(const SavedOutputs& other) const {
  for (size_t i = 0; i < layout_.offsets.size(); ++i) {
    if (!device_->IsSame(on_device(i), other.on_device(i), layout_.output_bytes[i])) return false;
  }
  return true;
}

std::vector<TensorComparison> DeviceOutputs::CompareAsOracle(const WorkloadCase& workload,
                                                             CUdeviceptr got) const {
  std::vector<TensorComparison> comparisons;
  for (size_t i = 0; i < layout_.offsets.size(); ++i) {
    const TensorArgument& tensor = workload.tensors()[static_cast<size_t>(workload.inputs()) + i];
    const auto offset = static_cast<CUdeviceptr>(layout_.offsets[i]);
    comparisons.push_back(device_->Compare(tensor.dtype, got + offset, memory_.get() + offset,
                                           tensor.elements, workload.tolerance(),
                                           workload.suite_rule()));
  }
  return comparisons;
}

}  // namespace ksearch
