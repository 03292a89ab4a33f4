#ifndef KSEARCH_GPU_WORKER_VERIFIER_CUDA_CALL_FLOOR_H_
#define KSEARCH_GPU_WORKER_VERIFIER_CUDA_CALL_FLOOR_H_

#include "absl/status/statusor.h"
#include "gpu_worker/cuda/cuda_device.h"

namespace ksearch {

// The shortest time, in microseconds, that any call in a chain can take on this device, including
// one separator: the time of a call with one empty kernel, minimum over a few chains. Measured in
// the caller's context, in about 20 ms. The device should already run at its full clocks.
absl::StatusOr<double> MeasureLeastCallMicros(const CudaDevice& device);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_CUDA_CALL_FLOOR_H_
