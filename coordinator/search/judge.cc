#include "coordinator/search/judge.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/memory_words.h"
#include "coordinator/world_model/text.h"

namespace ksearch {
namespace {

constexpr size_t kMaxComplaint = 1000;
constexpr size_t kMaxToldPlan = 200;

}  // namespace

bool WantsJudge(const SearchContext& context, const v1::ScreenedProgram* program,
                const v1::JudgeState& judge) {
  return context.config.judge() && program != nullptr && program->passed() && !judge.ended();
}

AskModel JudgeQuestion(const JudgeProposer& proposer, const PromptFacts& facts,
                       JudgePromptContext context, const v1::JudgeState& judge) {
  context.complaint = judge.complaint();
  Prompt prompt = proposer.prompt(facts, context);
  AskModel ask;
  ask.role = kJudgeRole;
  ask.labels.purpose = "judge";
  ask.system = std::move(prompt.system);
  ask.user = std::move(prompt.user);
  ask.dropped_parts = std::move(prompt.dropped_parts);
  return ask;
}

std::string TakeVerdict(const JudgeProposer& proposer, const std::string& reply,
                        v1::JudgeState* judge) {
  judge->clear_call_number();
  judge->clear_complaint();
  const absl::StatusOr<v1::JudgeVerdict> verdict = proposer.parse(reply);
  if (verdict.ok()) {
    *judge->mutable_verdict() = *verdict;
    judge->set_ended(true);
    return absl::StrCat("judge: limited by ", BottleneckWord(verdict->bottleneck()), "; ",
                        IntentWord(verdict->method()), ": ",
                        OneLine(verdict->plan(), kMaxToldPlan));
  }
  const std::string fault(verdict.status().message());
  if (judge->asked_again()) {
    judge->set_ended(true);
  } else {
    judge->set_asked_again(true);
    judge->set_complaint(OneLine(fault, kMaxComplaint));
  }
  return absl::StrCat("judge: no verdict: ", fault);
}

void GiveUpJudge(v1::JudgeState* judge) {
  judge->clear_call_number();
  judge->clear_complaint();
  judge->set_ended(true);
}

std::optional<v1::JudgeVerdict> VerdictOn(const std::string& program_id,
                                          const v1::JudgeState& judge) {
  if (!judge.has_verdict() || judge.program_id() != program_id) return std::nullopt;
  return judge.verdict();
}

}  // namespace ksearch
