#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_ROOFLINE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_ROOFLINE_H_

#include <cstdint>
#include <string>

#include "gpu_worker/verifier/host/host_peaks.h"
#include "proto/task.pb.h"

namespace ksearch {

// A device's peak rates. 0: unknown.
struct DevicePeaks {
  double bytes_per_second = 0;  // measured for its memory, or for a CPU's first-level caches
  // Dense tensor operations on 16-bit and on 8-bit floats: PeakPerClock times the number of
  // multiprocessors times the highest clock, which no program exceeds.
  double half_flops_per_second = 0;
  double byte_flops_per_second = 0;
  // CPU. For numbers of 32 bits and more.
  double single_flops_per_second = 0;
  // CPU. Applies to bytes beyond the first `cached_bytes` of a call.
  double memory_bytes_per_second = 0;
  int64_t cached_bytes = 0;
  // GPU. Measured for an empty call in a chain, including its separator.
  double least_call_us = 0;
};

// Derives peaks from measurements with float32 vectors, allowing for the most that narrower numbers
// and matrix instructions could add.
DevicePeaks PeaksOf(const HostPeaks& host);

// The most operations that a multiprocessor can do per clock. `measured`: by kernels that contain
// only matrix instructions, per clock, so that a power limit (H200: 790 of 989 TFLOP/s on dense
// random numbers) does not affect it. `known`: the manufacturer's figure for this architecture. 0:
// unknown. A measurement can only raise the known figure, since a candidate may use instructions
// that the kernels do not; if nothing is known, a measurement counts as 0.8 of the peak.
double PeakPerClock(double measured, double known);

// The floor in microseconds, below which no call of the task can be: the time for its bytes at
// memory speed, or for its operations at the fastest rate possible for its input types (0 where
// formulas or peaks are unknown), plus the time of an empty call. Formulas were checked when the
// task was admitted; one that fails here counts as unknown.
double FloorMicros(const v1::Task& task, const v1::Workload& workload, const DevicePeaks& peaks);

// The message for a program that is faster than that.
std::string FasterThanFloorText(double call_us, double floor_us);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_ROOFLINE_H_
