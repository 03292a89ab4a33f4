#ifndef KSEARCH_COORDINATOR_PROPOSER_PROMPT_ASSEMBLER_H_
#define KSEARCH_COORDINATOR_PROPOSER_PROMPT_ASSEMBLER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "coordinator/proposer/text_safety.h"

namespace ksearch {

// Estimates the tokens of a text: four bytes each, rounded up. Accurate enough for English and code
// to keep a prompt within a context window; costs use the provider's counts.
int EstimateTokens(absl::string_view text);

// One section of a prompt.
struct PromptPart {
  // If the prompt is too long, its least important parts are shortened first.
  enum class Priority { kBackground, kUseful, kImportant, kRequired };

  std::string name;     // for the record of shortened parts
  std::string heading;  // "": none
  std::string text;     // if empty, the whole part is omitted
  Priority priority = Priority::kUseful;
  int max_tokens = 0;  // limit of this part alone; 0: none
  Keep keep = Keep::kHead;
  // A part that would be shortened below this is useless and is dropped instead.
  int min_tokens = 64;
};

// A required part is never dropped, however short it becomes.
PromptPart MakePart(absl::string_view name, absl::string_view heading, std::string text,
                    PromptPart::Priority priority, int max_tokens, Keep keep = Keep::kHead);

// Joins parts in the order in which they were added, within the limits of each part and of the
// whole prompt. Required parts are shortened only to their own limit. The same parts give the same
// text.
class PromptAssembler {
 public:
  explicit PromptAssembler(int max_tokens) : max_tokens_(max_tokens) {}

  PromptAssembler& Add(PromptPart part);

  // Returns the text. Appends to `dropped` a line per shortened or dropped part: "name: kept N of M
  // tokens".
  std::string Assemble(std::vector<std::string>* dropped) const;

 private:
  const int max_tokens_;
  std::vector<PromptPart> parts_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_PROMPT_ASSEMBLER_H_
