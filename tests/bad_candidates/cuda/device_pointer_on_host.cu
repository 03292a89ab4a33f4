// Reads device memory on the host.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  const volatile auto* x = reinterpret_cast<const volatile unsigned short*>(args->hidden_states);
  return corpus::Launch(args, stream) + (x[0] == 1 ? 0 : 0 * x[1]);
}
