#ifndef KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_LANGUAGE_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_LANGUAGE_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "proto/result.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// One language's words within sentences that prompts use for every language.
struct LanguageWords {
  // "You may: use ...".
  absl::string_view scratch;
  // Beginning of the rule against recognizing the test; empty if libraries may be called.
  absl::string_view libraries;
  // "further files (for example ...)".
  absl::string_view more_files;
  // Rules for plans in a few sentences. The first one says where scratch memory comes from.
  absl::string_view planning;
  // What a call's time includes in addition to what holds for every language; may be empty.
  absl::string_view measuring;
};

// The parts of prompts that are specific to one language. Each implementation is a pair of files in
// this folder; the common parts are in code_prompt_text.cc. Stateless. `device` must be one that
// the language's programs run on.
class LanguageText {
 public:
  virtual ~LanguageText() = default;

  virtual LanguageWords Words(v1::DeviceClass device) const = 0;
  // The language's rules for programs, which follow the common ones. `paper`: as short as in the
  // published prompts.
  virtual std::string Rules(v1::DeviceClass device, bool paper) const = 0;
  // The entry's declaration, in backquotes.
  virtual std::string Entry(const v1::Definition& definition) const = 0;
  // The entry in words, and as code. `kernel_header` is the task's C header; may be empty.
  virtual std::string EntryPoint(const v1::Definition& definition, v1::DeviceClass device,
                                 const std::string& kernel_header) const = 0;
  // What usually makes programs faster in this language on this device, besides the hints for every
  // language on such devices; may be empty.
  virtual std::string Hints(v1::DeviceClass device, const std::string& hardware) const = 0;
  // The meaning of a failure, as OutcomeText, if it differs from that in C++; otherwise empty.
  virtual absl::string_view Outcome(v1::Outcome /*outcome*/) const { return ""; }
  // Returns true if a failure's message may be a traceback. Prompts keep the lines of a traceback,
  // the last ones in any case; other messages are put on one line.
  virtual bool TellsTracebacks() const { return false; }
  // Advice on this failure in whole lines; may be empty. Uses only the outcome and the verifier's
  // own words: no values of inputs.
  virtual std::string Advice(const v1::Definition& /*definition*/,
                             const v1::JobResult& /*result*/) const {
    return "";
  }
};

// Returns the text of the default language for a value that the table of languages does not have.
const LanguageText& TextOf(v1::Language language);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_LANGUAGE_TEXT_H_
