#include "coordinator/proposer/text_safety.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

// Length of the UTF-8 character at the front of `text`; 0 if there is none.
size_t Utf8Length(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const auto follows = [&](size_t i, uint8_t low, uint8_t high) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  if (text.empty()) return 0;
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1, 0x80, 0xBF) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const uint8_t low = lead == 0xE0 ? 0xA0 : 0x80;   // no overlong form
    const uint8_t high = lead == 0xED ? 0x9F : 0xBF;  // no surrogate
    return follows(1, low, high) && follows(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const uint8_t low = lead == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = lead == 0xF4 ? 0x8F : 0xBF;  // up to U+10FFFF
    return follows(1, low, high) && follows(2, 0x80, 0xBF) && follows(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

// The longest good prefix of at most `bytes`: whole characters, whole lines if that costs little.
absl::string_view Head(absl::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && IsContinuation(text[bytes])) --bytes;
  const absl::string_view head = text.substr(0, bytes);
  const size_t line = head.rfind('\n');
  if (line != absl::string_view::npos && line + 1 >= bytes - bytes / 8) {
    return head.substr(0, line + 1);
  }
  return head;
}

absl::string_view Tail(absl::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  size_t begin = text.size() - bytes;
  while (begin < text.size() && IsContinuation(text[begin])) ++begin;
  const absl::string_view tail = text.substr(begin);
  const size_t line = tail.find('\n');
  return line != absl::string_view::npos && line < bytes / 8 ? tail.substr(line + 1) : tail;
}

std::string Clean(absl::string_view text, bool keep_lines) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const char c = text[0];
    if (length == 0) {
      clean += '?';
    } else if (length > 1) {
      absl::StrAppend(&clean, text.substr(0, length));
    } else if (c == '\r') {
      // Dropped: before a line feed, a carriage return only says which system wrote the text.
    } else if (c == '\n' || c == '\t') {
      clean += keep_lines ? c : ' ';
    } else {
      clean += static_cast<uint8_t>(c) < 0x20 || c == 0x7F ? '?' : c;
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return clean;
}

}  // namespace

std::string Shortened(absl::string_view text, size_t max_bytes, Keep keep) {
  if (text.size() <= max_bytes) return std::string(text);
  const std::string marker = absl::StrCat("\n[... ", text.size(), " characters in all; the ",
                                          keep == Keep::kHead   ? "rest is"
                                          : keep == Keep::kTail ? "beginning is"
                                                                : "middle is",
                                          " left out ...]\n");
  if (marker.size() >= max_bytes) return "";
  const size_t room = max_bytes - marker.size();
  switch (keep) {
    case Keep::kHead:
      return absl::StrCat(Head(text, room), marker);
    case Keep::kTail:
      return absl::StrCat(marker, Tail(text, room));
    case Keep::kBothEnds:
      return absl::StrCat(Head(text, room - room / 3), marker, Tail(text, room / 3));
  }
  return "";
}

std::string SafeLine(absl::string_view text, size_t max_bytes) {
  const bool too_long = text.size() > max_bytes;
  return absl::StrCat(Clean(too_long ? Head(text, max_bytes) : text, /*keep_lines=*/false),
                      too_long ? "..." : "");
}

std::string SafeText(absl::string_view text) { return Clean(text, /*keep_lines=*/true); }

bool IsValidUtf8(absl::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace ksearch
