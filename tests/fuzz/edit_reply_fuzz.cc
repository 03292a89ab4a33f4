// Any text a model may send instead of an edit script. What is accepted means the same when it is
// written out and read back, a refusal stays short, and no script breaks the tree it is applied to.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "common/log.h"
#include "common/textproto.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/proposer/text_safety.h"
#include "coordinator/world_model/edit.h"
#include "coordinator/world_model/world_model.h"

namespace {

// A tree with a solved node, an open one below it, and a pruned intent.
ksearch::v1::WorldModel MakeTree() {
  ksearch::v1::WorldModel tree = ksearch::NewWorldModel();
  for (const char* id : {"tile", "vector", "gone"}) {
    ksearch::v1::Node node;
    node.set_node_id(id);
    node.set_parent_id(id == std::string("vector") ? "tile" : "root");
    node.mutable_action()->set_title(id);
    node.mutable_action()->set_difficulty(2);
    node.mutable_action()->set_score(0.5);
    ksearch::AppendNode(&tree, node);
  }
  ksearch::v1::Solution solution;
  solution.set_candidate_id(std::string(64, 'a'));
  solution.set_score(2);
  CHECK(ksearch::AttachSolution(&tree, "tile", solution).ok());
  ksearch::RemoveLeaf(&tree, "gone", "no gain", 1, /*leave_tombstone=*/true);
  CHECK(ksearch::CheckInvariants(tree).ok());
  return tree;
}

void CheckTree(const ksearch::v1::WorldModel& tree, const ksearch::EditReport& report) {
  const absl::Status status = ksearch::CheckInvariants(tree);
  CHECK_OK(status);
  CHECK(report.applied || !report.errors.empty());
  // The tree's texts go into every prompt.
  CHECK(ksearch::IsValidUtf8(tree.kernel_summary()));
}

void ApplyToTrees(const ksearch::v1::EditScript& script, ksearch::EditMode mode) {
  static const ksearch::v1::WorldModel& grown = *new ksearch::v1::WorldModel(MakeTree());
  ksearch::EditOptions options;
  options.mode = mode;
  options.round = 3;
  options.task = "softmax";
  options.nodes_in_flight = {"vector"};
  ksearch::v1::WorldModel tree = grown;
  CheckTree(tree, ksearch::ApplyEdits(script, options, &tree));
  const ksearch::v1::Node* solved = ksearch::FindNode(tree, "tile");
  CHECK(solved != nullptr && solved->solution().candidate_id() == std::string(64, 'a'));
  CHECK(ksearch::FindNode(tree, "vector") != nullptr);
  ksearch::v1::WorldModel first = ksearch::NewWorldModel();
  CheckTree(first, ksearch::ApplyInitialModel(script, options, &first));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ksearch;  // NOLINT: a test's main function
  const absl::string_view reply(reinterpret_cast<const char*>(data), size);
  for (const bool clamp : {false, true}) {
    EditReplyOptions options;
    options.clamp = clamp;
    const absl::StatusOr<v1::EditScript> script = ParseEditReply(reply, options);
    if (!script.ok()) {
      CHECK(absl::IsInvalidArgument(script.status()));
      const absl::string_view message = script.status().message();
      CHECK(!message.empty() && IsValidUtf8(message));
      CHECK(std::count(message.begin(), message.end(), '\n') < 40);
      continue;
    }
    const absl::StatusOr<v1::EditScript> again = ParseEditReply(RenderEditScript(*script), options);
    CHECK(again.ok());
    CHECK(ToTextproto(*again) == ToTextproto(*script));
    ApplyToTrees(*script, clamp ? EditMode::kPaper : EditMode::kTransactional);
  }
  return 0;
}
