#ifndef KSEARCH_COMMON_TEXT_HASH_H_
#define KSEARCH_COMMON_TEXT_HASH_H_

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// Hashes of texts that are the same in every process and version, so that they may be stored. Not
// for secrets.

// FNV-1a, 64 bits.
inline uint64_t Fnv1a(absl::string_view text) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

// The finalizer of SplitMix64: every bit of the result depends on every bit of `x`.
inline uint64_t MixBits(uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9;
  x ^= x >> 27;
  x *= 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// Returns true if the byte belongs to a word of source text: letters, digits, '_', and what is not
// ASCII.
inline bool IsWordByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isalnum(byte) || c == '_' || byte >= 0x80;
}

}  // namespace ksearch

#endif  // KSEARCH_COMMON_TEXT_HASH_H_
