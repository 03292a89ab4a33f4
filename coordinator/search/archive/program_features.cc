#include "coordinator/search/archive/program_features.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "coordinator/search/archive/sketch.h"

namespace ksearch {
namespace {

constexpr size_t kSetBytes = 32;

}  // namespace

std::string TextOf(const v1::Sources& sources) {
  std::vector<const v1::SourceFile*> files;
  for (const v1::SourceFile& file : sources.files()) files.push_back(&file);
  std::sort(files.begin(), files.end(),
            [](const auto* a, const auto* b) { return a->path() < b->path(); });
  std::string text;
  for (const v1::SourceFile* file : files) text += file->content();
  return text;
}

v1::ProgramFeatures FeaturesOf(const v1::Sources& sources, bool with_sketch) {
  const std::string text = TextOf(sources);
  v1::ProgramFeatures features;
  std::string set(kSetBytes, '\0');
  int characters = 0;
  int lines = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    characters += (byte & 0xC0) != 0x80 ? 1 : 0;  // skips continuation bytes
    lines += c == '\n' ? 1 : 0;
    set[byte / 8] = static_cast<char>(set[byte / 8] | (1 << (byte % 8)));
  }
  features.set_characters(characters);
  features.set_lines(lines);
  features.set_character_set(set);
  if (with_sketch) features.set_sketch(SketchOf(text));
  return features;
}

double TextDistance(const v1::ProgramFeatures& a, const v1::ProgramFeatures& b) {
  int different = 0;
  const std::string& left = a.character_set();
  const std::string& right = b.character_set();
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    different += __builtin_popcount(static_cast<unsigned char>(left[i] ^ right[i]));
  }
  return 0.1 * std::abs(a.characters() - b.characters()) + 10.0 * std::abs(a.lines() - b.lines()) +
         0.5 * different;
}

}  // namespace ksearch
