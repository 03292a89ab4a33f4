#ifndef KSEARCH_GPU_WORKER_DEVICE_CPU_ARCHITECTURE_H_
#define KSEARCH_GPU_WORKER_DEVICE_CPU_ARCHITECTURE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ksearch {

// Facts about the first processor from /proc/cpuinfo.
struct CpuModel {
  std::string name;  // "model name"; empty if the text has none
  // The highest x86-64 psABI level whose requirements are all met, and extensions beyond it that
  // matter for kernels: "x86-64-v4+avx512_bf16". On other machines, `machine` (uname -m) itself.
  std::string architecture;
};
CpuModel ParseCpuInfo(absl::string_view cpuinfo, absl::string_view machine);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_CPU_ARCHITECTURE_H_
