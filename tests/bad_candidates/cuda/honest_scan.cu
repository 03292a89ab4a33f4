// The baseline with a faster hyperbolic tangent, exact enough: what a call gains it also gains by
// itself.
#include "scan.cuh"

namespace {
struct Fast {
  // tanh h = 1 - 2 / (e^2h + 1)
  static __device__ float Tanh(float h) { return 1 - __fdividef(2, __expf(2 * h) + 1); }
};
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  return corpus::LaunchScan<Fast>(args, stream);
}
