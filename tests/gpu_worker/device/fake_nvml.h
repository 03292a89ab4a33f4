#ifndef KSEARCH_TESTS_GPU_WORKER_DEVICE_FAKE_NVML_H_
#define KSEARCH_TESTS_GPU_WORKER_DEVICE_FAKE_NVML_H_

#include <cstdint>

namespace ksearch {

// What the library fake_nvml reports; tests access it with dlsym("fake_nvml_state").
struct FakeGpu {
  const char* uuid;
  const char* name;
  int major, minor;
  unsigned temperature = 40;
  unsigned sm_mhz = 1980, memory_mhz = 3201;
  unsigned long long throttle_reasons = 0;
  unsigned long long ecc_errors = 0;
  unsigned processes[4] = {};
  unsigned process_count = 0;
  unsigned long long pending_xid = 0;  // one event, then gone
  unsigned power_milliwatts = 0;       // 0: not supported
  bool mig = false;
  bool lost = false;
};
struct FakeNvmlState {
  int init_result = 0;
  int running = 0;  // nvmlInit without nvmlShutdown
  unsigned count = 0;
  bool gives_events = true;
  FakeGpu gpus[8];
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_WORKER_DEVICE_FAKE_NVML_H_
