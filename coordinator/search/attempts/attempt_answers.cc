// AttemptSearch: what becomes of the model's answers. A reply with a program leads to its
// screening, unless the strategy objects to it or the program is known; a judge's verdict stays
// with its attempt.
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "coordinator/search/archive/program_features.h"
#include "coordinator/search/attempts/attempt_search.h"
#include "coordinator/search/step_parts.h"
#include "coordinator/world_model/text.h"

namespace ksearch {
namespace {

constexpr size_t kMaxComplaint = 4 << 10;

}  // namespace

StepOutput AttemptSearch::OnAnswer(const ModelAnswer& answer) {
  StepOutput out;
  v1::AttemptState* attempt = FindAttempt([&](const v1::AttemptState& candidate) {
    return answer.call_number != 0 && (candidate.call_number() == answer.call_number ||
                                       candidate.embedding_call() == answer.call_number ||
                                       candidate.judge().call_number() == answer.call_number);
  });
  if (attempt == nullptr) {
    if (FoldGivenEmbedding(answer, &out)) {
      SettleSeeds(&out);
    } else {
      FoldNote(answer, &out);
    }
  } else if (attempt->embedding_call() == answer.call_number) {
    FoldEmbedding(answer, attempt, &out);
  } else if (attempt->judge().call_number() == answer.call_number) {
    FoldVerdict(answer, attempt, &out);
  } else if (answer.status.ok()) {
    log().NoteAnswer();
    FoldAnswer(answer.reply, attempt, &out);
  } else {
    FoldFailedCall(answer.status, attempt, &out);
  }
  Advance(&out);
  return out;
}

absl::StatusOr<v1::Sources> AttemptSearch::ProgramOf(const LlmReply& reply,
                                                     const v1::AttemptPlan& plan) const {
  const v1::ReplyForm form = plan.reply_form();
  const bool whole = form == v1::REPLY_FORM_UNSPECIFIED || form == v1::REPLY_FORM_WHOLE;
  if (whole || ShownProgram(plan).empty() || proposer_.parse_patch == nullptr) {
    return ProgramIn(reply, proposer_.parse_code, context_.config.language());
  }
  // The prompt showed the program, so it is available.
  const absl::StatusOr<v1::Sources> base = question().SourcesOf(ShownProgram(plan));
  if (!base.ok()) return absl::UnavailableError(base.status().message());
  const auto parse = [&](const std::string& text, v1::Language) {
    return proposer_.parse_patch(text, *base, form);
  };
  return ProgramIn(reply, parse, context_.config.language());
}

void AttemptSearch::FoldAnswer(const LlmReply& reply, v1::AttemptState* attempt, StepOutput* out) {
  const int64_t call_number = attempt->call_number();
  const absl::StatusOr<v1::Sources> sources = ProgramOf(reply, attempt->plan());
  attempt->clear_call_number();
  if (absl::IsUnavailable(sources.status())) {
    return Finish(State::FAILED,
                  absl::StrCat("a program to change cannot be read: ", sources.status().message()));
  }
  if (!sources.ok()) {
    const std::string fault(sources.status().message());
    Tell(v1::RunEvent::REPLY_UNUSABLE, fault, *attempt, out);
    if (!attempt->asked_again()) {
      attempt->set_asked_again(true);
      attempt->set_complaint(CutMiddle(fault, kMaxComplaint));
      attempt->set_patch_failed(absl::IsFailedPrecondition(sources.status()));
      attempt->set_refused_reply(RefusedReply(reply.text));
      return;
    }
    Tell(v1::RunEvent::CANDIDATE_FAILED, absl::StrCat("no usable program: ", fault), *attempt, out);
    EndAttempt(*attempt, absl::StrCat("reply without a usable program: ", fault));
    return;
  }
  attempt->clear_complaint();
  attempt->clear_refused_reply();
  attempt->clear_patch_failed();
  attempt->set_code_call_number(call_number);
  attempt->set_candidate_id(CandidateId(*sources));
  attempt->set_idea(IdeaIn(reply.text));
  *attempt->mutable_features() = FeaturesOf(*sources, policy_->sketches());
  if (WantsEmbedding(*attempt)) {
    attempt->set_embedding_call(Ask(question().ForEmbedding(*sources, attempt->round()), out));
    out->decided_later = true;
    return;
  }
  Admit(*sources, attempt, out);
}

void AttemptSearch::FoldFailedCall(const absl::Status& status, v1::AttemptState* attempt,
                                   StepOutput* out) {
  const int64_t call_number = attempt->call_number();
  attempt->clear_call_number();
  // A resumed search still needs the answer.
  if (const auto stop = log().NoteFailedCall(status); stop.has_value()) {
    Finish(State::FAILED, *stop);
    return;
  }
  Tell(v1::RunEvent::NOTE, absl::StrCat("model call ", call_number, " failed: ", status.message()),
       *attempt, out);
  Tell(v1::RunEvent::CANDIDATE_FAILED, "no reply from the model", *attempt, out);
  EndAttempt(*attempt, "no reply");
}

void AttemptSearch::FoldVerdict(const ModelAnswer& answer, v1::AttemptState* attempt,
                                StepOutput* out) {
  v1::JudgeState* judge = attempt->mutable_judge();
  if (answer.status.ok()) {
    log().NoteAnswer();
    Tell(v1::RunEvent::NOTE, TakeVerdict(proposer_.judge, answer.reply.text, judge), *attempt, out);
    return;
  }
  judge->clear_call_number();
  // The call is made again when the search is resumed.
  if (const auto stop = log().NoteFailedCall(answer.status); stop.has_value()) {
    return Finish(State::FAILED, *stop);
  }
  Tell(v1::RunEvent::NOTE,
       absl::StrCat("model call ", answer.call_number, " failed: ", answer.status.message()),
       *attempt, out);
  GiveUpJudge(judge);
}

void AttemptSearch::Admit(const v1::Sources& sources, v1::AttemptState* attempt, StepOutput* out) {
  if (const auto objection = policy_->ObjectionTo(*attempt, state_); objection.has_value()) {
    return FoldObjection(*objection, attempt, out);
  }
  const bool awaited =
      FindAttempt([&](const v1::AttemptState& other) {
        return other.candidate_id() == attempt->candidate_id() && other.round() != attempt->round();
      }) != nullptr;
  // Only here are the sources at hand; later they are read by their id.
  if (awaited || log().Find(attempt->candidate_id()) != nullptr) return;
  const std::string& operation = attempt->plan().operation();
  Tell(v1::RunEvent::CANDIDATE_PROPOSED,
       absl::StrCat("attempt ", attempt->round(), ": ", attempt->candidate_id().substr(0, 12),
                    operation.empty() ? "" : absl::StrCat(" (", operation, ")")),
       *attempt, out)
      ->set_candidate_id(attempt->candidate_id());
  Screen(sources, attempt, out);
}

void AttemptSearch::FoldObjection(const Objection& objection, v1::AttemptState* attempt,
                                  StepOutput* out) {
  Tell(v1::RunEvent::NOTE, absl::StrCat("not evaluated: ", objection.why), *attempt, out);
  if (objection.ends_attempt) {
    attempt->clear_candidate_id();
    EndAttempt(*attempt, objection.why);
    return;
  }
  v1::AttemptState anew;
  anew.set_round(attempt->round());
  anew.set_replies(attempt->replies() + 1);
  // The plan must not count this attempt as in progress.
  const int round = attempt->round();
  RemoveAttempt(round);
  *anew.mutable_plan() = Plan();
  *state_.add_attempts() = std::move(anew);
}

}  // namespace ksearch
