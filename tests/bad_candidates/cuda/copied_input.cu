// Hands its input back.
#include "rmsnorm.cuh"
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  return cudaMemcpyAsync(args->output, args->hidden_states,
                         corpus::Elements(args) * sizeof(corpus::Bf16), cudaMemcpyDeviceToDevice,
                         stream);
}
