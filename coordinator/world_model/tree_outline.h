#ifndef KSEARCH_COORDINATOR_WORLD_MODEL_TREE_OUTLINE_H_
#define KSEARCH_COORDINATOR_WORLD_MODEL_TREE_OUTLINE_H_

#include <cstddef>
#include <string>

#include "proto/world_model.pb.h"

namespace ksearch {

// The maximum length of a title, a decision or a choice in prompts.
inline constexpr size_t kMaxShownTitle = 160;

// "open, score 0.50, difficulty 3", "SOLVED 1.500x, 3.20 us, candidate 0123456789ab", ...
std::string NodeStatus(const v1::WorldModel& model, const v1::Node& node);

// An indented outline of the tree in at most `max_bytes`: one line per node, with descriptions,
// notes and lessons for the most relevant nodes, in the order active path, best path, frontier,
// solved, rest. Says how many nodes are left out.
std::string TreeOutline(const v1::WorldModel& model, const std::string& active, size_t max_bytes);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_WORLD_MODEL_TREE_OUTLINE_H_
