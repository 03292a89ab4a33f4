#ifndef KSEARCH_GPU_WORKER_DEVICE_NVML_NVML_API_H_
#define KSEARCH_GPU_WORKER_DEVICE_NVML_NVML_API_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// The few types of NVML's binary interface that are used, after NVIDIA's NVML API reference. The
// interface is stable across drivers, and no NVML header is needed to build.
struct NvmlOpaqueDevice;
using NvmlHandle = NvmlOpaqueDevice*;
struct NvmlOpaqueEventSet;
using NvmlEventSet = NvmlOpaqueEventSet*;
using NvmlResult = int;  // nvmlReturn_t

inline constexpr NvmlResult kNvmlSuccess = 0;
inline constexpr NvmlResult kNvmlNotSupported = 3;
inline constexpr NvmlResult kNvmlNoPermission = 4;
inline constexpr NvmlResult kNvmlInsufficientSize = 7;
inline constexpr NvmlResult kNvmlTimeout = 10;
inline constexpr NvmlResult kNvmlGpuIsLost = 15;

struct NvmlMemory {  // nvmlMemory_t
  unsigned long long total, free, used;
};
struct NvmlProcess {  // nvmlProcessInfo_v2_t
  unsigned int pid;
  unsigned long long used_gpu_memory;
  unsigned int gpu_instance_id, compute_instance_id;
};
struct NvmlPci {  // nvmlPciInfo_t
  char legacy_bus_id[16];
  unsigned int domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct NvmlEvent {  // nvmlEventData_t
  NvmlHandle device;
  unsigned long long type, payload;  // for an Xid event, the Xid
  unsigned int gpu_instance_id, compute_instance_id;
};
inline constexpr unsigned long long kNvmlXidEvent = 0x8;
enum NvmlClock : int { kNvmlSmClock = 1, kNvmlMemoryClock = 2 };

// F(field, symbol, parameters): required functions.
#define KSEARCH_NVML_REQUIRED(F)                                                 \
  F(Init, "nvmlInit_v2", ())                                                     \
  F(Shutdown, "nvmlShutdown", ())                                                \
  F(DriverVersion, "nvmlSystemGetDriverVersion", (char*, unsigned int))          \
  F(DeviceCount, "nvmlDeviceGetCount_v2", (unsigned int*))                       \
  F(DeviceByIndex, "nvmlDeviceGetHandleByIndex_v2", (unsigned int, NvmlHandle*)) \
  F(Uuid, "nvmlDeviceGetUUID", (NvmlHandle, char*, unsigned int))                \
  F(Name, "nvmlDeviceGetName", (NvmlHandle, char*, unsigned int))                \
  F(ComputeCapability, "nvmlDeviceGetCudaComputeCapability", (NvmlHandle, int*, int*))
// Functions whose absence or refusal only means that one fact is unknown.
#define KSEARCH_NVML_OPTIONAL(F)                                                                \
  F(CudaVersion, "nvmlSystemGetCudaDriverVersion_v2", (int*))                                   \
  F(MinorNumber, "nvmlDeviceGetMinorNumber", (NvmlHandle, unsigned int*))                       \
  F(PciInfo, "nvmlDeviceGetPciInfo_v3", (NvmlHandle, NvmlPci*))                                 \
  F(MemoryInfo, "nvmlDeviceGetMemoryInfo", (NvmlHandle, NvmlMemory*))                           \
  F(CoreCount, "nvmlDeviceGetNumGpuCores", (NvmlHandle, unsigned int*))                         \
  F(Temperature, "nvmlDeviceGetTemperature", (NvmlHandle, int, unsigned int*))                  \
  F(ClockMhz, "nvmlDeviceGetClockInfo", (NvmlHandle, int, unsigned int*))                       \
  F(MaxClockMhz, "nvmlDeviceGetMaxClockInfo", (NvmlHandle, int, unsigned int*))                 \
  F(ThrottleReasons, "nvmlDeviceGetCurrentClocksThrottleReasons",                               \
    (NvmlHandle, unsigned long long*))                                                          \
  F(PowerMilliwatts, "nvmlDeviceGetPowerUsage", (NvmlHandle, unsigned int*))                    \
  F(PowerLimitMilliwatts, "nvmlDeviceGetEnforcedPowerLimit", (NvmlHandle, unsigned int*))       \
  F(EccErrors, "nvmlDeviceGetTotalEccErrors", (NvmlHandle, int, int, unsigned long long*))      \
  F(MigMode, "nvmlDeviceGetMigMode", (NvmlHandle, unsigned int*, unsigned int*))                \
  F(ComputeProcesses, "nvmlDeviceGetComputeRunningProcesses_v3",                                \
    (NvmlHandle, unsigned int*, NvmlProcess*))                                                  \
  F(EventSetCreate, "nvmlEventSetCreate", (NvmlEventSet*))                                      \
  F(EventSetFree, "nvmlEventSetFree", (NvmlEventSet))                                           \
  F(RegisterEvents, "nvmlDeviceRegisterEvents", (NvmlHandle, unsigned long long, NvmlEventSet)) \
  F(EventSetWait, "nvmlEventSetWait_v2", (NvmlEventSet, NvmlEvent*, unsigned int))

// NVML as a table of functions, found by dlopen: nothing links it. Initialized for the lifetime of
// this object. Immutable, and NVML itself is thread-safe.
class NvmlApi {
 public:
  // NOT_FOUND: no such library (with the loader's message). FAILED_PRECONDITION: it is too old, or
  // does not start because the driver is not loaded or its device nodes are inaccessible.
  static absl::StatusOr<std::shared_ptr<const NvmlApi>> Load(
      absl::string_view library = "libnvidia-ml.so.1");
  ~NvmlApi();
  NvmlApi(const NvmlApi&) = delete;
  NvmlApi& operator=(const NvmlApi&) = delete;

  // Returns OK, or `what` with NVML's message: UNIMPLEMENTED (not supported), PERMISSION_DENIED,
  // DATA_LOSS (the GPU is lost), INTERNAL.
  absl::Status ToStatus(NvmlResult result, absl::string_view what) const;

#define KSEARCH_NVML_FIELD(field, symbol, parameters) NvmlResult(*field) parameters = nullptr;
  KSEARCH_NVML_REQUIRED(KSEARCH_NVML_FIELD)
  KSEARCH_NVML_OPTIONAL(KSEARCH_NVML_FIELD)
#undef KSEARCH_NVML_FIELD
  const char* (*ErrorString)(NvmlResult) = nullptr;

 private:
  NvmlApi() = default;
  bool initialized_ = false;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_NVML_NVML_API_H_
