#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_PTX_DELAYS_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_PTX_DELAYS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// The largest PTX file that is read and written.
inline constexpr size_t kMaxPtxBytes = size_t{64} << 20;

struct DelayedPtx {
  std::string text;
  int barriers = 0;  // instructions with a delay before and after them
  int kernels = 0;   // entries with a delay at their start
};

// Returns the program with random delays added: at the start of every kernel, and before and after
// every instruction by which threads wait for each other, for copies or for memory (bar, barrier,
// mbarrier, fence, membar, bulk copies, waits for cp.async and wgmma). A delay is drawn for each
// warp, each time, from the multiprocessor's clock: none half of the time, otherwise up to 16
// microseconds (131 at the start) and about 1 (8) on average, as far as nanosleep keeps to it. It
// does not branch, so that it does not split a converged warp. RESOURCE_EXHAUSTED beyond
// kMaxPtxBytes. Accepts any text: what is not PTX gives something that the assembler refuses, too.
absl::StatusOr<DelayedPtx> AddDelays(absl::string_view ptx);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_PTX_DELAYS_H_
