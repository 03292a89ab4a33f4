#ifndef KSEARCH_GPU_WORKER_VERIFIER_WARM_TRITON_FACTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_WARM_TRITON_FACTS_H_

#include <string>
#include <vector>

#include "proto/result.pb.h"

namespace ksearch {

// The kernels that lie below `folder`, where Triton keeps what it compiled: of each its machine
// code (NAME.cubin) and what Triton says of a launch (NAME.json). In the order of their names, each
// as often as its facts differ; at most 32. The program could write there: the facts are advice,
// not proof.
std::vector<v1::KernelFacts> TritonFacts(const std::string& folder);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_WARM_TRITON_FACTS_H_
