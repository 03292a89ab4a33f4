#ifndef KSEARCH_GPU_WORKER_VERIFIER_WARM_COMPILE_WORDS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_WARM_COMPILE_WORDS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "gpu_worker/verifier/dialogue/ending.h"

namespace ksearch {

// Describes how a program ended in its warm stage by its exception's message: the last exception of
// a chain, cut to its last 1500 bytes. An exception of a compiler (Triton, inductor) becomes a
// COMPILE_ERROR. Other endings are unchanged, except that a TIMEOUT is attributed to the compilers.
// Must not be used for calls whose inputs must stay secret.
Ending DescribeCompileError(Ending ending);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_WARM_COMPILE_WORDS_H_
