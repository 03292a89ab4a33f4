#ifndef KSEARCH_GPU_WORKER_RUNNER_CUDA_SEALED_CODE_H_
#define KSEARCH_GPU_WORKER_RUNNER_CUDA_SEALED_CODE_H_

namespace ksearch {

// Seals what is loaded now, this program and its libraries: code, constants and tables of functions
// that are read-only once they are filled. A program loaded later can then no longer make them
// writable and put code of its own in their place. Returns how many ranges of pages were sealed: 0
// on kernels before 6.10, where all of it is as safe as it was.
int SealLoadedCode();

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_CUDA_SEALED_CODE_H_
