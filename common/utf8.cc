#include "common/utf8.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ksearch {

size_t ValidUtf8Bytes(absl::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at);
    size_t length = 1;
    if (first >= 0xF0 && first <= 0xF4) {
      length = 4;
    } else if (first >= 0xE0 && first < 0xF0) {
      length = 3;
    } else if (first >= 0xC2 && first < 0xE0) {
      length = 2;
    } else if (first >= 0x80) {
      return at;
    }
    if (at + length > text.size()) return at;
    for (size_t i = 1; i < length; ++i) {
      if ((byte(at + i) & 0xC0) != 0x80) return at;
    }
    // Overlong forms, surrogates and code points above U+10FFFF.
    if ((first == 0xE0 && byte(at + 1) < 0xA0) || (first == 0xED && byte(at + 1) > 0x9F) ||
        (first == 0xF0 && byte(at + 1) < 0x90) || (first == 0xF4 && byte(at + 1) > 0x8F)) {
      return at;
    }
    at += length;
  }
  return at;
}

size_t ValidSourceBytes(absl::string_view text) {
  return std::min(ValidUtf8Bytes(text), text.find('\0'));
}

std::string AsUtf8(absl::string_view bytes) {
  std::string text;
  while (true) {
    const size_t valid = ValidUtf8Bytes(bytes);
    absl::StrAppend(&text, bytes.substr(0, valid));
    if (valid == bytes.size()) return text;
    text += '?';
    bytes.remove_prefix(valid + 1);
  }
}

}  // namespace ksearch
