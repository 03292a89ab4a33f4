#include "coordinator/search/archive/sketch.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "absl/strings/ascii.h"
#include "common/text_hash.h"

namespace ksearch {
namespace {

constexpr size_t kHashes = 256;
constexpr size_t kShingle = 5;
// Bounds the work for a large program; the part beyond adds little.
constexpr size_t kMaxShingles = 1 << 16;

// Hashes of the tokens: words, numbers, and every other character alone.
std::vector<uint64_t> TokensOf(absl::string_view program) {
  std::vector<uint64_t> tokens;
  for (size_t at = 0; at < program.size();) {
    const char c = program[at];
    if (absl::ascii_isspace(static_cast<unsigned char>(c))) {
      ++at;
    } else if (program.substr(at, 2) == "//") {
      at = std::min(program.size(), program.find('\n', at));
    } else if (program.substr(at, 2) == "/*") {
      const size_t close = program.find("*/", at + 2);
      at = close == absl::string_view::npos ? program.size() : close + 2;
    } else {
      size_t end = at + 1;
      if (IsWordByte(c)) {
        while (end < program.size() && IsWordByte(program[end])) ++end;
      }
      tokens.push_back(MixBits(Fnv1a(program.substr(at, end - at))));
      at = end;
    }
  }
  return tokens;
}

}  // namespace

std::string SketchOf(absl::string_view program) {
  const std::vector<uint64_t> tokens = TokensOf(program);
  if (tokens.empty()) return "";
  std::unordered_set<uint64_t> shingles;
  const size_t width = std::min(kShingle, tokens.size());
  for (size_t i = 0; i + width <= tokens.size() && shingles.size() < kMaxShingles; ++i) {
    uint64_t hash = 0;
    for (size_t k = 0; k < width; ++k) hash = MixBits(hash * 0x9E3779B97F4A7C15 + tokens[i + k]);
    shingles.insert(hash);
  }
  std::array<uint64_t, kHashes> least;
  least.fill(UINT64_MAX);
  for (const uint64_t shingle : shingles) {
    for (size_t k = 0; k < kHashes; ++k) {
      least[k] = std::min(least[k], MixBits(shingle + (k + 1) * 0x9E3779B97F4A7C15));
    }
  }
  std::string sketch(kHashes, '\0');
  for (size_t k = 0; k < kHashes; ++k) sketch[k] = static_cast<char>(least[k] & 0xFF);
  return sketch;
}

double Likeness(absl::string_view a, absl::string_view b) {
  if (a.size() != kHashes || b.size() != kHashes) return 0;
  size_t equal = 0;
  for (size_t k = 0; k < kHashes; ++k) equal += a[k] == b[k] ? 1 : 0;
  const double share = static_cast<double>(equal) / kHashes;
  // One in 256 pairs of different hashes agrees in eight bits.
  return std::max(0.0, (share - 1.0 / 256) / (1 - 1.0 / 256));
}

}  // namespace ksearch
