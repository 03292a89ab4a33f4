#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_ENDING_OF_EXIT_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_ENDING_OF_EXIT_H_

#include "gpu_worker/sandbox/sandbox.h"
#include "gpu_worker/verifier/dialogue/ending.h"

namespace ksearch {

// The ending of a step in which a runner's process exited instead of answering. `loading`: while
// its program was loaded, else in a call. A pure function.
Ending EndingOfExit(const SandboxExit& exit, bool loading);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_ENDING_OF_EXIT_H_
