#ifndef KSEARCH_COORDINATOR_PROPOSER_TASK_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_TASK_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "coordinator/proposer/prompt.h"

namespace ksearch {

// The parts of a prompt about the task. Neither the ids nor the sizes of held-out workloads ever
// appear. Pure functions.

// Name, axes, inputs and outputs with shapes and dtypes, constraints, tolerance, work.
std::string DefinitionText(const PromptFacts& facts);

// "batch=4, heads=32".
std::string AxisValuesText(const v1::Workload& workload);

// One line per feedback workload: id, axis values, unusual inputs, and the baseline's latency if
// known.
std::string WorkloadsText(const PromptFacts& facts);

// Assumptions that programs may make about workloads that are not listed: which axes vary beyond
// the list, and the properties of offsets and page numbers. Derived only from the definition and
// the feedback workloads.
std::string UnseenSizesText(const PromptFacts& facts);

// The first `max_bytes` of the baseline that jobs in the prompt's language use
// (common/trusted_programs.h); empty if the task has none to show.
std::string BaselineText(const PromptFacts& facts, size_t max_bytes);

// The source of the reference that jobs in the prompt's language use (otherwise the definition's
// own text); its outputs define what is correct. Empty if the task has none to show.
std::string ReferenceText(const PromptFacts& facts);

// The published system's short form for world-model prompts (arXiv 2602.19128): title and kind, at
// most 18 axes, 18 inputs, 18 outputs, 12 constraints, 40 lines of reference.
std::string CompactSpecText(const PromptFacts& facts);

// Returns `text` with the id of every held-out workload of `task` replaced by "(withheld)".
std::string WithoutHeldOut(const v1::Task& task, absl::string_view text);

// Returns true if this workload of the task may be shown.
bool IsFeedback(const v1::Task& task, absl::string_view workload_uuid);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_TASK_TEXT_H_
