#ifndef KSEARCH_GPU_WORKER_RUNNER_CUDA_SEALED_CODE_H_
#define KSEARCH_GPU_WORKER_RUNNER_CUDA_SEALED_CODE_H_

namespace ksearch {

// Seals everything that is loaded now, this program and its libraries: code, constants and tables
// of functions that are read-only once they are filled. A program loaded later can then no longer
// make them writable and replace them with its own code. Returns the number of sealed ranges of
// pages: 0 on kernels before 6.10, where nothing changes.
int SealLoadedCode();

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_CUDA_SEALED_CODE_H_
