#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_PARSER_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_PARSER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/task.pb.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// Largest reply looked at; the rest is an error, not cut.
inline constexpr int64_t kMaxReplyBytes = 4 << 20;

// Finds the program in a code reply: <file path="...">...</file> blocks (fences inside them
// allowed), else named fences, else the one fenced block (named kernel.cpp or kernel.cu), else the
// whole text if it looks like code. INVALID_ARGUMENT says exactly what was missing, in words for
// the model.
absl::StatusOr<v1::Sources> ParseCodeReply(absl::string_view reply, v1::Language language);

// Finds the edit script in a world-model reply: the last JSON object anywhere in the text that has
// the expected keys ("ops", or "nodes"/"kernel_summary" for an initial model). Every fault is
// listed as "ops[2].node.score: must be a number in [0, 1]". INVALID_ARGUMENT carries them all, a
// line each. JSON shape: docs/world_model_edits.md.
absl::StatusOr<v1::EditScript> ParseEditReply(absl::string_view reply);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_PARSER_H_
