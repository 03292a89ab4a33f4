// Copies and fills beside kernels: the input goes to scratch memory, is normalized there, and the
// result is copied to the output.
#include "rmsnorm.cuh"

extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs* args) {
  return 2 * args->batch_size * args->hidden_size * 2;
}

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  const auto bytes = static_cast<size_t>(corpus::Elements(args)) * 2;
  if (bytes == 0) return 0;
  auto* copy = static_cast<char*>(args->workspace);
  KsearchArgs inner = *args;
  cudaError_t error = cudaMemcpyAsync(copy, args->hidden_states, bytes, cudaMemcpyDefault, stream);
  if (error == cudaSuccess) error = cudaMemsetAsync(copy + bytes, 0, bytes, stream);
  if (error != cudaSuccess) return error;
  inner.hidden_states = reinterpret_cast<decltype(inner.hidden_states)>(copy);
  inner.output = reinterpret_cast<decltype(inner.output)>(copy + bytes);
  if (const int failed = corpus::Launch(&inner, stream); failed != 0) return failed;
  return cudaMemcpyAsync(args->output, copy + bytes, bytes, cudaMemcpyDeviceToDevice, stream);
}
