#ifndef KSEARCH_GPU_WORKER_CUDA_SEPARATORS_H_
#define KSEARCH_GPU_WORKER_CUDA_SEPARATORS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/cuda/cuda_device.h"
#include "gpu_worker/cuda/handles.h"
#include "gpu_worker/cuda/stamp_seal.h"

namespace ksearch {

// Kernels that separate calls. A separator begins when all work before it on its stream, or in its
// graph, is complete, and the work after it begins when it is complete. While it runs it has every
// multiprocessor to itself, so that it also waits for kernels of other streams. It records the
// device's time (%globaltimer, nanoseconds; steps of 32 on an H200) in one of kMaxStamps places.
// The places are in memory of this process, where a program's kernels can write, so times are
// sealed there: only code that can read this process's memory on the host, or the arguments of
// other kernels, can forge one. Thread-compatible; the device must outlive it.
class Separators {
 public:
  static constexpr int kMaxStamps = 1024;

  // Fails if there is no memory, or the device has no cooperative launches.
  static absl::StatusOr<Separators> Create(const CudaDevice& device);

  // Draws new seals for the first `count` stamps of separators that are launched.
  void RenewSeals(int count);
  CUresult Launch(CUstream stream, int stamp) const;
  // Launches a separator that occupies the device until Release: what is queued behind it, and on
  // other streams, begins without waiting for the host. It ends by itself after a few milliseconds,
  // because a program may wait for the device within a call. One at a time.
  CUresult Hold(CUstream stream, int stamp);
  // Ends the separator. Returns true if it had not ended by itself.
  bool Release();

  // `after`: null, or the one node that it depends on completely.
  CUresult AddTo(CUgraph graph, const CUgraphNode* after, int stamp, const StampSeal& seal,
                 CUgraphNode* node) const;

  // Launches an empty kernel: the shortest possible call.
  CUresult LaunchNothing(CUstream stream) const;
  CUresult AddNothingTo(CUgraph graph) const;

  // Reads the first `count` stamps of separators that were launched, once the work that records
  // them is complete.
  CUresult ReadStamps(int count, std::vector<uint64_t>* stamps) const;
  // The same of a graph's separators, which record stamps 0, 1, 2... under these seals.
  CUresult ReadStamps(const std::vector<StampSeal>& seals, std::vector<uint64_t>* stamps) const;

 private:
  // The arguments of a separator, in the kernel's order.
  struct Arguments {
    CUdeviceptr arrivals;
    CUdeviceptr stamp;
    unsigned long long factor;
    unsigned long long offset;
    CUdeviceptr release;  // null: it holds nothing
    unsigned long long limit_ns;
    CUdeviceptr expired;
    void* pointers[7];
  };

  Separators(const CudaDevice& device, CudaModule module, CudaBlock memory, PinnedBlock flags)
      : device_(&device),
        module_(std::move(module)),
        memory_(std::move(memory)),
        flags_(std::move(flags)),
        seals_(DrawStampSeals(kMaxStamps)) {}
  void Fill(int stamp, const StampSeal& seal, bool hold, Arguments* arguments) const;
  CUresult LaunchOne(CUstream stream, int stamp, bool hold) const;
  volatile unsigned int* flag(int i) const {
    return static_cast<volatile unsigned int*>(flags_.get()) + i;
  }

  const CudaDevice* device_;
  CudaModule module_;
  CudaBlock memory_;              // arrivals, then the stamps
  PinnedBlock flags_;             // [0] release, [1] expired
  std::vector<StampSeal> seals_;  // of separators that are launched, by stamp
  CUdeviceptr device_flags_ = 0;
  CUfunction separator_ = nullptr;
  CUfunction nothing_ = nullptr;
  unsigned int blocks_ = 0;
  unsigned int shared_bytes_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_CUDA_SEPARATORS_H_
