#ifndef KSEARCH_COORDINATOR_TASKS_WORKLOAD_JSONL_H_
#define KSEARCH_COORDINATOR_TASKS_WORKLOAD_JSONL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

inline constexpr int64_t kMaxWorkloadsBytes = 16 << 20;  // of a file
inline constexpr int64_t kMaxWorkloadLineBytes = 1 << 20;

// Reads workloads of `definition`: FlashInfer-trace lines whose solution and evaluation are null or
// absent, with the recipes of docs/task_format.md as extra members of {"type": "random"}. Blank
// lines are skipped. Axes and inputs of each workload are returned in definition order; held_out is
// false. At most kMaxWorkloads (common/task_limits.h). INVALID_ARGUMENT "<file>:<line>:
// workload.inputs.q: what".
absl::StatusOr<std::vector<v1::Workload>> ParseWorkloadJsonl(absl::string_view text,
                                                             absl::string_view file,
                                                             const v1::Definition& definition);

// What it means that a line does not mention an input that is a tensor: FlashInfer-Bench draws it.
enum class LeftOutInputs { kAreErrors, kRandom };

// Reads a single line, which is line `line_number` of `file`. The caller must check that uuids are
// unique.
absl::StatusOr<v1::Workload> ParseWorkloadLine(absl::string_view line, absl::string_view file,
                                               int line_number, const v1::Definition& definition,
                                               LeftOutInputs left_out = LeftOutInputs::kAreErrors);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_WORKLOAD_JSONL_H_
