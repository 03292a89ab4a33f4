#include "tests/coordinator/search/search_driver.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

std::string CodeText(const std::optional<ShownCode>& code) {
  if (!code.has_value()) return "none";
  return code->sources.files_size() == 0 ? "empty" : code->sources.files(0).content();
}

// Empty without a profile, as in most tests.
std::string ProfileText(const std::optional<v1::JobResult>& result) {
  if (!result.has_value() || !result->has_profile()) return "";
  const v1::Profile& profile = result->profile();
  return profile.kernels_size() > 0 ? absl::StrCat(" profile=", profile.kernels(0).name())
                                    : absl::StrCat(" profile=none:", profile.note());
}

std::string Named(const std::string& name, const std::string& text) {
  return text.empty() ? "" : absl::StrCat(name, "=[", text, "]");
}

// Empty without a confirmation.
std::string ConfirmationText(const std::optional<v1::ConfirmedProgram>& confirmed) {
  if (!confirmed.has_value()) return "";
  return absl::StrCat(" confirmation=", confirmed->refused() ? "refused:" : "",
                      confirmed->findings_size() > 0 ? confirmed->findings(0) : "sound");
}

std::string Text(const StepOutput& out) {
  std::string text;
  for (const AskModel& ask : out.asks) {
    absl::StrAppend(&text, "ask ", ask.call_number, " ", ask.role, " ", ask.labels.purpose, " ",
                    ask.labels.node_id, " ", ask.labels.attempt, " ", ask.labels.cycle, "\n",
                    ask.user, "\n");
  }
  for (const ScreenCandidate& screen : out.screens) {
    absl::StrAppend(&text, "screen ", screen.tag, " ", screen.candidate_id, " ", screen.node_id,
                    " ", screen.parent_candidate_id, " ", screen.call_number, " ", screen.cycle,
                    " ", screen.round, " ", screen.attempt, "\n");
  }
  for (const ProfileCandidate& profile : out.profiles) {
    absl::StrAppend(&text, "profile ", profile.tag, " ", profile.candidate_id, " ",
                    profile.workload_uuid, " ", profile.architecture, "\n");
  }
  for (const ExamineCandidate& examination : out.examinations) {
    absl::StrAppend(&text, "examine ", examination.tag, " ", examination.candidate_id, "\n");
  }
  if (out.times_baseline) text += "time the baseline\n";
  for (const v1::RunEvent& event : out.events) absl::StrAppend(&text, ToJson(event), "\n");
  if (out.finished) absl::StrAppend(&text, "finished: ", out.finish_reason, " ", out.failed, "\n");
  return text;
}

}  // namespace

JudgeProposer FakeJudge() {
  JudgeProposer judge;
  judge.prompt = [](const PromptFacts&, const JudgePromptContext& context) {
    Prompt prompt;
    prompt.user =
        absl::StrCat("judge=[", CodeText(context.program), "]", ProfileText(context.result),
                     Named(" intent", context.intent), Named(" complaint", context.complaint));
    return prompt;
  };
  judge.parse = [](const std::string& reply) -> absl::StatusOr<v1::JudgeVerdict> {
    if (absl::StartsWith(reply, "unusable")) return absl::InvalidArgumentError("no METHOD");
    v1::JudgeVerdict verdict;
    verdict.set_bottleneck(v1::BOTTLENECK_COMPUTE);
    verdict.set_method(v1::INTENT_KIND_UNROLL);
    verdict.set_plan(reply);
    return verdict;
  };
  return judge;
}

