// Two streams of different priority, forked from the given one and joined.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  static cudaStream_t high = nullptr, low = nullptr;
  static cudaEvent_t fork = nullptr, joins[2] = {};
  if (high == nullptr) {
    int least = 0, greatest = 0;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest);
    cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least);
    for (cudaEvent_t* event : {&fork, &joins[0], &joins[1]}) {
      cudaEventCreateWithFlags(event, cudaEventDisableTiming);
    }
  }
  const int64_t half = args->batch_size / 2;
  cudaError_t error = cudaEventRecord(fork, stream);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(high, fork, 0);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(low, fork, 0);
  if (error == cudaSuccess) error = static_cast<cudaError_t>(corpus::Launch(args, high, 0, half));
  if (error == cudaSuccess) error = static_cast<cudaError_t>(corpus::Launch(args, low, half));
  if (error == cudaSuccess) error = cudaEventRecord(joins[0], high);
  if (error == cudaSuccess) error = cudaEventRecord(joins[1], low);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(stream, joins[0], 0);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(stream, joins[1], 0);
  return error;
}
