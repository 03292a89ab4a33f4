#ifndef KSEARCH_COORDINATOR_PROPOSER_TASK_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_TASK_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "coordinator/proposer/prompt.h"

namespace ksearch {

// What a prompt says about the task. Held-out workloads never appear: neither their ids nor their
// sizes. Pure functions.

// Name, axes, inputs and outputs with shapes and dtypes, constraints, tolerance, work.
std::string DefinitionText(const PromptFacts& facts);

// One line per feedback workload: id, axis values, unusual inputs, baseline latency if known.
std::string WorkloadsText(const PromptFacts& facts);

// What may be relied on where the listed workloads do not show it: which axes vary beyond the list,
// and what holds of offsets and page numbers. Follows from definition and feedback workloads alone.
std::string UnseenSizesText(const PromptFacts& facts);

// The baseline of jobs in the prompt's language (common/trusted_programs.h), at most `max_bytes` of
// it; empty if the task has none to show.
std::string BaselineText(const PromptFacts& facts, size_t max_bytes);

// The reference of jobs in the prompt's language (else the definition's own text), as source; its
// outputs are what "correct" means. Empty if the task has none to show.
std::string ReferenceText(const PromptFacts& facts);

// The published system's short form for world-model prompts (arXiv 2602.19128): title
// and kind, at most 18 axes, 18 inputs, 18 outputs, 12 constraints, 40 lines of reference.
std::string CompactSpecText(const PromptFacts& facts);

// `text` with the id of every held-out workload of `task` replaced by "(withheld)".
std::string WithoutHeldOut(const v1::Task& task, absl::string_view text);

// Whether this workload of the task may be shown.
bool IsFeedback(const v1::Task& task, absl::string_view workload_uuid);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_TASK_TEXT_H_
