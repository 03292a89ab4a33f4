#ifndef KSEARCH_COORDINATOR_PROPOSER_NOTE_PROMPT_H_
#define KSEARCH_COORDINATOR_PROPOSER_NOTE_PROMPT_H_

#include <string>
#include <vector>

#include "coordinator/proposer/prompt.h"

namespace ksearch {

// What a question in words shows beside the task.
struct NotePromptContext {
  v1::NoteState::Kind kind = v1::NoteState::LESSONS;
  int wanted = 1;                    // points at most
  std::vector<ShownCode> programs;   // the best first
  std::vector<std::string> known;    // points known already: to be improved, or not repeated
  std::vector<std::string> history;  // a line for each earlier attempt, oldest first
  std::string complaint;             // why the previous reply could not be used; may be empty
};

// A pure function. Asks for a list that ParsePointsReply reads.
Prompt BuildNotePrompt(const PromptFacts& facts, const NotePromptContext& context);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_NOTE_PROMPT_H_
