#ifndef KSEARCH_COORDINATOR_TASKS_DEFINITION_JSON_H_
#define KSEARCH_COORDINATOR_TASKS_DEFINITION_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// Largest definition read, with its reference text.
inline constexpr int64_t kMaxDefinitionBytes = 1 << 20;

// Reads a definition in FlashInfer-trace's JSON (docs/task_format.md). The order of axes, inputs
// and outputs is kept: it is the order of arguments. Members the format does not know are ignored,
// as upstream does. INVALID_ARGUMENT "<file>:<line>: inputs.q.shape[1]: unknown axis 'foo'".
absl::StatusOr<v1::Definition> ParseDefinitionJson(absl::string_view text, absl::string_view file);

// The inverse: indented by two, absent fields left out, final newline.
std::string DefinitionToJson(const v1::Definition& definition);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_DEFINITION_JSON_H_
