#ifndef KSEARCH_COORDINATOR_PROPOSER_CUDA_CUDA_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_CUDA_CUDA_TEXT_H_

#include <string>

namespace ksearch {

// What code prompts say of CUDA only: how a program is built and called, and what ksearch_cuda.h
// offers, with exact declarations (`paper`: by name). To change what models are told, edit
// cuda_text.cc.
std::string CudaRulesText(bool paper);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_CUDA_CUDA_TEXT_H_
