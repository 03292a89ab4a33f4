// AttemptSearch: the notes that a strategy wants written down, and the answers to requests for
// them.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/search/attempts/attempt_search.h"
#include "coordinator/search/step_parts.h"
#include "coordinator/world_model/text.h"

namespace ksearch {
namespace {

// Requests for notes in flight at once.
constexpr int kMaxNotes = 4;

}  // namespace

void AttemptSearch::ServeNotes(StepOutput* out) {
  while (state_.stage() == State::ATTEMPTING && rounds_left() && state_.notes_size() < kMaxNotes &&
         log().FindAtFloor() == nullptr) {
    std::optional<v1::NoteState> wanted = policy_->WantedNote(state_);
    if (!wanted.has_value()) break;
    *state_.add_notes() = *std::move(wanted);
  }
  for (v1::NoteState& note : *state_.mutable_notes()) {
    if (state_.stage() != State::ATTEMPTING || note.call_number() != 0) continue;
    note.set_call_number(Ask(question().ForNote(note), out));
  }
}

void AttemptSearch::FoldNote(const ModelAnswer& answer, StepOutput* out) {
  auto* notes = state_.mutable_notes();
  const auto found = std::find_if(notes->begin(), notes->end(), [&](const v1::NoteState& note) {
    return answer.call_number != 0 && note.call_number() == answer.call_number;
  });
  if (found == notes->end()) return;
  found->clear_call_number();
  std::vector<std::string> points;
  std::string fault;
  if (!answer.status.ok()) {
    fault = std::string(answer.status.message());
    if (const auto stop = log().NoteFailedCall(answer.status); stop.has_value()) {
      return Finish(State::FAILED, *stop);  // a resumed search makes the call again
    }
  } else {
    log().NoteAnswer();
    absl::StatusOr<std::vector<std::string>> read =
        proposer_.parse_points(answer.reply.text, found->wanted());
    if (read.ok()) points = *std::move(read);
    fault = std::string(read.status().message());
    if (points.empty() && !found->asked_again()) {
      found->set_asked_again(true);
      found->set_complaint(OneLine(fault, kMaxReason));
      return;
    }
  }
  AddEvent(v1::RunEvent::NOTE,
           points.empty() ? absl::StrCat(found->purpose(), ": no usable answer: ", fault)
                          : absl::StrCat(found->purpose(), ": ", points.size(), " points"),
           out);
  const v1::NoteState note = *found;
  notes->erase(found);
  policy_->TakeNote(note, points, &state_);
}

}  // namespace ksearch
