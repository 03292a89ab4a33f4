#ifndef KSEARCH_COORDINATOR_WORLD_MODEL_DIGEST_H_
#define KSEARCH_COORDINATOR_WORLD_MODEL_DIGEST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// Text projections of a world model for prompts. Pure; at most `max_bytes` long (a token is about
// four bytes), and valid UTF-8 if the model's texts are.

struct TreeDigestOptions {
  // Preset default: the whole tree as an indented outline, one line per node, and descriptions,
  // notes and lessons for the most relevant ones: active path, best path, frontier, solved, rest.
  // Preset paper: the projection of K-Search's published code: JSON with sorted keys of the
  // active path and the two best-rated siblings of the active node, cut in the middle.
  bool paper = false;
  // Paper: 2600 in edit prompts, 50000 in code prompts.
  size_t max_bytes = 24000;
  std::string active_node_id;  // empty: the model's own
};
std::string TreeDigest(const v1::WorldModel& model, const TreeDigestOptions& options);

struct FrontierDigestOptions {
  bool paper = false;       // shallowest first, 10 lines; default preset: all, most promising first
  size_t max_bytes = 4000;  // paper: 1200
  std::vector<std::string> in_flight{};  // nodes in progress, which are omitted; ignored by paper
};
// One line per executable action; "(none)" if there is none.
std::string FrontierDigest(const v1::WorldModel& model, const FrontierDigestOptions& options);

// "id: decision -> choice" per line from the root to the node; paper cap 800.
std::string PathDigest(const v1::WorldModel& model, absl::string_view node_id, size_t max_bytes);

// Active path, best node with its numbers and path, root actions not yet tried (at most 4); paper
// cap 900.
std::string StatusDigest(const v1::WorldModel& model, absl::string_view active_node_id,
                         size_t max_bytes);

// Pruned intents, one line each, newest first; empty if there are none.
std::string TombstoneDigest(const v1::WorldModel& model, size_t max_bytes);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_WORLD_MODEL_DIGEST_H_
