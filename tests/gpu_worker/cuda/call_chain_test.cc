#include "gpu_worker/cuda/call_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ksearch {
namespace {

using ::testing::HasSubstr;

// Graphs as the driver would present them: a handle points at one of these.
struct FakeNode;
struct FakeGraph {
  std::vector<FakeNode> nodes;
};
struct FakeNode {
  CUgraphNodeType type;
  FakeGraph* inner = nullptr;
};

CUgraph Handle(FakeGraph* graph) { return reinterpret_cast<CUgraph>(graph); }

CUresult GetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  auto& all = reinterpret_cast<FakeGraph*>(graph)->nodes;
  for (size_t i = 0; nodes != nullptr && i < *count && i < all.size(); ++i) {
    nodes[i] = reinterpret_cast<CUgraphNode>(&all[i]);
  }
  *count = all.size();
  return CUDA_SUCCESS;
}
CUresult GetType(CUgraphNode node, CUgraphNodeType* type) {
  *type = reinterpret_cast<FakeNode*>(node)->type;
  return CUDA_SUCCESS;
}
CUresult GetInner(CUgraphNode node, CUgraph* inner) {
  *inner = Handle(reinterpret_cast<FakeNode*>(node)->inner);
  return CUDA_SUCCESS;
}

class WhyNoLinkTest : public ::testing::Test {
 protected:
  WhyNoLinkTest() {
    api_.cuGraphGetNodes = GetNodes;
    api_.cuGraphNodeGetType = GetType;
    api_.cuGraphChildGraphNodeGetGraph = GetInner;
  }
  std::string WhyNot(FakeGraph graph) { return WhyNoLink(api_, Handle(&graph)); }

  DriverApi api_;
};

TEST_F(WhyNoLinkTest, KernelsCopiesAndFillsAreLinks) {
  EXPECT_EQ(WhyNot({{{CU_GRAPH_NODE_TYPE_MEMSET}, {CU_GRAPH_NODE_TYPE_KERNEL}}}), "");
  EXPECT_EQ(WhyNot({{{CU_GRAPH_NODE_TYPE_MEMCPY}, {CU_GRAPH_NODE_TYPE_EMPTY}}}), "");
}

TEST_F(WhyNoLinkTest, ARecordingOfNothingIsNone) {
  EXPECT_THAT(WhyNot({}), HasSubstr("nothing on its stream"));
  EXPECT_THAT(WhyNot({{{CU_GRAPH_NODE_TYPE_EMPTY}}}), HasSubstr("nothing on its stream"));
}

TEST_F(WhyNoLinkTest, NothingMayReachBeyondTheCall) {
  for (const CUgraphNodeType type :
       {CU_GRAPH_NODE_TYPE_HOST, CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
        CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT}) {
    EXPECT_NE(WhyNot({{{CU_GRAPH_NODE_TYPE_KERNEL}, {type}}}), "") << type;
  }
}

TEST_F(WhyNoLinkTest, GraphsWithinGraphsAreLookedOver) {
  FakeGraph kernel{{{CU_GRAPH_NODE_TYPE_KERNEL}}};
  EXPECT_EQ(WhyNot({{{CU_GRAPH_NODE_TYPE_GRAPH, &kernel}}}), "");
  FakeGraph host{{{CU_GRAPH_NODE_TYPE_HOST}}};
  FakeGraph around{{{CU_GRAPH_NODE_TYPE_GRAPH, &host}}};
  EXPECT_THAT(WhyNot({{{CU_GRAPH_NODE_TYPE_KERNEL}, {CU_GRAPH_NODE_TYPE_GRAPH, &around}}}),
              HasSubstr("function of the host"));
  FakeGraph endless;
  endless.nodes.push_back({CU_GRAPH_NODE_TYPE_GRAPH, &endless});
  EXPECT_THAT(WhyNot(endless), HasSubstr("too deeply"));
}

}  // namespace
}  // namespace ksearch
