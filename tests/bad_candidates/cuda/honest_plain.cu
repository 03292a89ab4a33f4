// The baseline itself.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  return corpus::Launch(args, stream);
}
