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

// The verifier's GPU: its context, one stream, the trusted kernels, and memory for their findings.
// The first failure of the device is kept and reported by health(); after it nothing more is
// launched, and results are arbitrary. To be used only by the thread that opened it.
class VerifierDevice {
 public:
  // NOT_FOUND: there is no driver or no such GPU. FAILED_PRECONDITION: the GPU cannot do the work.
  // RESOURCE_EXHAUSTED: not even this object's memory could be allocated. The messages say what to
  // do.
  static absl::StatusOr<std::shared_ptr<VerifierDevice>> Open(absl::string_view gpu_uuid);
  VerifierDevice(const VerifierDevice&) = delete;
  VerifierDevice& operator=(const VerifierDevice&) = delete;

  const CudaDevice& device() const { return *device_; }
  const std::shared_ptr<const CudaDevice>& shared_device() const { return device_; }
  const DriverApi& api() const { return device_->api(); }
  CUstream stream() const { return stream_.get(); }
  absl::Status health() const { return health_; }

  // Records a failure unless there is an earlier one. Returns false if the device has failed.
  bool Keep(CUresult result, absl::string_view doing);
  // Waits until everything launched so far is done.
  bool Synchronize();

  enum class Kernel { kDraw, kPoison, kGuards, kCollect, kFingerprint, kCompare, kCopy };
  // Launches on stream(); `arguments` point to the kernel's parameters. The grid's x covers
  // `chunks` chunks of work with at most as many blocks as keep the device busy; its y is `y`.
  void Launch(Kernel kernel, int64_t chunks, int y, std::vector<void*> arguments,
              int threads = device::kThreads);
  // Copies through page-locked memory. ToDevice returns once the source may be modified again.
  void ToDevice(CUdeviceptr to, const void* from, int64_t bytes);
  // `write` fills `bytes` bytes of page-locked memory, which are then copied to `to`.
  void ToDevice(CUdeviceptr to, int64_t bytes, const std::function<void(std::byte*)>& write);
  // The contents of `from` once everything launched is done; valid until the next call on this
  // object. Null once the device has failed.
  const std::byte* FromDevice(CUdeviceptr from, int64_t bytes);

  // Copies within the device, after everything launched so far.
  void CopyWithin(CUdeviceptr to, CUdeviceptr from, int64_t bytes);
  // Returns true if two places hold the same bytes. False once the device has failed.
  bool IsSame(CUdeviceptr one, CUdeviceptr other, int64_t bytes);

  // `count` findings, all kNothing, for a kernel to lower.
  CUdeviceptr FreshFindings(int64_t count);

  TensorComparison Compare(v1::DType dtype, CUdeviceptr got, CUdeviceptr oracle, int64_t elements,
                           const v1::Tolerance& tolerance, const v1::SuiteRule& suite_rule);

  // Evicts everything from the L2 cache, including lines that were marked to persist.
  void ClearCache();

  // The bandwidth of a copy within the device, reads plus writes, in bytes per second; the best of
  // a few copies.
  absl::StatusOr<double> MeasureCopyBandwidth();

 private:
  explicit VerifierDevice(std::shared_ptr<const CudaDevice> device) : device_(std::move(device)) {}
  absl::Status Prepare();
  // At least `bytes` bytes of page-locked memory that no copy is using; null once the device has
  // failed.
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

// The trusted kernels' name for a type.
device::Kind DeviceKind(v1::DType dtype);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_CUDA_VERIFIER_DEVICE_H_
