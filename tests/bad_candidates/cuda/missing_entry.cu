// The entry has another name.
#include "rmsnorm.cuh"

extern "C" int run(const KsearchArgs* args, cudaStream_t stream) {
  return museum::Launch(args, stream);
}
