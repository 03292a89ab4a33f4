#ifndef KSEARCH_COORDINATOR_TASKS_DEFINITION_JSON_H_
#define KSEARCH_COORDINATOR_TASKS_DEFINITION_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// The largest definition that is read, including its reference text.
inline constexpr int64_t kMaxDefinitionBytes = 1 << 20;

// Reads a definition in FlashInfer-trace's JSON (docs/task_format.md). Axes, inputs and outputs
// keep their order, which is the order of arguments. Unknown members are ignored, as upstream does.
// INVALID_ARGUMENT "<file>:<line>: inputs.q.shape[1]: unknown axis 'foo'".
absl::StatusOr<v1::Definition> ParseDefinitionJson(absl::string_view text, absl::string_view file);

// The inverse: indented by two spaces, absent fields omitted, with a final newline.
std::string DefinitionToJson(const v1::Definition& definition);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_DEFINITION_JSON_H_
