// The part of an AttemptSearch that requests embeddings, for strategies that compare programs.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/status_macros.h"
#include "coordinator/llm/embedding/embedding.h"
#include "coordinator/search/attempts/attempt_search.h"
#include "coordinator/search/step_parts.h"
#include "coordinator/world_model/text.h"

namespace ksearch {
namespace {

// Why the answer is no embedding; empty: it is one.
std::string FaultOf(const ModelAnswer& answer) {
  if (!answer.status.ok()) return absl::StrCat("the call failed: ", answer.status.message());
  return std::string(DecodeEmbedding(answer.reply.text).status().message());
}

}  // namespace

bool AttemptSearch::Embeds() const {
  return policy_->embeds() && state_.embedding_refused().empty();
}

bool AttemptSearch::WantsEmbedding(const v1::AttemptState& attempt) {
  // A known program is not evaluated, and a duplicate of one in progress needs no embedding of its
  // own.
  return Embeds() && log().Find(attempt.candidate_id()) == nullptr &&
         FindAttempt([&](const v1::AttemptState& other) {
           return other.candidate_id() == attempt.candidate_id() &&
                  other.round() != attempt.round();
         }) == nullptr;
}

void AttemptSearch::RefuseEmbeddings(const std::string& fault, StepOutput* out) {
  if (!state_.embedding_refused().empty()) return;  // a call already in flight
  state_.set_embedding_refused(OneLine(fault, kMaxReason));
  AddEvent(v1::RunEvent::NOTE,
           absl::StrCat("no more embeddings in this run, programs are told apart by their tokens: ",
                        state_.embedding_refused()),
           out);
}

absl::StatusOr<v1::Sources> AttemptSearch::SourcesOf(const v1::AttemptState& attempt) const {
  absl::StatusOr<v1::Sources> sources = question().SourcesOf(attempt.candidate_id());
  if (!absl::IsNotFound(sources.status())) return sources;
  // The program was never sent to a worker, so only the reply has it.
  ASSIGN_OR_RETURN(const LlmReply reply, context_.programs->ReadReply(attempt.code_call_number()));
  return ProgramOf(reply, attempt.plan());
}

void AttemptSearch::FoldEmbedding(const ModelAnswer& answer, v1::AttemptState* attempt,
                                  StepOutput* out) {
  attempt->clear_embedding_call();
  if (const std::string fault = FaultOf(answer); fault.empty()) {
    attempt->mutable_features()->set_embedding_call(answer.call_number);
  } else {
    RefuseEmbeddings(fault, out);
  }
  const absl::StatusOr<v1::Sources> sources = SourcesOf(*attempt);
  if (!sources.ok()) {
    return Finish(State::FAILED, absl::StrCat("a program to evaluate cannot be read: ",
                                              sources.status().message()));
  }
  const int64_t code_call = attempt->code_call_number();
  Admit(*sources, attempt, out);
  const auto& screens = out->screens;
  if (std::none_of(screens.begin(), screens.end(), [&](const ScreenCandidate& screen) {
        return screen.call_number == code_call;
      })) {
    out->fruitless_calls.push_back(code_call);
  }
}

bool AttemptSearch::FoldGivenEmbedding(const ModelAnswer& answer, StepOutput* out) {
  for (v1::GivenEmbedding& given : *state_.mutable_given_embeddings()) {
    if (given.ended() || answer.call_number == 0 || given.call_number() != answer.call_number) {
      continue;
    }
    given.set_ended(true);
    if (const std::string fault = FaultOf(answer); !fault.empty()) {
      given.clear_call_number();
      RefuseEmbeddings(fault, out);
    }
    return true;
  }
  return false;
}

bool AttemptSearch::EmbedGiven(StepOutput* out) {
  if (!Embeds()) return true;
  bool ended = true;
  for (const v1::Sources& sources : GivenSources(context_.config)) {
    const std::string id = CandidateId(sources);
    if (log().Find(id) == nullptr) continue;  // the job was lost with its worker
    v1::GivenEmbedding* given = FindGivenEmbedding(id);
    if (given == nullptr) {
      given = state_.add_given_embeddings();
      given->set_candidate_id(id);
    }
    if (!given->ended() && given->call_number() == 0) {
      given->set_call_number(Ask(question().ForEmbedding(sources, 0), out));
    }
    ended = ended && given->ended();
  }
  return ended;
}

v1::GivenEmbedding* AttemptSearch::FindGivenEmbedding(const std::string& candidate_id) {
  for (v1::GivenEmbedding& given : *state_.mutable_given_embeddings()) {
    if (given.candidate_id() == candidate_id) return &given;
  }
  return nullptr;
}

}  // namespace ksearch
