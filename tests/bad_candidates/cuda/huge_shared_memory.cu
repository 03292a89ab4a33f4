// Asks for half a megabyte of shared memory a block, and reports what it is told.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  museum::
      Normalize<<<static_cast<unsigned>(args->batch_size), museum::kThreads, 512 << 10, stream>>>(
          museum::Input(args), museum::Weight(args), static_cast<int>(args->hidden_size),
          museum::Output(args));
  return cudaGetLastError();
}
