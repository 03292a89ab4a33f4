#ifndef KSEARCH_GPU_WORKER_VERIFIER_CUDA_PEAK_MEASURED_PEAK_H_
#define KSEARCH_GPU_WORKER_VERIFIER_CUDA_PEAK_MEASURED_PEAK_H_

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/cuda/verifier_device.h"

namespace ksearch {

// The rate that matrix instructions reach when they wait for nothing.
struct MeasuredRate {
  double operations_per_clock = 0;   // of the fastest multiprocessor; whatever the clock was
  double operations_per_second = 0;  // of the whole device, at the clocks of the moment
};
struct MeasuredPeak {
  MeasuredRate halves;  // bf16
  MeasuredRate bytes;   // e4m3
};

// Uses wgmma where the device has it, else mma.sync, on random numbers in shared memory or
// registers. Takes 15 to 30 ms. Non-OK if the device failed.
absl::StatusOr<MeasuredPeak> MeasurePeak(VerifierDevice* device);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_CUDA_PEAK_MEASURED_PEAK_H_
