#include "coordinator/events/sinks/run_recorder.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"

namespace ksearch::sinks {
namespace {

constexpr size_t kMostLetters = 60;
constexpr size_t kKeptLetters = 44;
constexpr size_t kDigestLetters = 12;

bool IsSafe(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
}

}  // namespace

std::string SafeName(absl::string_view text) {
  std::string name(text.substr(0, kMostLetters));
  bool safe = !text.empty() && text.size() <= kMostLetters && text.front() != '.';
  for (size_t i = 0; i < name.size(); ++i) {
    if (IsSafe(name[i]) && !(name[i] == '.' && i > 0 && name[i - 1] == '.')) continue;
    name[i] = '-';
    safe = false;
  }
  if (safe) return name;
  if (!name.empty() && name.front() == '.') name.front() = '-';
  return absl::StrCat(name.substr(0, kKeptLetters), "-", Sha256Hex(text).substr(0, kDigestLetters));
}

}  // namespace ksearch::sinks
