// A libnvidia-ml.so.1 for tests: the functions that NvmlApi asks for, with NVML's binary interface.
#include "tests/gpu_worker/device/fake_nvml.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "gpu_worker/device/nvml/nvml_api.h"

namespace {

using ksearch::FakeGpu;
using ksearch::kNvmlGpuIsLost;
using ksearch::kNvmlSuccess;
using ksearch::NvmlEvent;
using ksearch::NvmlEventSet;
using ksearch::NvmlHandle;
using ksearch::NvmlMemory;
using ksearch::NvmlProcess;
using ksearch::NvmlResult;

constexpr NvmlResult kInvalidArgument = 2;

ksearch::FakeNvmlState state;

// For programs that load this library as NVML: that many GPUs, all healthy.
struct FromEnvironment {
  FromEnvironment() {
    static constexpr const char* kUuids[] = {
        "GPU-00000000-0000-0000-0000-000000000000", "GPU-00000001-0000-0000-0000-000000000001",
        "GPU-00000002-0000-0000-0000-000000000002", "GPU-00000003-0000-0000-0000-000000000003"};
    const char* const wanted = std::getenv("KSEARCH_FAKE_GPUS");  // NOLINT(concurrency-mt-unsafe)
    if (wanted == nullptr) return;
    state.count = static_cast<unsigned>(std::clamp(std::atoi(wanted), 0, 4));
    for (unsigned i = 0; i < state.count; ++i) {
      state.gpus[i].uuid = kUuids[i];
      state.gpus[i].name = "NVIDIA H200";
      state.gpus[i].major = 9;
    }
  }
} from_environment;

FakeGpu& Gpu(NvmlHandle handle) { return *reinterpret_cast<FakeGpu*>(handle); }

NvmlResult Text(const char* text, char* out, unsigned bytes) {
  if (std::strlen(text) + 1 > bytes) return ksearch::kNvmlInsufficientSize;
  std::strcpy(out, text);
  return kNvmlSuccess;
}

}  // namespace

extern "C" {

ksearch::FakeNvmlState* fake_nvml_state() { return &state; }

NvmlResult nvmlInit_v2() {
  if (state.init_result == kNvmlSuccess) ++state.running;
  return state.init_result;
}
NvmlResult nvmlShutdown() {
  --state.running;
  return kNvmlSuccess;
}
const char* nvmlErrorString(NvmlResult) { return "fake words"; }
NvmlResult nvmlSystemGetDriverVersion(char* out, unsigned bytes) {
  return Text("580.159.04", out, bytes);
}
NvmlResult nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13000;
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetCount_v2(unsigned* count) {
  *count = state.count;
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetHandleByIndex_v2(unsigned index, NvmlHandle* handle) {
  if (index >= state.count) return kInvalidArgument;
  if (state.gpus[index].lost) return kNvmlGpuIsLost;
  *handle = reinterpret_cast<NvmlHandle>(&state.gpus[index]);
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetUUID(NvmlHandle handle, char* out, unsigned bytes) {
  return Text(Gpu(handle).uuid, out, bytes);
}
NvmlResult nvmlDeviceGetName(NvmlHandle handle, char* out, unsigned bytes) {
  return Text(Gpu(handle).name, out, bytes);
}
NvmlResult nvmlDeviceGetCudaComputeCapability(NvmlHandle handle, int* major, int* minor) {
  *major = Gpu(handle).major;
  *minor = Gpu(handle).minor;
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetMinorNumber(NvmlHandle handle, unsigned* number) {
  *number = static_cast<unsigned>(&Gpu(handle) - state.gpus);
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetPciInfo_v3(NvmlHandle handle, ksearch::NvmlPci* pci) {
  *pci = {};
  pci->bus = 0x0a + static_cast<unsigned>(&Gpu(handle) - state.gpus);
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetMemoryInfo(NvmlHandle, NvmlMemory* memory) {
  *memory = {150ull << 30, 149ull << 30, 1ull << 30};
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetNumGpuCores(NvmlHandle, unsigned* cores) {
  *cores = 132 * 128;
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetTemperature(NvmlHandle handle, int, unsigned* celsius) {
  if (Gpu(handle).lost) return kNvmlGpuIsLost;
  *celsius = Gpu(handle).temperature;
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetClockInfo(NvmlHandle handle, int clock, unsigned* mhz) {
  if (Gpu(handle).lost) return kNvmlGpuIsLost;
  *mhz = clock == ksearch::kNvmlSmClock ? Gpu(handle).sm_mhz : Gpu(handle).memory_mhz;
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetMaxClockInfo(NvmlHandle, int, unsigned* mhz) {
  *mhz = 1980;
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetCurrentClocksThrottleReasons(NvmlHandle handle, unsigned long long* bits) {
  *bits = Gpu(handle).throttle_reasons;
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetTotalEccErrors(NvmlHandle handle, int type, int counter,
                                       unsigned long long* count) {
  if (type != 1 || counter != 0) return kInvalidArgument;
  *count = Gpu(handle).ecc_errors;
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetMigMode(NvmlHandle handle, unsigned* current, unsigned* pending) {
  *current = *pending = Gpu(handle).mig ? 1 : 0;
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetComputeRunningProcesses_v3(NvmlHandle handle, unsigned* count,
                                                   NvmlProcess* processes) {
  const FakeGpu& gpu = Gpu(handle);
  if (*count < gpu.process_count) return ksearch::kNvmlInsufficientSize;
  *count = gpu.process_count;
  for (unsigned i = 0; i < gpu.process_count; ++i) processes[i] = {gpu.processes[i], 0, 0, 0};
  return kNvmlSuccess;
}
NvmlResult nvmlEventSetCreate(NvmlEventSet* set) {
  *set = reinterpret_cast<NvmlEventSet>(new NvmlHandle(nullptr));
  return kNvmlSuccess;
}
NvmlResult nvmlEventSetFree(NvmlEventSet set) {
  delete reinterpret_cast<NvmlHandle*>(set);
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceRegisterEvents(NvmlHandle handle, unsigned long long types, NvmlEventSet set) {
  if (types != ksearch::kNvmlXidEvent) return kInvalidArgument;
  if (!state.gives_events) return ksearch::kNvmlNotSupported;
  *reinterpret_cast<NvmlHandle*>(set) = handle;
  return kNvmlSuccess;
}
NvmlResult nvmlEventSetWait_v2(NvmlEventSet set, NvmlEvent* event, unsigned) {
  FakeGpu& gpu = Gpu(*reinterpret_cast<NvmlHandle*>(set));
  if (gpu.pending_xid == 0) return ksearch::kNvmlTimeout;
  *event = {*reinterpret_cast<NvmlHandle*>(set), ksearch::kNvmlXidEvent, gpu.pending_xid, 0, 0};
  gpu.pending_xid = 0;
  return kNvmlSuccess;
}
NvmlResult nvmlDeviceGetPowerUsage(NvmlHandle handle, unsigned* milliwatts) {
  if (Gpu(handle).lost) return kNvmlGpuIsLost;
  if (Gpu(handle).power_milliwatts == 0) return ksearch::kNvmlNotSupported;
  *milliwatts = Gpu(handle).power_milliwatts;
  return kNvmlSuccess;
}
// nvmlDeviceGetEnforcedPowerLimit is missing on purpose: not every driver has every function.
}
