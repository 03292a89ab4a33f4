// The entry has another name.
#include "rmsnorm.cuh"

extern "C" int run(const KsearchArgs* args, cudaStream_t stream) {
  return corpus::Launch(args, stream);
}
