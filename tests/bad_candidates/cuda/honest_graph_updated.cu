// One executable graph whose kernel gets its arguments anew in every call.
#include "rmsnorm.cuh"

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  static cudaGraphExec_t exec = nullptr;
  static cudaGraphNode_t node = nullptr;
  if (args->batch_size == 0) return 0;
  auto* x = corpus::Input(args);
  auto* weight = corpus::Weight(args);
  int hidden = static_cast<int>(args->hidden_size);
  auto* y = corpus::Output(args);
  void* arguments[] = {&x, &weight, &hidden, &y};
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(corpus::Normalize);
  params.gridDim = dim3(static_cast<unsigned>(args->batch_size));
  params.blockDim = dim3(corpus::kThreads);
  params.kernelParams = arguments;
  if (exec == nullptr) {
    cudaGraph_t graph = nullptr;
    cudaError_t error = cudaGraphCreate(&graph, 0);
    if (error == cudaSuccess) error = cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params);
    if (error == cudaSuccess) error = cudaGraphInstantiate(&exec, graph, 0);
    if (error != cudaSuccess) return error;
  }
  const cudaError_t error = cudaGraphExecKernelNodeSetParams(exec, node, &params);
  return error != cudaSuccess ? error : cudaGraphLaunch(exec, stream);
}
