#ifndef KSEARCH_GPU_WORKER_VERIFIER_CUDA_VERIFIER_DEVICE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_CUDA_VERIFIER_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/cuda/cuda_device.h"
#include "gpu_worker/cuda/handles.h"
#include "gpu_worker/verifier/cuda/device_tables.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "proto/task.pb.h"

namespace ksearch {

// The verifier's GPU: its context, one stream, the trusted kernels and room for what they find. The
// first failure of the device is kept; after it nothing is launched any more and results are
// arbitrary, which health() tells. For the thread that opened it.
class VerifierDevice {
 public:
  // NOT_FOUND: no driver or no such GPU; FAILED_PRECONDITION: one that cannot do the work;
  // RESOURCE_EXHAUSTED: not even the memory for this. The messages say what to do.
  static absl::StatusOr<std::shared_ptr<VerifierDevice>> Open(absl::string_view gpu_uuid);
  VerifierDevice(const VerifierDevice&) = delete;
  VerifierDevice& operator=(const VerifierDevice&) = delete;

  const CudaDevice& device() const { return *device_; }
  const DriverApi& api() const { return device_->api(); }
  CUstream stream() const { return stream_.get(); }
  absl::Status health() const { return health_; }

  // Keeps the first failure. False if there is one.
  bool Keep(CUresult result, absl::string_view doing);
  // Everything launched so far is done.
  bool Synchronize();

  enum class Kernel { kDraw, kPoison, kGuards, kCollect, kFingerprint, kCompare, kCopy };
  // Launches on stream(); `arguments` point at the kernel's parameters. x blocks for `chunks`
  // chunks of work, at most as many as keep the device busy; `y` as the kernel wants it.
  void Launch(Kernel kernel, int64_t chunks, int y, std::vector<void*> arguments,
              int threads = device::kThreads);
  // Copies through page-locked memory. ToDevice returns once `bytes` may change again.
  void ToDevice(CUdeviceptr to, const void* from, int64_t bytes);
  // `write` fills page-locked memory of `bytes` bytes, which is then on its way.
  void ToDevice(CUdeviceptr to, int64_t bytes, const std::function<void(std::byte*)>& write);
  // What is at `from` when everything launched is done: valid until the next call of this object.
  // Null once the device failed.
  const std::byte* FromDevice(CUdeviceptr from, int64_t bytes);

  // Copies within the device, behind everything launched so far.
  void CopyWithin(CUdeviceptr to, CUdeviceptr from, int64_t bytes);
  // Whether two places hold the same bytes. False once the device failed.
  bool IsSame(CUdeviceptr one, CUdeviceptr other, int64_t bytes);

  // `count` findings, all kNothing, for a kernel to lower.
  CUdeviceptr FreshFindings(int64_t count);

  TensorComparison Compare(v1::DType dtype, CUdeviceptr got, CUdeviceptr oracle, int64_t elements,
                           const v1::Tolerance& tolerance, const v1::SuiteRule& suite_rule);

  // Reads and writes more than the L2 cache holds, and takes away what was marked to stay in it.
  void ClearCache();

  // Bytes per second, read and written, of a copy within the device: the best of a few.
  absl::StatusOr<double> MeasureCopyBandwidth();

 private:
  explicit VerifierDevice(std::shared_ptr<const CudaDevice> device) : device_(std::move(device)) {}
  absl::Status Prepare();
  // Page-locked memory of at least `bytes` bytes that no copy uses; null once the device failed.
  std::byte* Stage(int64_t bytes);
  int MaxBlocks() const { return device_->multiprocessors() * 16; }

  const std::shared_ptr<const CudaDevice> device_;
  CudaModule module_;
  std::vector<CUfunction> kernels_;  // by Kernel
  CudaStream stream_;
  CudaBlock findings_;
  int64_t findings_count_ = 0;
  CudaBlock partials_;
  CudaBlock sweep_;  // twice the L2 cache, in two halves
  int64_t sweep_half_ = 0;
  PinnedBlock stage_;
  int64_t stage_bytes_ = 0;
  int64_t staged_ = 0;
  absl::Status health_;
};

// How the trusted kernels call a type.
device::Kind DeviceKind(v1::DType dtype);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_CUDA_VERIFIER_DEVICE_H_
