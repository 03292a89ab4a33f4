#include "tests/coordinator/search/attempts/attempt_driver.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/textproto.h"
#include "tests/coordinator/search/search_driver.h"

namespace ksearch {
namespace {

std::string CodeText(const std::optional<ShownCode>& code) {
  return code.has_value() ? code->sources.files(0).content() : "none";
}

}  // namespace

absl::StatusOr<v1::Sources> FakeShelf::ReadSources(const std::string& candidate_id) const {
  if (broken) return absl::UnavailableError("the disk is gone");
  const auto found = sources.find(candidate_id);
  if (found == sources.end()) return absl::NotFoundError(candidate_id);
  return found->second;
}

absl::StatusOr<v1::JobResult> FakeShelf::ReadResult(const std::string& job_id) const {
  if (broken) return absl::UnavailableError("the disk is gone");
  const auto found = results.find(job_id);
  if (found == results.end()) return absl::NotFoundError(job_id);
  return found->second;
}

absl::StatusOr<LlmReply> FakeShelf::ReadReply(int64_t call_number) const {
  if (broken) return absl::UnavailableError("the disk is gone");
  const auto found = replies.find(call_number);
  if (found == replies.end()) return absl::NotFoundError(absl::StrCat("call ", call_number));
  return found->second;
}

absl::StatusOr<v1::WorldModel> FakeShelf::ReadWorldModel(int64_t /*revision*/) const {
  return absl::NotFoundError("strategies of attempts have no tree");
}

AttemptProposer FakeAttemptProposer() {
  AttemptProposer proposer;
  proposer.prompt = [](const PromptFacts&, const AttemptPromptContext& context) {
    Prompt prompt;
    prompt.user = absl::StrCat("base=[", CodeText(context.base), "]");
    if (context.base_result.has_value()) {
      absl::StrAppend(&prompt.user,
                      " us=", context.base_result->workloads(0).candidate().median_us());
      if (context.base_result->has_profile()) {
        absl::StrAppend(&prompt.user,
                        " profile=", context.base_result->profile().kernels(0).name());
      }
    }
    if (context.failed.has_value()) {
      absl::StrAppend(&prompt.user, " failed=[", CodeText(context.failed), "] ",
                      context.failed_result->message());
    }
    if (context.failed_confirmation.has_value()) prompt.user += " refused";
    if (!context.history.empty()) {
      absl::StrAppend(&prompt.user, " history=", absl::StrJoin(context.history, " / "));
    }
    for (const ShownCode& other : context.inspirations) {
      absl::StrAppend(&prompt.user, " with=[", CodeText(other), "]");
    }
    if (context.style != 0) absl::StrAppend(&prompt.user, " style=", context.style);
    if (context.reply_form > v1::REPLY_FORM_WHOLE) prompt.user += " patch";
    if (!context.direction.empty()) absl::StrAppend(&prompt.user, " direction=", context.direction);
    if (!context.notes.empty()) {
      absl::StrAppend(&prompt.user, " notes=", absl::StrJoin(context.notes, " / "));
    }
    if (context.verdict.has_value()) {
      absl::StrAppend(&prompt.user, " verdict=", context.verdict->plan());
    }
    if (context.patch_failed) prompt.user += " misfit";
    if (!context.complaint.empty()) absl::StrAppend(&prompt.user, " complaint=", context.complaint);
    return prompt;
  };
  proposer.judge = FakeJudge();
  proposer.parse_code = [](const std::string& reply,
                           v1::Language language) -> absl::StatusOr<v1::Sources> {
    if (absl::StartsWith(reply, "unusable")) return absl::InvalidArgumentError("no <file> block");
    v1::Sources sources;
    sources.set_language(language);
    sources.add_files()->set_path("kernel.cpp");
    sources.mutable_files(0)->set_content(reply);
    return sources;
  };
  // "patch A -> B" replaces A by B.
  proposer.parse_patch = [](const std::string& reply, const v1::Sources& base,
                            v1::ReplyForm) -> absl::StatusOr<v1::Sources> {
    if (absl::StartsWith(reply, "unusable")) return absl::InvalidArgumentError("no patch");
    v1::Sources sources = base;
    std::string text = base.files(0).content();
    absl::string_view patch = reply;
    if (!absl::ConsumePrefix(&patch, "patch ")) {
      text = reply;
    } else {
      const std::vector<std::string> sides = absl::StrSplit(patch, " -> ");
      const size_t at = text.find(sides.at(0));
      if (at == std::string::npos) {
        return absl::FailedPreconditionError(absl::StrCat("not found: ", sides[0]));
      }
      text.replace(at, sides[0].size(), sides.at(1));
    }
    sources.mutable_files(0)->set_content(text);
    return sources;
  };
  proposer.note_prompt = [](const PromptFacts&, const NotePromptContext& context) {
    Prompt prompt;
    prompt.user = absl::StrCat(v1::NoteState::Kind_Name(context.kind), " ", context.wanted);
    for (const ShownCode& program : context.programs) {
      absl::StrAppend(&prompt.user, " [", CodeText(program), "]");
    }
    if (!context.known.empty()) {
      absl::StrAppend(&prompt.user, " known=", absl::StrJoin(context.known, " / "));
    }
    if (!context.complaint.empty()) absl::StrAppend(&prompt.user, " complaint=", context.complaint);
    return prompt;
  };
  proposer.parse_points = [](const std::string& reply,
                             int wanted) -> absl::StatusOr<std::vector<std::string>> {
    if (absl::StartsWith(reply, "unusable")) return absl::InvalidArgumentError("no list");
    std::vector<std::string> points = absl::StrSplit(reply, " / ");
    if (points.size() > static_cast<size_t>(wanted)) points.resize(static_cast<size_t>(wanted));
    return points;
  };
  proposer.read_confirmation = [](const v1::Task&, const v1::JobResult& result,
                                  const std::string&) -> std::vector<std::string> {
    if (result.outcome() == v1::OUTCOME_PASSED) return {};
    return {result.message()};
  };
  return proposer;
}

SearchContext AttemptContext(int rounds, int parallel) {
  SearchContext context;
  context.task.set_name("vecadd");
  context.task.add_baselines()->set_language(v1::LANGUAGE_CPP);
  context.config.set_task("vecadd");
  context.config.set_language(v1::LANGUAGE_CPP);
  context.config.set_rounds(rounds);
  context.config.set_parallel(parallel);
  return context;
}

AttemptDriver::AttemptDriver(SearchContext context, Make make, Reply reply)
    : context_(std::move(context)), make_(std::move(make)), reply_(std::move(reply)) {
  context_.programs = shelf_;
  strategy_ = make_(context_);
}

void AttemptDriver::Take(StepOutput out) {
  std::string text;
  const auto line = [&](auto... parts) { absl::StrAppend(&text, parts..., "\n"); };
  for (const AskModel& ask : out.asks) {
    line("ask ", ask.call_number, " ", ask.labels.purpose, "/", ask.labels.attempt, " ", ask.user);
    asked.push_back(ask);
    pending_.push_back({"ask", ask, "", "", {}});
  }
  for (const ScreenCandidate& screen : out.screens) {
    line("screen ", screen.tag, " [", screen.sources.files(0).content(), "] of call ",
         screen.call_number, screen.parent_candidate_id.empty() ? "" : " from a parent");
    screened.push_back(screen);
    shelf_->sources[screen.candidate_id] = screen.sources;
    pending_.push_back({"screen", {}, screen.tag, screen.candidate_id, screen.sources});
  }
  for (const ProfileCandidate& profile : out.profiles) {
    line("profile ", profile.tag);
    ++profiled;
    pending_.push_back({"profile", {}, profile.tag, profile.candidate_id, profile.sources});
  }
  for (const ExamineCandidate& examine_asked : out.examinations) {
    line("examine ", examine_asked.tag);
    ++examined;
    pending_.push_back(
        {"examine", {}, examine_asked.tag, examine_asked.candidate_id, examine_asked.sources});
  }
  if (out.times_baseline) {
    line("time the baseline");
    ++baselines_timed;
    pending_.push_back({"baseline", {}, kBaselineTag, "", {}});
  }
  for (const v1::RunEvent& event : out.events) {
    // A proposed program is named by its digest.
    line(v1::RunEvent::Kind_Name(event.kind()), " ", event.round(),
         event.kind() == v1::RunEvent::CANDIDATE_PROPOSED ? "" : absl::StrCat(" ", event.text()));
    events.push_back(event);
  }
  if (out.finished) line(out.failed ? "failed: " : "finished: ", out.finish_reason);
  transcript.push_back(text);
  last_ = std::move(out);
  after_step(*this);
}

bool AttemptDriver::Step() {
  if (pending_.empty()) return false;
  if (restart_before_every_step) Restart(context_);
  const size_t chosen = pick(pending_.size());
  const Pending asked_for = pending_[chosen];
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(chosen));
  v1::JobResult result;
  result.set_job_id(absl::StrCat("job of ", asked_for.tag));
  result.set_outcome(v1::OUTCOME_PASSED);
  if (asked_for.what == "ask") {
    ModelAnswer answer;
    answer.call_number = asked_for.ask.call_number;
    answer.status = fault(asked_for.ask);
    if (answer.status.ok()) {
      answer.reply.text = reply_(asked_for.ask);
      answer.reply.finish_reason = "stop";
      shelf_->replies[answer.call_number] = answer.reply;
    }
    Take(strategy_->OnAnswer(answer));
  } else if (asked_for.what == "screen") {
    if (loses(asked_for.tag)) {
      result.set_outcome(v1::OUTCOME_WORKER_LOST);
    } else {
      const std::string job_id = result.job_id();
      result = FakeScreening(asked_for.sources);
      result.set_job_id(job_id);
    }
    shelf_->results[result.job_id()] = result;
    if (confirm && result.outcome() == v1::OUTCOME_PASSED &&
        confirmed_[asked_for.candidate_id]++ == 0) {
      pending_.push_back({"confirm", {}, "", asked_for.candidate_id, asked_for.sources});
    }
    Take(strategy_->OnScreened({asked_for.tag, result}));
  } else if (asked_for.what == "profile") {
    v1::KernelProfile* kernel = result.mutable_profile()->add_kernels();
    kernel->set_name("decode");
    kernel->set_share(1);
    shelf_->results[result.job_id()] = result;
    Take(strategy_->OnProfiled({asked_for.tag, result}));
  } else if (asked_for.what == "examine") {
    result.mutable_sanitizer()->mutable_time()->set_seconds(1);
    result.set_outcome(examine(asked_for.sources));
    result.set_message("a race");
    Take(strategy_->OnExamined({asked_for.tag, result}));
  } else if (asked_for.what == "baseline") {
    Take(strategy_->OnBaseline({asked_for.tag, result}));
  } else {
    Confirmation confirmation;
    confirmation.candidate_id = asked_for.candidate_id;
    confirmation.rival_id = "baseline";
    confirmation.result = result;
    confirmation.result.set_outcome(confirm(asked_for.sources));
    confirmation.result.set_message("wrong on unseen sizes");
    Take(strategy_->OnConfirmed(confirmation));
  }
  return true;
}

