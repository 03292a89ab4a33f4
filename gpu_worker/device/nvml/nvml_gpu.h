#ifndef KSEARCH_GPU_WORKER_DEVICE_NVML_NVML_GPU_H_
#define KSEARCH_GPU_WORKER_DEVICE_NVML_NVML_GPU_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/device/nvml/nvml_api.h"

namespace ksearch {

// The GPU's present clocks. Reading takes about a millisecond.
struct DeviceClocks {
  int sm_mhz = 0;
  int mem_mhz = 0;
  // NVML's clocks event reasons: 0x4 software power cap, 0x8 hardware slowdown, 0x20 software
  // thermal, 0x40 hardware thermal, 0x80 power brake; the others do not indicate a problem.
  uint64_t throttle_reason_bits = 0;
};
inline constexpr uint64_t kPowerCapReason = 0x4;
// A sample taken while one of these is set must be discarded.
inline constexpr uint64_t kSlowdownReasons = 0x8 | 0x20 | 0x40 | 0x80;

// One GPU through NVML: without a context and without an effect on the device. Facts that the
// driver does not give are absent. Thread-safe.
class NvmlGpu {
 public:
  // A GPU that NVML lists but that does not respond, for example one that has fallen off the bus.
  struct Unreachable {
    int index = 0;
    absl::Status why;
  };
  // Returns every responding GPU of this machine or container in NVML's (nvidia-smi's) order; the
  // others are returned in `unreachable` if given.
  static absl::StatusOr<std::vector<NvmlGpu>> List(std::shared_ptr<const NvmlApi> api,
                                                   std::vector<Unreachable>* unreachable = nullptr);
  // Returns the GPU with this UUID; NOT_FOUND names the existing ones.
  static absl::StatusOr<NvmlGpu> Find(std::shared_ptr<const NvmlApi> api, absl::string_view uuid);

  const std::string& uuid() const { return uuid_; }
  const std::string& name() const { return name_; }
  int index() const { return index_; }
  int compute_major() const { return major_; }
  int compute_minor() const { return minor_; }
  // N of /dev/nvidiaN.
  std::optional<int> node_number() const;
  // "00000000:0a:00.0"; empty if unknown.
  std::string pci_address() const;
  std::optional<int64_t> memory_bytes() const;
  std::optional<int> multiprocessors() const;

  absl::StatusOr<DeviceClocks> Clocks() const;
  // The highest clock of the SMs.
  absl::StatusOr<int> MaxSmMhz() const;
  absl::StatusOr<int> TemperatureCelsius() const;
  absl::StatusOr<int> PowerMilliwatts() const;
  absl::StatusOr<int> PowerLimitMilliwatts() const;
  // Uncorrected memory errors since the driver was loaded.
  absl::StatusOr<int64_t> UncorrectedEccErrors() const;
  absl::StatusOr<bool> MigEnabled() const;
  // Returns the process ids, in this machine's numbering, that have a compute context on the GPU.
  // In a container, processes outside of it may be missing.
  absl::StatusOr<std::vector<int>> ComputeProcesses() const;

  const NvmlApi& api() const { return *api_; }
  NvmlHandle handle() const { return handle_; }

 private:
  explicit NvmlGpu(std::shared_ptr<const NvmlApi> api) : api_(std::move(api)) {}
  absl::Status Identify(int index);
  absl::StatusOr<int> Number(NvmlResult (*function)(NvmlHandle, unsigned int*),
                             absl::string_view what) const;

  std::shared_ptr<const NvmlApi> api_;
  NvmlHandle handle_ = nullptr;
  std::string uuid_;
  std::string name_;
  int index_ = 0;
  int major_ = 0, minor_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_NVML_NVML_GPU_H_
