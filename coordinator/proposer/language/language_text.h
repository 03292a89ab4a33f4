#ifndef KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_LANGUAGE_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_LANGUAGE_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "proto/result.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Words of one language inside sentences that prompts use for every language.
struct LanguageWords {
  // "You may: use ...".
  absl::string_view scratch;
  // Beginning of the rule against recognizing the test; empty if libraries may be called.
  absl::string_view libraries;
  // "further files (for example ...)".
  absl::string_view more_files;
  // Rules for plans, in a few sentences; the first says where scratch memory is from.
  absl::string_view planning;
  // What belongs to a call's time beyond what holds of every language; may be empty.
  absl::string_view measuring;
};

// What prompts say of one language alone. Implementations: one pair of files each in this folder;
// what holds of all is in code_prompt_text.cc. Stateless. `device` is one that the language's
// programs run on.
class LanguageText {
 public:
  virtual ~LanguageText() = default;

  virtual LanguageWords Words(v1::DeviceClass device) const = 0;
  // What a program may and may not do, after what holds of every language. `paper`: as short as in
  // the published prompts.
  virtual std::string Rules(v1::DeviceClass device, bool paper) const = 0;
  // The entry's declaration, in backquotes.
  virtual std::string Entry(const v1::Definition& definition) const = 0;
  // The entry in words and as it is written. `kernel_header` is the task's C header; may be empty.
  virtual std::string EntryPoint(const v1::Definition& definition, v1::DeviceClass device,
                                 const std::string& kernel_header) const = 0;
  // What tends to pay in this language on this device, beyond what holds of every language on
  // devices of its kind; may be empty.
  virtual std::string Hints(v1::DeviceClass device, const std::string& hardware) const = 0;
  // What a failure means, where that is another thing than in C++, as OutcomeText; else empty.
  virtual absl::string_view Outcome(v1::Outcome /*outcome*/) const { return ""; }
  // Whether a failure's message may be a traceback, whose lines prompts keep, the last ones for
  // certain; else it is given on one line.
  virtual bool TellsTracebacks() const { return false; }
  // What to look at after this failure, in whole lines; may be empty. From the outcome and the
  // verifier's own words only: no values of inputs.
  virtual std::string Advice(const v1::Definition& /*definition*/,
                             const v1::JobResult& /*result*/) const {
    return "";
  }
};

// The text of the default language for a value that the table of languages does not have.
const LanguageText& TextOf(v1::Language language);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_LANGUAGE_TEXT_H_