void AttemptDriver::Run(int max_steps) {
  for (int i = 0; i < max_steps && Step(); ++i) {
  }
  EXPECT_TRUE(pending_.empty()) << "the search does not end";
  EXPECT_TRUE(finished()) << "the search hangs";
}

void AttemptDriver::Restart(const SearchContext& context) {
  const std::string state = strategy_->Save();
  context_ = context;
  context_.programs = shelf_;
  strategy_ = make_(context_);
  absl::StatusOr<StepOutput> out = strategy_->Restore(state);
  ASSERT_TRUE(out.ok()) << out.status();
  const bool silent = out->asks.empty() && out->screens.empty() && out->profiles.empty() &&
                      out->examinations.empty() && !out->times_baseline && out->events.empty();
  if (silent) {
    EXPECT_EQ(strategy_->Save(), state);
  } else {
    Take(*std::move(out));
  }
}

v1::AttemptSearchState AttemptDriver::state() const {
  v1::AttemptSearchState state;
  EXPECT_TRUE(state.ParseFromString(strategy_->Save()));
  return state;
}

std::vector<std::string> AttemptDriver::Calls() const {
  std::vector<std::string> calls;
  for (const AskModel& ask : asked) {
    calls.push_back(absl::StrCat(ask.labels.purpose, "/", ask.labels.attempt));
  }
  return calls;
}

}  // namespace ksearch
