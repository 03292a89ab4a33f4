#ifndef KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_LANGUAGE_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_LANGUAGE_TEXT_H_

#include <string>

#include "proto/task.pb.h"

namespace ksearch {

// What prompts say of one language alone. Implementations: one pair of files each in this folder;
// what holds of all is in code_prompt_text.cc. Stateless.
class LanguageText {
 public:
  virtual ~LanguageText() = default;

  // What a program may and may not do, after what holds of every language. `paper`: as short as in
  // the published prompts.
  virtual std::string Rules(bool paper) const = 0;
  // The same for plans, in a sentence or two.
  virtual std::string PlanningRules() const = 0;
  // The entry's declaration, in backquotes.
  virtual std::string Entry(const v1::Definition& definition) const = 0;
  // The entry in words and as it is written. `kernel_header` is the task's C header; may be empty.
  virtual std::string EntryPoint(const v1::Definition& definition,
                                 const std::string& kernel_header) const = 0;
  // What tends to pay on this hardware, beyond what holds of every device of its kind; may be
  // empty.
  virtual std::string Hints(const std::string& hardware) const = 0;
};

// Of the default language for a value that the table of languages does not have.
const LanguageText& TextOf(v1::Language language);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_LANGUAGE_TEXT_H_
