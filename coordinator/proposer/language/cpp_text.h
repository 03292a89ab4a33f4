#ifndef KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_CPP_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_CPP_TEXT_H_

#include <string>

#include "coordinator/proposer/language/language_text.h"

namespace ksearch {

// C++ for processors. To change what models are told, edit cpp_text.cc.
class CppText final : public LanguageText {
 public:
  LanguageWords Words(v1::DeviceClass device) const override;
  std::string Rules(v1::DeviceClass device, bool paper) const override;
  std::string Entry(const v1::Definition& definition) const override;
  std::string EntryPoint(const v1::Definition& definition, v1::DeviceClass device,
                         const std::string& kernel_header) const override;
  std::string Hints(v1::DeviceClass device, const std::string& hardware) const override;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_CPP_TEXT_H_
