#include "common/names.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace ksearch {
namespace {

bool InIdentifier(unsigned char c) { return absl::ascii_isalnum(c) || c == '_'; }

}  // namespace

bool IsIdentifier(absl::string_view name) {
  return !name.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), InIdentifier);
}

bool IsTaskName(absl::string_view name) {
  return !name.empty() && name[0] != '.' &&
         static_cast<int64_t>(name.size()) <= kMaxTaskNameBytes &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return InIdentifier(c) || c == '.' || c == '-'; });
}

std::string TaskNameFrom(absl::string_view text) {
  std::string name(text.substr(0, kMaxTaskNameBytes));
  for (char& c : name) {
    if (!InIdentifier(static_cast<unsigned char>(c)) && c != '.' && c != '-') c = '_';
  }
  if (name.empty() || name[0] == '.') name.insert(0, "_");
  return name.substr(0, kMaxTaskNameBytes);
}

bool IsTrialName(absl::string_view name) {
  return IsTaskName(name) && name[0] != '-' && name.size() <= kMaxTrialNameBytes;
}

}  // namespace ksearch
