#ifndef KSEARCH_GPU_WORKER_VERIFIER_CUDA_CALL_FLOOR_H_
#define KSEARCH_GPU_WORKER_VERIFIER_CUDA_CALL_FLOOR_H_

#include "absl/status/statusor.h"
#include "gpu_worker/cuda/cuda_device.h"

namespace ksearch {

// The least that any call in a chain takes on this device, one separator included, in microseconds:
// that of a call with one kernel that does nothing, the shortest of some chains. Measured in the
// caller's context, in about 20 ms; the device should have raised its clocks before.
absl::StatusOr<double> MeasureLeastCallMicros(const CudaDevice& device);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_CUDA_CALL_FLOOR_H_
