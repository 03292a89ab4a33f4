// Takes 12 GiB of host memory, three times what it is allowed.
#include <stdlib.h>
#include <string.h>

#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  constexpr size_t kStep = size_t{256} << 20;
  for (int i = 0; i < 48; ++i) {
    void* memory = malloc(kStep);
    if (memory == nullptr) return 1;
    memset(memory, 1, kStep);
  }
  return corpus::Launch(args, stream);
}
