#include "coordinator/memory/bottleneck.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "common/work_formula.h"

namespace ksearch {
namespace {

// As in packet/evaluation_packet.cc: a kernel is limited by a rate above this share of its
// peak.
constexpr double kBoundPercent = 60;
// A program this close to its floor is limited by whatever determines the floor.
constexpr double kNearFloor = 0.6;
// Calls shorter than this many empty calls are mostly overhead.
constexpr double kEmptyCalls = 2;
// The program is mostly overhead above this ratio of time outside kernels to time within.
constexpr double kGaps = 1;

bool IsOneOf(const std::string& reason, std::initializer_list<const char*> reasons) {
  return std::any_of(reasons.begin(), reasons.end(),
                     [&](const char* known) { return reason == known; });
}

v1::Bottleneck ByStalls(const v1::KernelProfile& kernel) {
  for (const v1::KernelProfile::Stall& stall : kernel.stalls()) {
    const std::string& reason = stall.reason();
    if (IsOneOf(reason, {"selected", "not_selected", "misc", "drain"})) continue;
    if (IsOneOf(reason, {"barrier", "membar", "sleeping"})) {
      return v1::BOTTLENECK_SYNCHRONIZATION;
    }
    if (IsOneOf(reason, {"long_scoreboard", "lg_throttle", "tex_throttle", "imc_miss"})) {
      return v1::BOTTLENECK_MEMORY_LATENCY;
    }
    if (IsOneOf(reason, {"short_scoreboard", "mio_throttle"})) {
      return v1::BOTTLENECK_SHARED_MEMORY;
    }
    return v1::BOTTLENECK_INSTRUCTIONS;
  }
  return v1::BOTTLENECK_UNSPECIFIED;
}

const v1::KernelFacts* BuiltKernel(const v1::BuildReport& build, const std::string& name) {
  for (const v1::KernelFacts& kernel : build.kernels()) {
    if (kernel.name() == name) return &kernel;
  }
  return nullptr;
}

// By the kernel that takes most time, and the time between kernels.
v1::Bottleneck ByProfile(const v1::JobResult& result) {
  const v1::Profile& profile = result.profile();
  double kernels_us = 0;
  for (const v1::KernelProfile& kernel : profile.kernels()) {
    kernels_us += kernel.duration_us() * kernel.launches();
  }
  if (profile.calls() > 0 && kernels_us > 0) {
    for (const v1::WorkloadResult& workload : result.workloads()) {
      if (workload.workload_uuid() != profile.workload_uuid()) continue;
      const double call_us = kernels_us / profile.calls();
      if (workload.candidate().median_us() > (1 + kGaps) * call_us) {
        return v1::BOTTLENECK_LAUNCH_OVERHEAD;
      }
    }
  }
  const v1::KernelProfile& top = profile.kernels(0);
  const double compute = std::max(top.sm_percent(), top.tensor_percent());
  const double memory = std::max(top.memory_percent(), top.dram_percent());
  if (std::max(compute, memory) >= kBoundPercent) {
    if (compute > memory) return v1::BOTTLENECK_COMPUTE;
    return top.dram_percent() >= kBoundPercent ? v1::BOTTLENECK_MEMORY_BANDWIDTH
                                               : v1::BOTTLENECK_SHARED_MEMORY;
  }
  if (top.has_waves() && top.waves() < 1) return v1::BOTTLENECK_PARALLELISM;
  const v1::KernelFacts* built = BuiltKernel(result.build(), top.name());
  if (built != nullptr && (built->spill_store_bytes() > 0 || built->spill_load_bytes() > 0)) {
    return v1::BOTTLENECK_REGISTERS;
  }
  return ByStalls(top);
}

// What determines the floor of a workload: the larger of two times, if both are known.
v1::Bottleneck FloorIsOf(const v1::Task& task, const v1::Workload& workload,
                         const v1::DevicePeaks& peaks) {
  const double bytes_us =
      peaks.memory_bytes_per_second() > 0
          ? WorkOf(task.work().bytes(), workload) * 1e6 / peaks.memory_bytes_per_second()
          : 0;
  const double flops = std::max(peaks.half_flops_per_second(), peaks.single_flops_per_second());
  const double flops_us = flops > 0 ? WorkOf(task.work().flops(), workload) * 1e6 / flops : 0;
  if (bytes_us <= 0 && flops_us <= 0) return v1::BOTTLENECK_UNSPECIFIED;
  return bytes_us >= flops_us ? v1::BOTTLENECK_MEMORY_BANDWIDTH : v1::BOTTLENECK_COMPUTE;
}

// By times alone. `samples`: those of the program in question.
v1::Bottleneck ByTimes(const v1::Task& task, const v1::JobResult& result,
                       const v1::Samples& (v1::WorkloadResult::*samples)() const) {
  double slowest_us = 0;
  const v1::WorkloadResult* slowest = nullptr;
  double most_us = 0;
  for (const v1::WorkloadResult& workload : result.workloads()) {
    const double median_us = (workload.*samples)().median_us();
    if (!(median_us > 0)) continue;
    most_us = std::max(most_us, median_us);
    if (median_us > slowest_us) {
      slowest_us = median_us;
      slowest = &workload;
    }
  }
  if (slowest == nullptr) return v1::BOTTLENECK_UNSPECIFIED;
  if (result.peaks().empty_call_us() > 0 &&
      most_us < kEmptyCalls * result.peaks().empty_call_us()) {
    return v1::BOTTLENECK_LAUNCH_OVERHEAD;
  }
  if (!(slowest->floor_us() > 0) || slowest->floor_us() < kNearFloor * slowest_us) {
    return v1::BOTTLENECK_UNSPECIFIED;
  }
  for (const v1::Workload& workload : task.workloads()) {
    if (workload.uuid() == slowest->workload_uuid()) {
      return FloorIsOf(task, workload, result.peaks());
    }
  }
  return v1::BOTTLENECK_UNSPECIFIED;
}

}  // namespace

v1::Bottleneck BottleneckOf(const v1::Task& task, const v1::JobResult& result) {
  if (result.profile().kernels_size() > 0) return ByProfile(result);
  const bool host_bound =
      std::any_of(result.workloads().begin(), result.workloads().end(),
                  [](const v1::WorkloadResult& workload) { return workload.host_bound(); });
  if (host_bound) return v1::BOTTLENECK_LAUNCH_OVERHEAD;
  return ByTimes(task, result, &v1::WorkloadResult::candidate);
}

v1::Bottleneck BaselineBottleneckOf(const v1::Task& task, const v1::JobResult& result) {
  return ByTimes(task, result, &v1::WorkloadResult::baseline);
}

}  // namespace ksearch
