// Leaves the work to a library by name.
#include "rmsnorm.cuh"

extern "C" int cublasCreate_v2(void** handle);

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  void* handle = nullptr;
  return cublasCreate_v2(&handle) + corpus::Launch(args, stream);
}
