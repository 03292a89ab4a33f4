#include "gpu_worker/cuda/call_chain.h"

#include <utility>

#include "gpu_worker/cuda/cuda_error.h"

namespace ksearch {
namespace {

// Limit for graphs nested in a recording.
constexpr int kMaxDepth = 8;

std::string WhyNoLink(const DriverApi& api, CUgraph graph, int depth, size_t* works) {
  if (depth > kMaxDepth) return "the recorded call has graphs nested too deeply";
  size_t count = 0;
  CUresult result = api.cuGraphGetNodes(graph, nullptr, &count);
  std::vector<CUgraphNode> nodes(count);
  if (result == CUDA_SUCCESS && count > 0) {
    result = api.cuGraphGetNodes(graph, nodes.data(), &count);
  }
  for (const CUgraphNode node : nodes) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    if (result == CUDA_SUCCESS) result = api.cuGraphNodeGetType(node, &type);
    if (result != CUDA_SUCCESS) break;
    switch (type) {
      case CU_GRAPH_NODE_TYPE_KERNEL:
      case CU_GRAPH_NODE_TYPE_MEMCPY:
      case CU_GRAPH_NODE_TYPE_MEMSET:
        ++*works;
        break;
      case CU_GRAPH_NODE_TYPE_EMPTY:
        break;
      case CU_GRAPH_NODE_TYPE_GRAPH: {
        CUgraph inner = nullptr;
        result = api.cuGraphChildGraphNodeGetGraph(node, &inner);
        if (result != CUDA_SUCCESS) break;
        if (std::string why = WhyNoLink(api, inner, depth + 1, works); !why.empty()) return why;
        break;
      }
      case CU_GRAPH_NODE_TYPE_HOST:
        return "the recorded call runs a function of the host";
      case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return "the recorded call has events that others see";
      default:
        return "the recorded call has a graph node of a kind that is not timed in a graph, "
               "number " +
               std::to_string(static_cast<int>(type));
    }
  }
  return result == CUDA_SUCCESS ? "" : CudaErrorText(api, result);
}

}  // namespace

std::string WhyNoLink(const DriverApi& api, CUgraph recorded) {
  size_t works = 0;
  std::string why = WhyNoLink(api, recorded, 0, &works);
  if (why.empty() && works == 0) why = "the recorded call puts nothing on its stream";
  return why;
}

CUresult MakeCallChain(const DriverApi& api, const Separators& separators,
                       const std::vector<CUgraph>& calls, CallChain* chain) {
  if (calls.size() > static_cast<size_t>(Separators::kMaxStamps) - 2) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUgraph raw = nullptr;
  if (const CUresult made = api.cuGraphCreate(&raw, 0); made != CUDA_SUCCESS) return made;
  const CudaGraph graph(api, raw);
  std::vector<StampSeal> seals = DrawStampSeals(static_cast<int>(calls.size()) + 1);
  CUgraphNode last = nullptr;
  CUresult result = separators.AddTo(raw, nullptr, 0, seals[0], &last);
  for (size_t i = 0; i < calls.size() && result == CUDA_SUCCESS; ++i) {
    CUgraphNode call = nullptr;
    result = api.cuGraphAddChildGraphNode(&call, raw, &last, 1, calls[i]);
    if (result != CUDA_SUCCESS) break;
    result = separators.AddTo(raw, &call, static_cast<int>(i) + 1, seals[i + 1], &last);
  }
  CUgraphExec exec = nullptr;
  if (result == CUDA_SUCCESS) result = api.cuGraphInstantiate(&exec, raw, 0);
  if (result == CUDA_SUCCESS) *chain = {CudaGraphExec(api, exec), std::move(seals)};
  return result;
}

}  // namespace ksearch
