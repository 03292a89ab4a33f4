#ifndef KSEARCH_COORDINATOR_PROPOSER_NOTE_PROMPT_H_
#define KSEARCH_COORDINATOR_PROPOSER_NOTE_PROMPT_H_

#include <string>
#include <vector>

#include "coordinator/proposer/prompt.h"

namespace ksearch {

// What a question in words shows besides the task.
struct NotePromptContext {
  v1::NoteState::Kind kind = v1::NoteState::LESSONS;
  int wanted = 1;                    // maximum number of points
  std::vector<ShownCode> programs;   // best first
  std::vector<std::string> known;    // points already known, to be improved or not repeated
  std::vector<std::string> history;  // one line per earlier attempt, oldest first
  std::string complaint;             // why the previous reply was unusable; may be empty
};

// Asks for a list that ParsePointsReply reads. A pure function.
Prompt BuildNotePrompt(const PromptFacts& facts, const NotePromptContext& context);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_NOTE_PROMPT_H_
