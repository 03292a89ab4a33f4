// A CUDA graph of its own, given the arguments of each call and launched on the stream.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  static cudaGraph_t graph = nullptr;
  static cudaGraphNode_t node;
  static cudaGraphExec_t exec = nullptr;
  const corpus::Bf16* x = corpus::Input(args);
  const corpus::Bf16* weight = corpus::Weight(args);
  int hidden = static_cast<int>(args->hidden_size);
  corpus::Bf16* y = corpus::Output(args);
  void* parameters[] = {&x, &weight, &hidden, &y};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(&corpus::Normalize);
  kernel.gridDim = dim3(static_cast<unsigned>(args->batch_size));
  kernel.blockDim = dim3(corpus::kThreads);
  kernel.kernelParams = parameters;
  cudaError_t error = cudaSuccess;
  if (exec == nullptr) {
    error = cudaGraphCreate(&graph, 0);
    if (error == cudaSuccess) error = cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel);
    if (error == cudaSuccess) error = cudaGraphInstantiate(&exec, graph, 0);
  } else {
    error = cudaGraphExecKernelNodeSetParams(exec, node, &kernel);
  }
  return error != cudaSuccess ? error : cudaGraphLaunch(exec, stream);
}
