#include "common/language_name.h"

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"

namespace ksearch {

std::string LanguageName(v1::Language language) {
  return absl::AsciiStrToLower(absl::StripPrefix(v1::Language_Name(language), "LANGUAGE_"));
}

}  // namespace ksearch