Proposer FakeProposer() {
  Proposer proposer;
  proposer.code_prompt = [](const PromptFacts&, const CodePromptContext& context) {
    constexpr const char* kKinds[] = {"spec", "base", "debug", "improve", "repair"};
    Prompt prompt;
    prompt.user = absl::StrCat(
        "kind=", kKinds[static_cast<int>(context.kind)], " node=", context.node.node_id(),
        " base=[", CodeText(context.base), "] current=[", CodeText(context.current), "] result=",
        context.last_result.has_value() ? v1::Outcome_Name(context.last_result->outcome()) : "none",
        ProfileText(context.last_result),
        context.parent_result.has_value() && context.parent_result->has_profile() ? " parent" : "",
        ProfileText(context.parent_result), " attempt=", context.attempt,
        " lessons=", context.node.lessons_size(), " complaint=[", context.complaint, "]",
        ConfirmationText(context.confirmation), Named(" refused", context.refused_reply),
        Named(" others", context.in_flight_text),
        context.verdict.has_value() ? Named(" verdict", context.verdict->plan()) : "");
    return prompt;
  };
  proposer.judge = FakeJudge();
  proposer.world_model_prompt = [](const PromptFacts&, const WorldModelPromptContext& context) {
    constexpr const char* kKinds[] = {"init", "propose", "refine", "too_hard"};
    Prompt prompt;
    prompt.user = absl::StrCat(
        "kind=", kKinds[static_cast<int>(context.kind)], " node=", context.node_id, " code=[",
        CodeText(context.code), "] result=",
        context.result.has_value() ? v1::Outcome_Name(context.result->outcome()) : "none",
        ProfileText(context.result), " round=", context.round, " lessons=", context.lessons.size(),
        " requirement=[", context.requirement, "] complaint=[", context.complaint, "]",
        ConfirmationText(context.confirmation), Named(" refused", context.refused_reply),
        Named(" others", context.in_flight_text));
    return prompt;
  };
  proposer.parse_code = [](const std::string& reply,
                           v1::Language language) -> absl::StatusOr<v1::Sources> {
    if (absl::StartsWith(reply, "unusable")) return absl::InvalidArgumentError("no <file> block");
    v1::Sources sources;
    sources.set_language(language);
    sources.add_files()->set_path("kernel.cpp");
    sources.mutable_files(0)->set_content(reply);
    return sources;
  };
  proposer.read_confirmation = [](const v1::Task&, const v1::JobResult& result,
                                  const std::string&) -> std::vector<std::string> {
    if (result.outcome() == v1::OUTCOME_PASSED) return {};
    return {result.message()};
  };
  proposer.parse_edits = [](const std::string& reply) -> absl::StatusOr<v1::EditScript> {
    if (absl::StartsWith(reply, "unusable")) return absl::InvalidArgumentError("no JSON object");
    v1::EditScript script;
    const absl::Status status = ParseTextproto(reply, "reply", &script);
    if (!status.ok()) return status;
    return script;
  };
  return proposer;
}

SearchContext TestContext(bool paper, int rounds, int parallel) {
  SearchContext context;
  context.task.set_name("vecadd");
  context.config.set_task("vecadd");
  context.config.set_language(v1::LANGUAGE_CPP);
  context.config.set_rounds(rounds);
  context.config.set_parallel(parallel);
  v1::WorldModelSettings* settings = context.config.mutable_world_model();
  settings->set_preset(paper ? v1::PRESET_PAPER : v1::PRESET_DEFAULT);
  settings->set_stagnation_window(3);
  settings->set_max_difficulty(4);
  settings->set_too_hard_limit(2);
  settings->set_too_hard_decay(0.5);
  settings->set_virtual_loss(0.15);
  settings->set_max_new_nodes(3);
  settings->set_max_edit_retries(3);
  return context;
}

v1::JobResult FakeScreening(const v1::Sources& sources) {
  const std::string& text = sources.files(0).content();
  v1::JobResult result;
  const size_t at = text.rfind(" score=");
  double score = 0;
  if (at == std::string::npos || !absl::SimpleAtod(text.substr(at + 7), &score)) {
    result.set_outcome(v1::OUTCOME_COMPILE_ERROR);
    result.set_message("expected ';'");
    return result;
  }
  result.set_outcome(v1::OUTCOME_PASSED);
  v1::WorkloadResult* workload = result.add_workloads();
  workload->set_workload_uuid("w");
  workload->set_outcome(v1::OUTCOME_PASSED);
  workload->mutable_baseline()->set_median_us(100);
  workload->mutable_candidate()->set_median_us(100 / score);
  double floor_us = 0;
  const size_t floor_at = text.find("floor=");
  if (floor_at != std::string::npos &&
      absl::SimpleAtod(text.substr(floor_at + 6, text.find(' ', floor_at) - floor_at - 6),
                       &floor_us)) {
    workload->set_floor_us(floor_us);
  }
  return result;
}

