#include "gpu_worker/verifier/cuda/call_floor.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "common/status_macros.h"
#include "gpu_worker/cuda/call_chain.h"
#include "gpu_worker/cuda/cuda_error.h"
#include "gpu_worker/cuda/separators.h"

namespace ksearch {
namespace {

constexpr int kCalls = 64;
constexpr int kChains = 50;

}  // namespace

absl::StatusOr<double> MeasureLeastCallMicros(const CudaDevice& device) {
  const DriverApi& api = device.api();
  ASSIGN_OR_RETURN(const Separators separators, Separators::Create(device));
  ASSIGN_OR_RETURN(const CudaStream stream, MakeCudaStream(api));
  CUgraph raw = nullptr;
  RETURN_IF_CUDA_ERROR(api, api.cuGraphCreate(&raw, 0), "make a graph");
  const CudaGraph call(api, raw);
  RETURN_IF_CUDA_ERROR(api, separators.AddNothingTo(raw), "add an empty kernel");
  CallChain chain;
  RETURN_IF_CUDA_ERROR(api,
                       MakeCallChain(api, separators, std::vector<CUgraph>(kCalls, raw), &chain),
                       "make a chain of calls");
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kChains; ++i) {
    RETURN_IF_CUDA_ERROR(api, api.cuGraphLaunch(chain.exec.get(), stream.get()), "launch a chain");
    RETURN_IF_CUDA_ERROR(api, api.cuStreamSynchronize(stream.get()), "wait for a chain");
    std::vector<uint64_t> stamps;
    RETURN_IF_CUDA_ERROR(api, separators.ReadStamps(chain.seals, &stamps), "read a chain's times");
    // The last separator follows a call, like all others.
    least = std::min(least, static_cast<double>(stamps.back() - stamps.front()) / 1e3 / kCalls);
  }
  return least;
}

}  // namespace ksearch
