#ifndef KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_PYTHON_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_PYTHON_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "coordinator/proposer/language/language_text.h"

namespace ksearch {

// Python: torch on processors, Triton on GPUs. To change what models are told, edit python_text.cc,
// or python_failure_text.cc for the texts after failures.
class PythonText final : public LanguageText {
 public:
  LanguageWords Words(v1::DeviceClass device) const override;
  std::string Rules(v1::DeviceClass device, bool paper) const override;
  std::string Entry(const v1::Definition& definition) const override;
  std::string EntryPoint(const v1::Definition& definition, v1::DeviceClass device,
                         const std::string& kernel_header) const override;
  std::string Hints(v1::DeviceClass device, const std::string& hardware) const override;
  absl::string_view Outcome(v1::Outcome outcome) const override;
  bool TellsTracebacks() const override { return true; }
  std::string Advice(const v1::Definition& definition, const v1::JobResult& result) const override;

  // A complete program for another task, as EntryPoint shows it.
  static absl::string_view Example(v1::DeviceClass device);
};

// "def run(x, scale, y):" and "def run(x, scale):": the two forms of the entry. Arguments are
// passed by position, so a name that Python reserves is shown with a trailing underscore.
std::string WritingEntry(const v1::Definition& definition);
std::string ReturningEntry(const v1::Definition& definition);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_PYTHON_TEXT_H_
