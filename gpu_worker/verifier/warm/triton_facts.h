#ifndef KSEARCH_GPU_WORKER_VERIFIER_WARM_TRITON_FACTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_WARM_TRITON_FACTS_H_

#include <string>
#include <vector>

#include "proto/result.pb.h"

namespace ksearch {

// Reads the compiled kernels below `folder`, which is Triton's cache, from their machine code
// (NAME.cubin) and Triton's launch data (NAME.json). Sorted by name, without duplicates; at most
// 32. The program could write there, so the facts are hints, not proof.
std::vector<v1::KernelFacts> TritonFacts(const std::string& folder);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_WARM_TRITON_FACTS_H_
