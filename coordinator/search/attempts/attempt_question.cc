#include "coordinator/search/attempts/attempt_question.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "coordinator/search/archive/program_features.h"
#include "coordinator/search/confirmation.h"
#include "coordinator/search/profiling.h"
#include "coordinator/search/score.h"
#include "coordinator/search/shown_state.h"

namespace ksearch {
const std::string& ShownProgram(const v1::AttemptPlan& plan) {
  return plan.kind() == v1::AttemptPlan::REPAIR ? plan.failed_id() : plan.base_id();
}

const char* PurposeOf(v1::AttemptPlan::Kind kind) {
  switch (kind) {
    case v1::AttemptPlan::VARY:
      return "vary";
    case v1::AttemptPlan::REFINE:
      return "improve";
    case v1::AttemptPlan::REPAIR:
      return "debug";
    case v1::AttemptPlan::CROSS:
      return "cross";
    default:
      return "sample";
  }
}

absl::StatusOr<v1::Sources> AttemptQuestion::SourcesOf(const std::string& candidate_id) const {
  if (context_.programs == nullptr) return absl::InternalError("no programs to read from");
  return context_.programs->ReadSources(candidate_id);
}

absl::StatusOr<v1::ScreenedProgram> AttemptQuestion::Load(const std::string& candidate_id) const {
  const auto known = state_.log().screened().find(candidate_id);
  if (known == state_.log().screened().end()) {
    return absl::NotFoundError(absl::StrCat("program ", candidate_id, " was not screened"));
  }
  v1::ScreenedProgram program = known->second;
  ASSIGN_OR_RETURN(*program.mutable_sources(), SourcesOf(candidate_id));
  ASSIGN_OR_RETURN(const v1::JobResult result,
                   context_.programs->ReadResult(known->second.result().job_id()));
  *program.mutable_result() = TrimmedResult(result);
  if (!program.profile_job_id().empty()) {
    ASSIGN_OR_RETURN(const v1::JobResult profiled,
                     context_.programs->ReadResult(program.profile_job_id()));
    *program.mutable_result()->mutable_profile() = ProfileIn(profiled);
  }
  return program;
}

PromptFacts AttemptQuestion::Facts() const {
  const v1::EvaluationLogState& known = state_.log();
  PromptFacts facts;
  facts.task = context_.task;
  facts.language = context_.config.language();
  facts.kernel_header = context_.kernel_header;
  facts.target_hardware = context_.target_hardware;
  facts.baseline_us.insert(known.baseline_us().begin(), known.baseline_us().end());
  facts.floor_us.insert(known.floor_us().begin(), known.floor_us().end());
  facts.peaks = known.peaks();
  const v1::MemorySnapshot& memory = context_.config.memory_snapshot();
  facts.priors.assign(memory.priors().begin(), memory.priors().end());
  return facts;
}

absl::StatusOr<AskModel> AttemptQuestion::ForProgram(const v1::AttemptState& attempt) const {
  const v1::AttemptPlan& plan = attempt.plan();
  const v1::EvaluationLogState& known = state_.log();
  AttemptPromptContext shown;
  shown.kind = plan.kind();
  shown.style = plan.style();
  shown.reply_form = ShownProgram(plan).empty() ? v1::REPLY_FORM_WHOLE : plan.reply_form();
  shown.direction = plan.direction();
  shown.notes.assign(plan.notes().begin(), plan.notes().end());
  shown.complaint = attempt.complaint();
  shown.refused_reply = attempt.refused_reply();
  shown.patch_failed = attempt.patch_failed();
  shown.verdict = VerdictOn(ShownProgram(plan), attempt.judge());
  const auto confirmation = [&](const std::string& id) -> std::optional<v1::ConfirmedProgram> {
    const auto confirmed = known.confirmed().find(id);
    if (confirmed == known.confirmed().end()) return std::nullopt;
    return confirmed->second;
  };
  if (!plan.base_id().empty()) {
    ASSIGN_OR_RETURN(const v1::ScreenedProgram base, Load(plan.base_id()));
    shown.base = Shown(base);
    if (shows_results_ && !plan.hides_results()) {
      shown.base_result = base.result();
      shown.base_confirmation = confirmation(plan.base_id());
    }
  }
  if (!plan.failed_id().empty()) {
    ASSIGN_OR_RETURN(const v1::ScreenedProgram failed, Load(plan.failed_id()));
    shown.failed = Shown(failed);
    shown.failed_result = failed.result();
    shown.failed_confirmation = confirmation(plan.failed_id());
  }
  for (const std::string& id : plan.inspiration_ids()) {
    ASSIGN_OR_RETURN(const v1::ScreenedProgram inspiration, Load(id));
    shown.inspirations.push_back(Shown(inspiration));
  }
  for (int i = std::max(0, state_.ended_size() - plan.history()); i < state_.ended_size(); ++i) {
    shown.history.push_back(HistoryLine(state_.ended(i)));
  }
  Prompt prompt = proposer_.prompt(Facts(), shown);
  AskModel ask;
  ask.role = kCodeRole;
  ask.labels = {PurposeOf(plan.kind()), "", attempt.round(), 0};
  ask.system = std::move(prompt.system);
  ask.user = std::move(prompt.user);
  ask.dropped_parts = std::move(prompt.dropped_parts);
  return ask;
}

absl::StatusOr<AskModel> AttemptQuestion::ForJudge(const v1::AttemptState& attempt) const {
  const v1::AttemptPlan& plan = attempt.plan();
  JudgePromptContext shown;
  ASSIGN_OR_RETURN(const v1::ScreenedProgram program, Load(ShownProgram(plan)));
  shown.program = Shown(program);
  shown.result = program.result();
  shown.intent = plan.direction();
  for (int i = std::max(0, state_.ended_size() - plan.history()); i < state_.ended_size(); ++i) {
    shown.history.push_back(HistoryLine(state_.ended(i)));
  }
  AskModel ask = JudgeQuestion(proposer_.judge, Facts(), std::move(shown), attempt.judge());
  ask.labels.attempt = attempt.round();
  return ask;
}

AskModel AttemptQuestion::ForEmbedding(const v1::Sources& sources, int round) const {
  AskModel ask;
  ask.role = kEmbeddingRole;
  ask.labels = {kEmbedPurpose, "", round, 0};
  ask.user = TextOf(sources);
  return ask;
}

absl::StatusOr<AskModel> AttemptQuestion::ForNote(const v1::NoteState& note) const {
  NotePromptContext shown;
  shown.kind = note.kind();
  shown.wanted = note.wanted();
  shown.known.assign(note.known().begin(), note.known().end());
  shown.complaint = note.complaint();
  for (const std::string& id : note.program_ids()) {
    ASSIGN_OR_RETURN(const v1::ScreenedProgram program, Load(id));
    shown.programs.push_back(Shown(program));
  }
  for (int i = std::max(0, state_.ended_size() - note.history()); i < state_.ended_size(); ++i) {
    shown.history.push_back(HistoryLine(state_.ended(i)));
  }
  Prompt prompt = proposer_.note_prompt(Facts(), shown);
  AskModel ask;
  ask.role = kNotesRole;
  ask.labels = {note.purpose(), "", 0, 0};
  ask.system = std::move(prompt.system);
  ask.user = std::move(prompt.user);
  ask.dropped_parts = std::move(prompt.dropped_parts);
  return ask;
}

std::string AttemptQuestion::HistoryLine(const v1::AttemptRecord& record) const {
  std::string line = absl::StrCat("attempt ", record.round(), ": ");
  if (!record.fault().empty()) {
    absl::StrAppend(&line, record.fault());
  } else {
    const auto known = state_.log().screened().find(record.candidate_id());
    const auto confirmed = state_.log().confirmed().find(record.candidate_id());
    if (known == state_.log().screened().end()) {
      line += "no result";
    } else if (confirmed != state_.log().confirmed().end() && confirmed->second.refused()) {
      absl::StrAppend(&line, known->second.verdict(), ", but ", RefusalLine(confirmed->second));
    } else {
      line += known->second.verdict();
    }
  }
  if (!record.idea().empty()) absl::StrAppend(&line, "; it said: ", record.idea());
  return line;
}

}  // namespace ksearch
