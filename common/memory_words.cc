#include "common/memory_words.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "google/protobuf/descriptor.h"

namespace ksearch {
namespace {

// "BOTTLENECK_MEMORY_BANDWIDTH", "BOTTLENECK_" -> "memory bandwidth".
std::string Word(absl::string_view name, absl::string_view prefix) {
  std::string word = absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
  return absl::StrReplaceAll(word, {{"_", " "}});
}

std::string Normal(absl::string_view text) {
  return absl::StrReplaceAll(absl::AsciiStrToLower(absl::StripAsciiWhitespace(text)),
                             {{"_", " "}, {"-", " "}});
}

template <typename Enum>
std::optional<Enum> Named(absl::string_view text, std::string (*word)(Enum)) {
  const google::protobuf::EnumDescriptor* values = google::protobuf::GetEnumDescriptor<Enum>();
  const std::string wanted = Normal(text);
  for (int i = 0; i < values->value_count(); ++i) {
    const auto value = static_cast<Enum>(values->value(i)->number());
    if (word(value) == wanted) return value;
  }
  return std::nullopt;
}

template <typename Enum>
std::string Words(std::string (*word)(Enum)) {
  const google::protobuf::EnumDescriptor* values = google::protobuf::GetEnumDescriptor<Enum>();
  std::vector<std::string> words;
  for (int i = 0; i < values->value_count(); ++i) {
    if (values->value(i)->number() == 0) continue;
    words.push_back(word(static_cast<Enum>(values->value(i)->number())));
  }
  return absl::StrJoin(words, ", ");
}

}  // namespace

std::string BottleneckWord(v1::Bottleneck bottleneck) {
  if (bottleneck == v1::BOTTLENECK_UNSPECIFIED || !v1::Bottleneck_IsValid(bottleneck)) {
    return "not known";
  }
  return Word(v1::Bottleneck_Name(bottleneck), "BOTTLENECK_");
}

std::string IntentWord(v1::IntentKind intent) {
  if (intent == v1::INTENT_KIND_UNSPECIFIED || !v1::IntentKind_IsValid(intent)) return "other";
  return Word(v1::IntentKind_Name(intent), "INTENT_KIND_");
}

std::optional<v1::Bottleneck> BottleneckNamed(absl::string_view text) {
  return Named<v1::Bottleneck>(text, BottleneckWord);
}

std::optional<v1::IntentKind> IntentNamed(absl::string_view text) {
  return Named<v1::IntentKind>(text, IntentWord);
}

std::string BottleneckWords() { return Words<v1::Bottleneck>(BottleneckWord); }

std::string IntentWords() { return Words<v1::IntentKind>(IntentWord); }

std::string MemoryModeWord(v1::MemoryMode mode) {
  switch (mode) {
    case v1::MEMORY_MODE_READ:
      return "read";
    case v1::MEMORY_MODE_READ_WRITE:
      return "read-write";
    default:
      return "off";
  }
}

}  // namespace ksearch
