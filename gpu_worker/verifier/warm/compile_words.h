#ifndef KSEARCH_GPU_WORKER_VERIFIER_WARM_COMPILE_WORDS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_WARM_COMPILE_WORDS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "gpu_worker/verifier/dialogue/ending.h"

namespace ksearch {

// How a program ended in its warm stage, in the words of its exception: the last exception of
// a chain, at most 1500 bytes of it, of which the end is kept. One of a compiler's (Triton's,
// inductor's) is a COMPILE_ERROR. Other endings stay as they are, but for a TIMEOUT, which is one
// of compilers. Not for calls whose inputs must stay secret.
Ending DescribeCompileError(Ending ending);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_WARM_COMPILE_WORDS_H_
