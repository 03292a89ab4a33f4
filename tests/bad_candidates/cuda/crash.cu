// Reads through a null pointer on the host.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  const volatile int* volatile nothing = nullptr;
  return corpus::Launch(args, stream) + *nothing;
}
