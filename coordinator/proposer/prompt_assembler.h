#ifndef KSEARCH_COORDINATOR_PROPOSER_PROMPT_ASSEMBLER_H_
#define KSEARCH_COORDINATOR_PROPOSER_PROMPT_ASSEMBLER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "coordinator/proposer/text_safety.h"

namespace ksearch {

// Estimated tokens of a text: four bytes each, rounded up. Close enough for English and code to
// keep a prompt within a context window; providers count for money.
int EstimateTokens(absl::string_view text);

// One section of a prompt.
struct PromptPart {
  // Order in which parts give way when the whole is too long: the least important first.
  enum class Priority { kBackground, kUseful, kImportant, kRequired };

  std::string name;     // for the record of what was cut
  std::string heading;  // "" = none
  std::string text;     // an empty one leaves the whole part out
  Priority priority = Priority::kUseful;
  int max_tokens = 0;  // of this part alone; 0 = no limit of its own
  Keep keep = Keep::kHead;
  // A truncated part shorter than this is no longer useful and is dropped instead.
  int min_tokens = 64;
};

// What is required is never dropped, however little of it is left.
PromptPart MakePart(absl::string_view name, absl::string_view heading, std::string text,
                    PromptPart::Priority priority, int max_tokens, Keep keep = Keep::kHead);

// Puts parts together in the order they were added, within their own budgets and that of the whole.
// Required parts are cut to their own budget only. The same parts give the same text.
class PromptAssembler {
 public:
  explicit PromptAssembler(int max_tokens) : max_tokens_(max_tokens) {}

  PromptAssembler& Add(PromptPart part);

  // The text; a line per part cut or dropped goes to `dropped`: "name: kept N of M tokens".
  std::string Assemble(std::vector<std::string>* dropped) const;

 private:
  const int max_tokens_;
  std::vector<PromptPart> parts_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_PROMPT_ASSEMBLER_H_
