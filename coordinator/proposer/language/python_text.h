#ifndef KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_PYTHON_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_PYTHON_TEXT_H_

#include <string>

#include "coordinator/proposer/language/language_text.h"

namespace ksearch {

// Python, in which most people write Triton. To change what models are told, edit python_text.cc.
class PythonText final : public LanguageText {
 public:
  std::string Rules(bool paper) const override;
  std::string PlanningRules() const override;
  std::string Entry(const v1::Definition& definition) const override;
  std::string EntryPoint(const v1::Definition& definition,
                         const std::string& kernel_header) const override;
  std::string Hints(const std::string& hardware) const override;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_PYTHON_TEXT_H_
