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

// Extracts the program from a reply. OUT_OF_RANGE: the reply was cut off; half a kernel is not a
// candidate even if it compiles. PERMISSION_DENIED: the model refused. Other errors are those of
// `parse`.
absl::StatusOr<v1::Sources> ProgramIn(const LlmReply& reply, const ParseCode& parse,
                                      v1::Language language);

// Returns a reply's words about its program before the code, on one line of at most 250 bytes.
std::string IdeaIn(const std::string& reply);

// The part of a refused reply that a complaint shows: its beginning and end with a mark between,
// enough to correct it without making the saved state large.
std::string RefusedReply(const std::string& reply);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_CODE_ANSWER_H_
