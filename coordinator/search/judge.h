#ifndef KSEARCH_COORDINATOR_SEARCH_JUDGE_H_
#define KSEARCH_COORDINATOR_SEARCH_JUDGE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/proposer/judge_prompt.h"
#include "coordinator/search/search_strategy.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// The role that names a bottleneck before an attempt (RunConfig.judge), in every strategy.
inline constexpr char kJudgeRole[] = "judge";

// The judge as strategies see it. Pure functions; null where there is none.
struct JudgeProposer {
  std::function<Prompt(const PromptFacts&, const JudgePromptContext&)> prompt;
  std::function<absl::StatusOr<v1::JudgeVerdict>(const std::string& reply)> parse;
};

// Whether `program`, which the next attempt shows, is to be looked at before: there is a judge, the
// program works, and the attempt has not had its look.
bool WantsJudge(const SearchContext& context, const v1::ScreenedProgram* program,
                const v1::JudgeState& judge);

// The question; its call number is the caller's to set.
AskModel JudgeQuestion(const JudgeProposer& proposer, const PromptFacts& facts,
                       JudgePromptContext context, const v1::JudgeState& judge);

// Takes the reply in: a verdict, or another question, or the look ends without one. Returns the
// line to tell.
std::string TakeVerdict(const JudgeProposer& proposer, const std::string& reply,
                        v1::JudgeState* judge);

// The call failed, and the attempt continues without a verdict.
void GiveUpJudge(v1::JudgeState* judge);

// The verdict on the program of that id; nullopt: there is none.
std::optional<v1::JudgeVerdict> VerdictOn(const std::string& program_id,
                                          const v1::JudgeState& judge);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_JUDGE_H_
