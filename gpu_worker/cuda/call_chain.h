#ifndef KSEARCH_GPU_WORKER_CUDA_CALL_CHAIN_H_
#define KSEARCH_GPU_WORKER_CUDA_CALL_CHAIN_H_

#include <string>
#include <vector>

#include "gpu_worker/cuda/handles.h"
#include "gpu_worker/cuda/separators.h"

namespace ksearch {

// Why a recorded call cannot be a link of a chain; empty: it can. Allowed are kernels, copies and
// fills, also within graphs of the call's own. A function of the host would be a program that runs
// while its calls are timed, an event tells of work elsewhere. A recording of nothing is refused:
// its work, if any, is on a stream that was not recorded.
std::string WhyNoLink(const DriverApi& api, CUgraph recorded);

// A graph of one chain: separator 0, the first call, separator 1, the second call, ... Call i runs
// between stamps i and i + 1. Each call is a child graph node, which is complete when all its nodes
// are, and the edges between the nodes of the chain are ours and ordinary ones: an edge of
// programmatic launch exists between two kernels of one recording only. So a call overlaps with
// nothing, whatever its kernels say of their dependents. At most Separators::kMaxStamps - 2 calls.
// The calls are copied.
CUresult MakeCallChain(const DriverApi& api, const Separators& separators,
                       const std::vector<CUgraph>& calls, CudaGraphExec* chain);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_CUDA_CALL_CHAIN_H_
