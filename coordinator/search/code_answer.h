#ifndef KSEARCH_COORDINATOR_SEARCH_CODE_ANSWER_H_
#define KSEARCH_COORDINATOR_SEARCH_CODE_ANSWER_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/llm/llm_client.h"
#include "proto/task.pb.h"

namespace ksearch {

using ParseCode =
    std::function<absl::StatusOr<v1::Sources>(const std::string& reply, v1::Language language)>;

// The program in a reply. OUT_OF_RANGE: it was cut off, and half a kernel is no candidate even if
// what is there of it compiles; PERMISSION_DENIED: the model refused; else as `parse` says.
absl::StatusOr<v1::Sources> ProgramIn(const LlmReply& reply, const ParseCode& parse,
                                      v1::Language language);

// What a reply says of its program before it begins, in one line of at most 250 bytes.
std::string IdeaIn(const std::string& reply);

// What a complaint shows of the answer it is about: enough to correct it, not enough to swell the
// saved state. Beginning and end, with a mark between.
std::string RefusedReply(const std::string& reply);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_CODE_ANSWER_H_
