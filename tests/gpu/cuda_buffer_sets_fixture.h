#ifndef KSEARCH_TESTS_GPU_CUDA_BUFFER_SETS_FIXTURE_H_
#define KSEARCH_TESTS_GPU_CUDA_BUFFER_SETS_FIXTURE_H_

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/textproto.h"
#include "gpu_worker/cuda/cuda_error.h"
#include "gpu_worker/verifier/cuda/cuda_buffer_sets.h"
#include "gpu_worker/verifier/tensors/element.h"

namespace ksearch {

inline constexpr v1::DType kTypes[] = {
    v1::DTYPE_FLOAT32,     v1::DTYPE_FLOAT16, v1::DTYPE_BFLOAT16, v1::DTYPE_FLOAT8_E4M3FN,
    v1::DTYPE_FLOAT8_E5M2, v1::DTYPE_INT64,   v1::DTYPE_INT32,    v1::DTYPE_INT16,
    v1::DTYPE_INT8,        v1::DTYPE_BOOL};
inline constexpr int kTypeCount = 10;
// No multiple of any chunk.
inline constexpr int64_t kOddElements = 100'003;
inline double Milliseconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since)
      .count();
}
// One input and one output of `elements` elements per type: in0.., out0...
inline v1::Task EveryType(int64_t elements, const std::string& recipe = "random {}") {
  v1::Task task;
  task.set_name("every_type");
  task.set_device(v1::DEVICE_CLASS_CUDA);
  task.mutable_tolerance()->set_atol(0.05);
  task.mutable_tolerance()->set_rtol(0.02);
  v1::Definition& definition = *task.mutable_definition();
  definition.set_name("every_type");
  definition.add_axes()->set_name("n");
  v1::Workload& workload = *task.add_workloads();
  workload.set_uuid("w");
  v1::AxisValue& axis = *workload.add_axes();
  axis.set_axis("n");
  axis.set_value(elements);
  for (int i = 0; i < kTypeCount; ++i) {
    v1::TensorSpec& input = *definition.add_inputs();
    input.set_name(absl::StrCat("in", i));
    input.add_shape("n");
    input.set_dtype(kTypes[i]);
    v1::InputRecipe& made = *workload.add_inputs();
    CHECK_OK(ParseTextproto(recipe, "recipe", &made));
    made.set_input(input.name());
    v1::TensorSpec& output = *definition.add_outputs();
    output.set_name(absl::StrCat("out", i));
    output.add_shape("n");
    output.set_dtype(kTypes[i]);
  }
  return task;
}
inline std::shared_ptr<const WorkloadCase> CaseOf(const v1::Task& task, uint64_t seed = 1) {
  return *WorkloadCase::Create(task, task.workloads(0), "sha", Seed{seed, 2});
}
// A shared buffer as a runner has it.
class View {
 public:
  View(const CudaDevice& device, const MapPacket& packet, int buffer)
      : api_(device.api()), offset_(packet.request.buffers(buffer).offset()) {
    const int memory = packet.request.buffers(buffer).memory();
    // Up to the next tensor's guard band, or to the end of the memory.
    const bool last = buffer + 1 == packet.request.buffers_size();
    const int64_t end =
        last ? packet.request.memory_bytes(memory)
             : packet.request.buffers(buffer + 1).offset() - CudaBufferSets::kGuardBytes;
    area_bytes_ = end - (offset_ - CudaBufferSets::kGuardBytes);
    memory_ = *DeviceMemory::Import(device.api(), device.handle(),
                                    packet.fds[static_cast<size_t>(memory)],
                                    packet.request.memory_bytes(memory));
  }
  // Positions count from the tensor's first byte.
  std::vector<std::byte> Read(int64_t position, int64_t bytes) const {
    std::vector<std::byte> out(static_cast<size_t>(bytes));
    CHECK_OK(CudaStatus(api_, api_.cuMemcpyDtoH(out.data(), At(position), out.size()), "read"));
    return out;
  }
  void Write(int64_t position, const std::vector<std::byte>& bytes) const {
    CHECK_OK(
        CudaStatus(api_, api_.cuMemcpyHtoD(At(position), bytes.data(), bytes.size()), "write"));
    // A copy from pageable memory may be on its way still, and this mapping may go.
    CHECK_OK(CudaStatus(api_, api_.cuCtxSynchronize(), "write"));
  }
  void Flip(int64_t position) const {
    std::vector<std::byte> byte = Read(position, 1);
    byte[0] ^= std::byte{1};
    Write(position, byte);
  }
  // Size of the tensor with its guard bands.
  int64_t area_bytes() const { return area_bytes_; }

 private:
  CUdeviceptr At(int64_t position) const {
    return memory_.address() + static_cast<CUdeviceptr>(offset_ + position);
  }
  const DriverApi& api_;
  const int64_t offset_;
  int64_t area_bytes_ = 0;
  DeviceMemory memory_;
};
// Buffers of a task on the first GPU; skips without a driver.
class CudaBufferSetsFixture : public ::testing::Test {
 protected:
  static std::shared_ptr<VerifierDevice>& Opened() {
    static std::shared_ptr<VerifierDevice> opened;
    return opened;
  }
  void SetUp() override {
    if (Opened() == nullptr) {
      const auto made = VerifierDevice::Open("");
      if (absl::IsNotFound(made.status())) GTEST_SKIP() << made.status().message();
      ASSERT_TRUE(made.ok()) << made.status();
      Opened() = *made;
    }
    gpu_ = Opened();
  }
  void TearDown() override {
    if (gpu_ != nullptr) {
      EXPECT_TRUE(gpu_->health().ok()) << gpu_->health();
    }
  }
  static void TearDownTestSuite() { Opened().reset(); }

  void Make(const v1::Task& task, int sets) {
    workload_ = CaseOf(task);
    const auto made = CudaBufferSets::Create(gpu_, workload_, sets);
    ASSERT_TRUE(made.ok()) << made.status();
    buffers_ = *made;
    packets_ = buffers_->Map(sets);
  }
  View Shared(int set, int tensor) const {
    int buffer = set * static_cast<int>(workload_->tensors().size()) + tensor;
    size_t packet = 0;
    while (buffer >= packets_.at(packet).request.buffers_size()) {
      buffer -= packets_[packet++].request.buffers_size();
    }
    return View(gpu_->device(), packets_[packet], buffer);
  }
  const TensorArgument& Tensor(int index) const {
    return workload_->tensors()[static_cast<size_t>(index)];
  }
  CallFindings Findings(int set, uint64_t salt) { return buffers_->Collect({{set, 0}}, salt)[0]; }
  std::vector<double> Values(int set, int tensor) const {
    const TensorArgument& argument = Tensor(tensor);
    const std::vector<std::byte> bytes = Shared(set, tensor).Read(0, argument.bytes);
    std::vector<double> values(static_cast<size_t>(argument.elements));
    DecodeElements(argument.dtype, bytes.data(), argument.elements, values.data());
    return values;
  }

  std::shared_ptr<VerifierDevice> gpu_;
  std::shared_ptr<const WorkloadCase> workload_;
  std::shared_ptr<BufferSets> buffers_;
  std::vector<MapPacket> packets_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_CUDA_BUFFER_SETS_FIXTURE_H_
