#ifndef KSEARCH_COORDINATOR_WORLD_MODEL_NODE_PATCH_H_
#define KSEARCH_COORDINATOR_WORLD_MODEL_NODE_PATCH_H_

#include <cstddef>
#include <string>
#include <vector>

#include "proto/world_model.pb.h"

namespace ksearch {

// Limits of one node's texts, in bytes: the tree is part of every prompt.
inline constexpr size_t kMaxShortNodeText = 300;
inline constexpr size_t kMaxLongNodeText = 4000;
// The difficulty of an action that does not state one.
inline constexpr int kDefaultDifficulty = 3;

// The numbers of a patch that are out of their ranges, one line each for the model.
std::vector<std::string> RangeFaults(const v1::NodePatch& patch);

// Writes the patch's fields into the node: numbers are clamped to their ranges, and texts are cut.
// A first action gets the defaults of the schema: difficulty 3, score = overall rating / 10, as in
// K-Search's published code. The root keeps its decision and choice.
void ApplyPatch(const v1::NodePatch& patch, bool is_root, v1::Node* node);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_WORLD_MODEL_NODE_PATCH_H_
