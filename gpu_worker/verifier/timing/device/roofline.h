#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_ROOFLINE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_ROOFLINE_H_

#include "proto/task.pb.h"

namespace ksearch {

// What a device can do at best. 0: unknown.
struct DevicePeaks {
  double bytes_per_second = 0;  // of its memory, measured
  // Dense tensor operations on 16-bit and on 8-bit floats: by the number of multiprocessors and the
  // highest clock, which no program exceeds.
  double half_flops_per_second = 0;
  double byte_flops_per_second = 0;
};

// No call of the task can take less, in microseconds: its bytes at the memory's speed or its
// operations at the fastest rate that its input types could be worth. 0 where formulas or peaks are
// not known. Formulas were checked when the task was admitted; one that fails here counts as
// unknown.
double FloorMicros(const v1::Task& task, const v1::Workload& workload, const DevicePeaks& peaks);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_ROOFLINE_H_
