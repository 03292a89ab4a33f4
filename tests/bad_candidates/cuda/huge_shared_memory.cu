// Asks for half a megabyte of shared memory a block, and reports what it is told.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  corpus::
      Normalize<<<static_cast<unsigned>(args->batch_size), corpus::kThreads, 512 << 10, stream>>>(
          corpus::Input(args), corpus::Weight(args), static_cast<int>(args->hidden_size),
          corpus::Output(args));
  return cudaGetLastError();
}
