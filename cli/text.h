#ifndef KSEARCH_CLI_TEXT_H_
#define KSEARCH_CLI_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/result.pb.h"
#include "proto/search_service.pb.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// Left-aligned columns, two spaces apart, the first row underlined.
std::string Table(const std::vector<std::vector<std::string>>& rows);

// "passed", "compile_error", ...
std::string OutcomeText(v1::Outcome outcome);
std::string StateText(v1::RunState state);
std::string LanguageText(v1::Language language);
// Ends `text` with a newline.
std::string EndedLine(const std::string& text);
// Returns the program as one text. If it has several files, each begins with a comment that names
// it.
std::string SourcesText(const v1::Sources& sources);
// "1 worker", "2 workers".
std::string CountText(int64_t count, absl::string_view noun);
// The first 12 characters.
std::string ShortId(const std::string& id);
// "6.42x [6.31, 6.55] at 95 %".
std::string BestText(const v1::BestSummary& best);
// One line on a confirmation's mean over the baseline for the official cases, and one for all
// cases; the one that `by` names ("official", "all") comes first, otherwise the one that decided.
// Empty if they are equal or not recorded.
std::string MeansText(const v1::JobResult& confirmation, absl::string_view by);
// "12.3 us", "1.23 ms".
std::string LatencyText(double microseconds);

// One line of a run's log, without its time.
std::string EventText(const v1::RunEvent& event);
// "measured with NVIDIA H200 sm_90a, ...", and what is wrong with that; "" while it is unknown.
std::string PlatformLine(const v1::RunStatus& status);
// A warning that results on the task say nothing, with the reason (Task.degenerate); empty if that
// is.
std::string DegenerateText(absl::string_view degenerate);
// An event of a worker, a lease or a model call, in one line without its time.
std::string FleetEventText(const v1::FleetEvent& event);
// "running  7/16 rounds  best 5.31x ...": one line.
std::string StatusLine(const v1::RunStatus& status);
// The tree with scores, one node per line, children indented.
std::string TreeText(const v1::WorldModel& model);
// A result in full: outcome, diagnostics, a line per workload, comparisons; then the evaluation
// summary, which replaces the compiler's facts.
std::string ResultText(const v1::JobResult& result, const std::string& packet = "");
// One line per score; empty if there are none.
std::string SuiteScoresText(const google::protobuf::RepeatedPtrField<v1::SuiteScore>& scores);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TEXT_H_
