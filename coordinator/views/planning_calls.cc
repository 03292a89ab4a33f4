#include "coordinator/views/planning_calls.h"

#include <deque>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

constexpr size_t kMostCalls = 20;
// A quarter of the size that a message may have.
constexpr size_t kMostBytes = 4 << 20;
// Enough for a run of thousands of rounds; later calls are ignored.
constexpr int kMostReads = 20'000;
constexpr int kMostMissing = 300;  // more cycles than a run may have in flight

}  // namespace

v1::LlmCallSummary SummaryOf(const LlmCallRow& call) {
  v1::LlmCallSummary summary;
  summary.set_call_id(call.call_id);
  summary.set_purpose(call.purpose);
  summary.set_node_id(call.node_id);
  summary.set_attempt(call.attempt);
  summary.set_prompt(absl::StrCat(call.system, call.system.empty() ? "" : "\n\n", call.prompt));
  summary.set_reply(call.reply);
  summary.set_model(call.reply_model.empty() ? call.model : call.reply_model);
  summary.set_input_tokens(call.input_tokens);
  summary.set_output_tokens(call.output_tokens);
  return summary;
}

std::vector<v1::LlmCallSummary> PlanningCalls(Store& store, const std::string& run_id,
                                              const std::string& node_id) {
  // Replies are edit scripts in JSON, which quote a node's id.
  const std::string quoted = absl::StrCat("\"", node_id, "\"");
  std::deque<v1::LlmCallSummary> calls;
  size_t bytes = 0;
  int missing = 0;  // consecutive: calls that wait for a budget have a number but no row yet
  for (int number = 1; number <= kMostReads && missing < kMostMissing; ++number) {
    const auto call = store.ReadCall(absl::StrCat(run_id, "/", number));
    missing = call.ok() ? 0 : missing + 1;
    if (!call.ok()) continue;
    if (call->role != "world_model" || !call->answered) continue;
    if (call->node_id != node_id && !absl::StrContains(call->reply, quoted)) continue;
    calls.push_back(SummaryOf(*call));
    bytes += calls.back().ByteSizeLong();
    while (calls.size() > kMostCalls || (bytes > kMostBytes && calls.size() > 1)) {
      bytes -= calls.front().ByteSizeLong();
      calls.pop_front();
    }
  }
  return {calls.begin(), calls.end()};
}

}  // namespace ksearch
