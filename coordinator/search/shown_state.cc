#include "coordinator/search/shown_state.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/world_model/text.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

constexpr size_t kMaxCyclesShown = 12;
constexpr size_t kMaxCycleTitle = 120;
constexpr size_t kMaxCycleGain = 200;

}  // namespace

ShownCode Shown(const v1::ScreenedProgram& program) {
  ShownCode code;
  code.sources = program.sources();
  code.candidate_id = program.candidate_id();
  if (program.passed()) {
    code.score = program.score();
    if (program.has_latency_us()) code.latency_us = program.latency_us();
  }
  return code;
}

void Show(const v1::ScreenedProgram& program, WorldModelPromptContext* context) {
  if (!HasProgram(program)) return;
  context->code = Shown(program);
  if (program.has_result()) context->result = program.result();
}

std::optional<v1::JobResult> ResultOf(const v1::SearchState& state,
                                      const std::string& candidate_id) {
  const auto known = state.solutions().find(candidate_id);
  if (known == state.solutions().end() || !known->second.has_result()) return std::nullopt;
  return known->second.result();
}

std::optional<v1::ConfirmedProgram> ConfirmationOf(const v1::SearchState& state,
                                                   const std::string& candidate_id) {
  const auto known = state.log().confirmed().find(candidate_id);
  if (known == state.log().confirmed().end()) return std::nullopt;
  return known->second;
}

std::string CyclesInFlight(const v1::SearchState& state, int own) {
  std::vector<const v1::CycleState*> cycles;
  for (const v1::CycleState& cycle : state.cycles()) {
    if (cycle.cycle() != own) cycles.push_back(&cycle);
  }
  std::stable_sort(cycles.begin(), cycles.end(),
                   [](const v1::CycleState* a, const v1::CycleState* b) {
                     return a->progress().best_score() > b->progress().best_score();
                   });
  std::string text;
  for (size_t i = 0; i < std::min(cycles.size(), kMaxCyclesShown); ++i) {
    const v1::CycleState& cycle = *cycles[i];
    const v1::Node* node = FindNode(state.world_model(), cycle.node_id());
    absl::StrAppend(&text, "- ", cycle.node_id(), ": ",
                    node == nullptr ? "" : OneLine(node->action().title(), kMaxCycleTitle), "; ",
                    cycle.progress().attempts(), " attempt(s)");
    if (cycle.progress().has_best()) {
      absl::StrAppendFormat(&text, ", best score %.3f", cycle.progress().best_score());
    } else if (cycle.lessons_size() > 0) {
      absl::StrAppend(&text, ", none right; ",
                      OneLine(cycle.lessons(cycle.lessons_size() - 1), kMaxCycleTitle));
    }
    if (node != nullptr && node->gains_size() > 0 && cycle.progress().has_best()) {
      absl::StrAppend(&text, " (", OneLine(node->gains(node->gains_size() - 1), kMaxCycleGain),
                      ")");
    }
    text += "\n";
  }
  return text;
}

}  // namespace ksearch
