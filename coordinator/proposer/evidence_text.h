#ifndef KSEARCH_COORDINATOR_PROPOSER_EVIDENCE_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_EVIDENCE_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "coordinator/proposer/prompt.h"

namespace ksearch {

// The parts of a prompt about results. Text from a candidate, a compiler or a model is cleaned of
// control characters, limited in length, and enclosed in <data> tags that it cannot close. Held-out
// workloads are omitted. Pure functions.

// One line: "passed", "did not compile", ... and what that means for a program in this language
// (unspecified: in the default language's words).
std::string OutcomeText(v1::Outcome outcome, v1::Language language = v1::LANGUAGE_UNSPECIFIED);

// Latencies by workload and the baseline's, the mean speed-up, and the compiler's warnings unless
// PacketText has them. Empty if nothing was timed.
std::string PerformanceText(const PromptFacts& facts, const v1::JobResult& result);

// Why a candidate failed: the compile errors, the first failing workload with its first wrong
// element, or the crash with the program's output. Empty if it passed without suspicion.
std::string FailureText(const PromptFacts& facts, const v1::JobResult& result);

// The evaluation summary of a GPU program as quoted data; empty if there is none. `parent`: the
// result of the program that it was built from, or null.
std::string PacketText(const PromptFacts& facts, const v1::JobResult& result,
                       const v1::JobResult* parent);

// What other cycles have reached. Contains words of models and tools.
std::string InFlightText(const PromptFacts& facts, absl::string_view text);

// "score 1.234, 56.7 us", or "did not pass".
std::string ShownCodeText(const ShownCode& code);

// Lines by models and tools as a quoted list, each at most 600 bytes and without held-out
// workloads; empty if there are none.
std::string LinesText(const PromptFacts& facts, absl::string_view name,
                      const std::vector<std::string>& lines);

// Encloses untrusted text in tags: <data name="..."> ... </data>.
std::string QuotedData(absl::string_view name, absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_EVIDENCE_TEXT_H_
