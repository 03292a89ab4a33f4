#ifndef KSEARCH_COORDINATOR_PROPOSER_EVIDENCE_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_EVIDENCE_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "coordinator/proposer/prompt.h"

namespace ksearch {

// What a prompt says about results. Everything a candidate, a compiler or a model wrote is cleaned
// of control characters, bounded, and fenced by <data> tags it cannot close. Held-out workloads are
// left out. Pure functions.

// One line: "passed", "did not compile", ... and what that means for a program in this language
// (unspecified: in the words of the default language).
std::string OutcomeText(v1::Outcome outcome, v1::Language language = v1::LANGUAGE_UNSPECIFIED);

// Latencies by workload beside the baseline's, the mean speed-up, and the compiler's warnings if
// PacketText has not got them. Empty if nothing was timed.
std::string PerformanceText(const PromptFacts& facts, const v1::JobResult& result);

// Why a candidate failed: compile errors, or the first failing workload with its first wrong
// element, or the crash with what was printed. Empty if it passed without suspicion.
std::string FailureText(const PromptFacts& facts, const v1::JobResult& result);

// The evaluation packet of a GPU program, as quoted data; empty if there is none. `parent`: the
// result of the program it was built from, or null.
std::string PacketText(const PromptFacts& facts, const v1::JobResult& result,
                       const v1::JobResult* parent);

// What other cycles have reached: partly in the words of models and tools.
std::string InFlightText(const PromptFacts& facts, absl::string_view text);

// "score 1.234, 56.7 us", or "did not pass".
std::string ShownCodeText(const ShownCode& code);

// A list of lines by models and tools, each of at most 600 bytes and without held-out workloads, as
// quoted data; empty if there is none.
std::string LinesText(const PromptFacts& facts, absl::string_view name,
                      const std::vector<std::string>& lines);

// Untrusted text between tags: <data name="..."> ... </data>.
std::string QuotedData(absl::string_view name, absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_EVIDENCE_TEXT_H_
