#ifndef KSEARCH_COORDINATOR_PROPOSER_CUDA_CUDA_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_CUDA_CUDA_TEXT_H_

#include <string>

#include "proto/result.pb.h"

namespace ksearch {

// What code prompts say of CUDA only: how a program is built and called, and what ksearch_cuda.h
// offers. To change what models are told, edit cuda_text.cc.
std::string CudaRulesText();

// What the compiler says of each kernel, in at most eight lines: registers, spills, shared memory,
// the kinds of instruction. Kernels that spill come first. Empty without kernels.
std::string KernelFactsText(const v1::BuildReport& build);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_CUDA_CUDA_TEXT_H_
