#ifndef KSEARCH_GPU_WORKER_CUDA_CALL_CHAIN_H_
#define KSEARCH_GPU_WORKER_CUDA_CALL_CHAIN_H_

#include <string>
#include <vector>

#include "gpu_worker/cuda/handles.h"
#include "gpu_worker/cuda/separators.h"
#include "gpu_worker/cuda/stamp_seal.h"

namespace ksearch {

// Returns why a recorded call cannot be a link of a chain, or "" if it can. Allowed are kernels,
// copies and fills, also within graphs of the call's own. A host function would be a program that
// runs while its calls are timed, and an event refers to work elsewhere. An empty recording is
// refused: its work, if any, is on a stream that was not recorded.
std::string WhyNoLink(const DriverApi& api, CUgraph recorded);

struct CallChain {
  CudaGraphExec exec;
  std::vector<StampSeal> seals;  // of its stamps, from the first
};

// Makes a graph of one chain: separator 0, the first call, separator 1, the second call, ... Call i
// runs between stamps i and i + 1, which are sealed by seals[i] and seals[i + 1]. Each call is a
// child graph node, which is complete when all its nodes are, and the edges between the nodes of
// the chain are ours and ordinary ones: an edge of programmatic launch exists only between two
// kernels of one recording. So a call overlaps with nothing, whatever its kernels declare about
// their dependents. At most Separators::kMaxStamps - 2 calls. The calls are copied.
CUresult MakeCallChain(const DriverApi& api, const Separators& separators,
                       const std::vector<CUgraph>& calls, CallChain* chain);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_CUDA_CALL_CHAIN_H_