absl::StatusOr<v1::Sources> TreeShelf::ReadSources(const std::string& candidate_id) const {
  return absl::NotFoundError(candidate_id);
}
absl::StatusOr<v1::JobResult> TreeShelf::ReadResult(const std::string& job_id) const {
  return absl::NotFoundError(job_id);
}
absl::StatusOr<LlmReply> TreeShelf::ReadReply(int64_t call_number) const {
  return absl::NotFoundError(absl::StrCat(call_number));
}
absl::StatusOr<v1::WorldModel> TreeShelf::ReadWorldModel(int64_t revision) const {
  const auto found = trees_.find(revision);
  if (found == trees_.end()) return absl::NotFoundError(absl::StrCat("revision ", revision));
  return found->second;
}
void TreeShelf::Keep(const v1::WorldModel& tree) {
  if (tree.revision() == last_) return;
  last_ = tree.revision();
  EXPECT_TRUE(trees_.emplace(last_, tree).second) << "revision " << last_ << " comes twice";
}

void SearchDriver::Take(StepOutput out) {
  shelf_->Keep(*strategy_->world_model());
  transcript.push_back(Text(out));
  for (const AskModel& ask : out.asks) {
    asks_.push_back(ask);
    asked.push_back(ask);
  }
  for (const ScreenCandidate& screen_asked : out.screens) {
    screens_.push_back(screen_asked);
    screened.push_back(screen_asked);
  }
  for (const ProfileCandidate& profile_asked : out.profiles) {
    profiles_.push_back(profile_asked);
    profiled.push_back(profile_asked);
  }
  for (const ExamineCandidate& examine_asked : out.examinations) {
    examinations_.push_back(examine_asked);
    examined.push_back(examine_asked);
  }
  awaits_baseline_ = awaits_baseline_ || out.times_baseline;
  events.insert(events.end(), out.events.begin(), out.events.end());
  last_ = std::move(out);
  after_step(*this);
}

bool SearchDriver::Step() {
  if (outstanding() == 0) return false;
  if (restart_before_every_step) Restart(context_);
  size_t chosen = pick(outstanding());
  if (awaits_baseline_) {
    if (chosen-- == 0) {
      awaits_baseline_ = false;
      ++baselines_timed;
      Take(strategy_->OnBaseline({kBaselineTag, baseline}));
      return true;
    }
  }
  if (chosen < examinations_.size()) {
    const ExamineCandidate examine_asked = examinations_[chosen];
    examinations_.erase(examinations_.begin() + chosen);
    Take(strategy_->OnExamined({examine_asked.tag, examine(examine_asked)}));
    return true;
  }
  chosen -= examinations_.size();
  if (chosen < asks_.size()) {
    const AskModel ask = asks_[chosen];
    asks_.erase(asks_.begin() + chosen);
    ModelAnswer answer;
    answer.call_number = ask.call_number;
    answer.status = fault(ask);
    if (answer.status.ok()) {
      answer.reply.text = reply_(ask);
      answer.reply.finish_reason = "stop";
    }
    Take(strategy_->OnAnswer(answer));
  } else if (chosen >= asks_.size() + screens_.size() + profiles_.size()) {
    const size_t index = chosen - asks_.size() - screens_.size() - profiles_.size();
    const ScreenCandidate candidate = confirmations_[index];
    confirmations_.erase(confirmations_.begin() + index);
    Confirm(candidate.candidate_id, confirm(candidate.sources), "a race");
  } else if (chosen >= asks_.size() + screens_.size()) {
    const size_t index = chosen - asks_.size() - screens_.size();
    const ProfileCandidate profile_asked = profiles_[index];
    profiles_.erase(profiles_.begin() + index);
    Take(strategy_->OnProfiled({profile_asked.tag, profile(profile_asked)}));
  } else {
    const size_t index = chosen - asks_.size();
    const ScreenCandidate screen_asked = screens_[index];
    screens_.erase(screens_.begin() + index);
    const v1::JobResult result = screen(screen_asked);
    if (confirm && result.outcome() == v1::OUTCOME_PASSED &&
        confirmed_.insert(screen_asked.candidate_id).second) {
      confirmations_.push_back(screen_asked);
    }
    Take(strategy_->OnScreened({screen_asked.tag, result}));
  }
  return true;
}

