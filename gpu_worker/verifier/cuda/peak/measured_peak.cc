#include "gpu_worker/verifier/cuda/peak/measured_peak.h"

#include <algorithm>
#include <cstring>

#include "common/status_macros.h"
#include "gpu_worker/cuda/cuda_error.h"
#include "gpu_worker/cuda/handles.h"

// peak_kernels.cu, compiled.
extern "C" const unsigned long long ksearch_peak_kernels_image[];

namespace ksearch {
namespace {

constexpr unsigned int kThreads = 256;  // as in peak_kernels.cu
// About a millisecond on an H200; during the first launches the device is still raising its clocks.
constexpr int kRounds = 2000;
constexpr int kLaunches = 8;

struct BlockReport {  // what a block writes
  uint64_t clocks;
  uint64_t operations;
};

absl::StatusOr<MeasuredRate> Measure(VerifierDevice* device, const CudaModule& module,
                                     const char* kernel) {
  const DriverApi& api = device->api();
  ASSIGN_OR_RETURN(const CUfunction function, FindCudaFunction(api, module, kernel));
  const int blocks = device->device().multiprocessors();
  const int64_t bytes = blocks * static_cast<int64_t>(sizeof(BlockReport));
  ASSIGN_OR_RETURN(const CudaBlock reports, AllocateCudaBlock(api, bytes));
  ASSIGN_OR_RETURN(const CudaEvent begin, MakeCudaEvent(api));
  ASSIGN_OR_RETURN(const CudaEvent end, MakeCudaEvent(api));
  MeasuredRate best;
  for (int i = 0; i < kLaunches; ++i) {
    int rounds = kRounds;
    CUdeviceptr report = reports.get();
    void* arguments[] = {&rounds, &report};
    RETURN_IF_CUDA_ERROR(api, api.cuEventRecord(begin.get(), device->stream()), "record an event");
    RETURN_IF_CUDA_ERROR(
        api,
        api.cuLaunchKernel(function, static_cast<unsigned int>(blocks), 1, 1, kThreads, 1, 1, 0,
                           device->stream(), arguments, nullptr),
        "launch a kernel that measures the peak");
    RETURN_IF_CUDA_ERROR(api, api.cuEventRecord(end.get(), device->stream()), "record an event");
    const std::byte* const found = device->FromDevice(reports.get(), bytes);
    if (found == nullptr) return device->health();
    float milliseconds = 0;
    RETURN_IF_CUDA_ERROR(api, api.cuEventElapsedTime(&milliseconds, begin.get(), end.get()),
                         "read an event");
    double operations = 0;
    for (int block = 0; block < blocks; ++block) {
      BlockReport one;
      std::memcpy(&one, found + block * static_cast<int64_t>(sizeof one), sizeof one);
      if (one.clocks == 0) continue;
      operations += static_cast<double>(one.operations);
      best.operations_per_clock =
          std::max(best.operations_per_clock,
                   static_cast<double>(one.operations) / static_cast<double>(one.clocks));
    }
    if (milliseconds > 0) {
      best.operations_per_second =
          std::max(best.operations_per_second, operations / milliseconds * 1e3);
    }
  }
  return best;
}

}  // namespace

absl::StatusOr<MeasuredPeak> MeasurePeak(VerifierDevice* device) {
  ASSIGN_OR_RETURN(const CudaModule module,
                   LoadCudaModule(device->api(), ksearch_peak_kernels_image));
  MeasuredPeak peak;
  ASSIGN_OR_RETURN(peak.halves, Measure(device, module, "ksearch_peak_halves"));
  ASSIGN_OR_RETURN(peak.bytes, Measure(device, module, "ksearch_peak_bytes"));
  return peak;
}

}  // namespace ksearch
