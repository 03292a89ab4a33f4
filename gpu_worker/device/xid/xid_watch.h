#ifndef KSEARCH_GPU_WORKER_DEVICE_XID_XID_WATCH_H_
#define KSEARCH_GPU_WORKER_DEVICE_XID_XID_WATCH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu_worker/device/nvml/nvml_gpu.h"
#include "gpu_worker/device/xid/kernel_log.h"

namespace ksearch {

// The Xids of one GPU from now on: by NVML's events; if those are refused (containers), from the
// kernel's log; otherwise none. Not thread-safe.
class XidWatch {
 public:
  // `gpu`: absent without NVML. `log`: null if it cannot be read.
  XidWatch(std::optional<NvmlGpu> gpu, std::shared_ptr<KernelLog> log);
  ~XidWatch();
  XidWatch(const XidWatch&) = delete;
  XidWatch& operator=(const XidWatch&) = delete;

  // Returns those since the last call without waiting.
  std::vector<uint64_t> Take();
  // "NVML events", "the kernel's log" or "nothing".
  const std::string& source() const { return source_; }

 private:
  const std::optional<NvmlGpu> gpu_;
  const std::shared_ptr<KernelLog> log_;
  std::optional<PciAddress> address_;
  NvmlEventSet events_ = nullptr;
  std::string source_ = "nothing";
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_XID_XID_WATCH_H_
