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

// The judge's functions for strategies. Pure functions; null if there is no judge.
struct JudgeProposer {
  std::function<Prompt(const PromptFacts&, const JudgePromptContext&)> prompt;
  std::function<absl::StatusOr<v1::JudgeVerdict>(const std::string& reply)> parse;
};

// Returns true if the judge should be asked about `program`, which the next attempt shows, first:
// there is a judge, the program works, and the judge has not been asked for this attempt.
bool WantsJudge(const SearchContext& context, const v1::ScreenedProgram* program,
                const v1::JudgeState& judge);

// The question to the judge; the caller must set its call number.
AskModel JudgeQuestion(const JudgeProposer& proposer, const PromptFacts& facts,
                       JudgePromptContext context, const v1::JudgeState& judge);

// Processes the reply, which leads to a verdict, to another question, or to an end without a
// verdict. Returns a line for the event.
std::string TakeVerdict(const JudgeProposer& proposer, const std::string& reply,
                        v1::JudgeState* judge);

// The call failed, and the attempt continues without a verdict.
void GiveUpJudge(v1::JudgeState* judge);

// The verdict on the program with that id; nullopt if there is none.
std::optional<v1::JudgeVerdict> VerdictOn(const std::string& program_id,
                                          const v1::JudgeState& judge);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_JUDGE_H_
