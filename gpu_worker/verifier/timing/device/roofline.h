#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_ROOFLINE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_ROOFLINE_H_

#include <cstdint>
#include <string>

#include "gpu_worker/verifier/host/host_peaks.h"
#include "proto/task.pb.h"

namespace ksearch {

// What a device can do at best. 0: unknown.
struct DevicePeaks {
  double bytes_per_second = 0;  // of its memory, measured; of a CPU that of its first caches
  // Dense tensor operations on 16-bit and on 8-bit floats: PeakPerClock times the number of
  // multiprocessors times the highest clock, which no program exceeds.
  double half_flops_per_second = 0;
  double byte_flops_per_second = 0;
  // CPU. On numbers of 32 bits and more.
  double single_flops_per_second = 0;
  // CPU. Applies to what exceeds the first `cached_bytes` bytes of a call.
  double memory_bytes_per_second = 0;
  int64_t cached_bytes = 0;
  // GPU. For a call in a chain that does nothing, its separator included, measured.
  double least_call_us = 0;
};

// From what was measured on float32 vectors, with the most that narrower numbers and matrix
// instructions could add.
DevicePeaks PeaksOf(const HostPeaks& host);

// Operations that a multiprocessor does in a clock at most. `measured`: by kernels of nothing but
// matrix instructions, counted in clocks, so that a device slowed down by its power limit (H200:
// 790 of 989 TFLOP/s on dense random numbers) measures the same; `known`: what the maker says of
// this architecture. 0: not known. A measurement only raises what is known, since a candidate may
// have instructions that the kernels have not; where nothing is known it counts as 0.8 of the peak.
double PeakPerClock(double measured, double known);

// No call of the task can take less, in microseconds: its bytes at the memory's speed or its
// operations at the fastest rate that its input types could be worth, 0 where formulas or peaks are
// not known, and what a call takes that does nothing. Formulas were checked when the task was
// admitted; one that fails here counts as unknown.
double FloorMicros(const v1::Task& task, const v1::Workload& workload, const DevicePeaks& peaks);

// What to say of a program that is faster.
std::string FasterThanFloorText(double call_us, double floor_us);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_ROOFLINE_H_
