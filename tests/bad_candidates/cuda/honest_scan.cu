// The baseline with another hyperbolic tangent, exact enough: a call by itself takes as long as among
// others.
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
