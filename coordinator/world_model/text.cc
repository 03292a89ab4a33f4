#include "coordinator/world_model/text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Largest cut <= `at` that is not inside a UTF-8 character.
size_t CutBefore(absl::string_view text, size_t at) {
  while (at > 0 && at < text.size() && IsContinuation(text[at])) --at;
  return at;
}

}  // namespace

std::string CutText(absl::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  if (max_bytes < 3) return "";
  return absl::StrCat(text.substr(0, CutBefore(text, max_bytes - 3)), "...");
}

std::string OneLine(absl::string_view text, size_t max_bytes) {
  std::string line;
  // Enough to fill the line; the rest is not read.
  for (const char c : text.substr(0, 4 * max_bytes)) {
    if (!absl::ascii_isspace(static_cast<unsigned char>(c))) {
      line.push_back(c);
    } else if (!line.empty() && line.back() != ' ') {
      line.push_back(' ');
    }
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return CutText(line, max_bytes);
}

std::string CutMiddle(absl::string_view text, size_t max_bytes) {
  constexpr size_t kMarkerRoom = 40;
  constexpr size_t kTail = 20;
  if (text.size() <= max_bytes || max_bytes <= kMarkerRoom) return CutText(text, max_bytes);
  size_t tail = text.size() - kTail;
  while (tail < text.size() && IsContinuation(text[tail])) ++tail;
  return absl::StrCat(text.substr(0, CutBefore(text, max_bytes - kMarkerRoom)), "\n...[cut]...\n",
                      text.substr(tail));
}

}  // namespace ksearch
