// Two streams of its own, which begin after the given one and which it waits for.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  static cudaStream_t own[2];
  static cudaEvent_t begin = nullptr, end[2];
  if (begin == nullptr) {
    cudaEventCreateWithFlags(&begin, cudaEventDisableTiming);
    for (int i = 0; i < 2; ++i) {
      cudaStreamCreateWithFlags(&own[i], cudaStreamNonBlocking);
      cudaEventCreateWithFlags(&end[i], cudaEventDisableTiming);
    }
  }
  cudaError_t error = cudaEventRecord(begin, stream);
  const int64_t half = args->batch_size / 2;
  for (int i = 0; i < 2 && error == cudaSuccess; ++i) {
    error = cudaStreamWaitEvent(own[i], begin, 0);
    const int launched = i == 0 ? corpus::Launch(args, own[i], 0, half)
                                : corpus::Launch(args, own[i], half, args->batch_size - half);
    if (error == cudaSuccess) error = static_cast<cudaError_t>(launched);
    if (error == cudaSuccess) error = cudaEventRecord(end[i], own[i]);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(stream, end[i], 0);
  }
  return error;
}