void SearchDriver::Confirm(const std::string& candidate_id, v1::Outcome outcome,
                           const std::string& message) {
  Confirmation confirmation;
  confirmation.candidate_id = candidate_id;
  confirmation.rival_id = "baseline";
  confirmation.result.set_outcome(outcome);
  confirmation.result.set_message(message);
  if (outcome == v1::OUTCOME_PASSED) {
    v1::Comparison* comparison = confirmation.result.add_comparisons();
    comparison->set_rival_id("baseline");
    comparison->set_verdict(v1::Comparison::IMPROVED);
    comparison->set_log_speedup(0.5);
  }
  Take(strategy_->OnConfirmed(confirmation));
}

absl::Status SearchDriver::Steer(const v1::SteerRunRequest& change) {
  absl::StatusOr<StepOutput> out = strategy_->OnSteered(change);
  if (out.ok()) Take(*std::move(out));
  return out.status();
}

void SearchDriver::Run(int max_steps) {
  for (int i = 0; i < max_steps && Step(); ++i) {
  }
  EXPECT_EQ(outstanding(), 0u) << "the search does not end";
  EXPECT_TRUE(finished()) << "the search hangs";
}

void SearchDriver::Restart(const SearchContext& context) {
  const std::string state = strategy_->Save();
  const std::string tree_before = tree().SerializeAsString();
  context_ = context;
  context_.programs = shelf_;
  strategy_ = std::make_unique<WorldModelStrategy>(context_, FakeProposer());
  absl::StatusOr<StepOutput> out = strategy_->Restore(state);
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  const bool silent = out->asks.empty() && out->screens.empty() && out->profiles.empty() &&
                      out->examinations.empty() && !out->times_baseline && out->events.empty();
  if (silent) {
    EXPECT_EQ(strategy_->Save(), state);
    EXPECT_EQ(tree().SerializeAsString(), tree_before) << "changed without a new revision";
  } else {
    Take(*std::move(out));
  }
}

v1::SearchState SearchDriver::state() const {
  v1::SearchState state;
  EXPECT_TRUE(state.ParseFromString(strategy_->Save()));
  *state.mutable_world_model() = *strategy_->world_model();
  return state;
}

std::vector<std::string> SearchDriver::Calls(const std::string& role) const {
  std::vector<std::string> calls;
  for (const AskModel& ask : asked) {
    if (!role.empty() && ask.role != role) continue;
    calls.push_back(
        absl::StrCat(ask.labels.purpose, "/", ask.labels.node_id, "/", ask.labels.attempt));
  }
  return calls;
}

int SearchDriver::CountEvents(v1::RunEvent::Kind kind) const {
  return std::count_if(events.begin(), events.end(),
                       [&](const v1::RunEvent& event) { return event.kind() == kind; });
}

const v1::RunEvent* SearchDriver::FindEvent(v1::RunEvent::Kind kind) const {
  const auto event = std::find_if(events.begin(), events.end(),
                                  [&](const v1::RunEvent& e) { return e.kind() == kind; });
  return event == events.end() ? nullptr : &*event;
}

}  // namespace ksearch
