#include "coordinator/proposer/prompt_assembler.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ksearch {
namespace {

constexpr int kBytesPerToken = 4;
// For the heading and blank lines.
constexpr int kOverheadTokens = 8;

// A part and its share of the prompt.
struct Fitted {
  const PromptPart* part;
  std::string text;
  int full_tokens;

  int tokens() const { return text.empty() ? 0 : EstimateTokens(text) + kOverheadTokens; }

  void Shrink(int max_tokens) {
    text = max_tokens < part->min_tokens
               ? ""
               : Shortened(text, static_cast<size_t>(max_tokens) * kBytesPerToken, part->keep);
  }
};

}  // namespace

int EstimateTokens(absl::string_view text) {
  return static_cast<int>((text.size() + kBytesPerToken - 1) / kBytesPerToken);
}

PromptPart MakePart(absl::string_view name, absl::string_view heading, std::string text,
                    PromptPart::Priority priority, int max_tokens, Keep keep) {
  PromptPart part;
  part.name = std::string(name);
  part.heading = std::string(heading);
  part.text = std::move(text);
  part.priority = priority;
  part.max_tokens = max_tokens;
  part.keep = keep;
  if (priority == PromptPart::Priority::kRequired) part.min_tokens = 0;
  return part;
}

PromptAssembler& PromptAssembler::Add(PromptPart part) {
  part.text = std::string(absl::StripTrailingAsciiWhitespace(part.text));
  if (!part.text.empty()) parts_.push_back(std::move(part));
  return *this;
}

std::string PromptAssembler::Assemble(std::vector<std::string>* dropped) const {
  std::vector<Fitted> fitted;
  int total = 0;
  for (const PromptPart& part : parts_) {
    Fitted entry{&part, part.text, EstimateTokens(part.text)};
    if (part.max_tokens > 0 && entry.full_tokens > part.max_tokens) entry.Shrink(part.max_tokens);
    total += entry.tokens();
    fitted.push_back(std::move(entry));
  }
  for (const auto priority : {PromptPart::Priority::kBackground, PromptPart::Priority::kUseful,
                              PromptPart::Priority::kImportant}) {
    // Among parts with equal priority the longest is shortened first, because it has the most to
    // spare.
    std::vector<Fitted*> equals;
    for (Fitted& entry : fitted) {
      if (entry.part->priority == priority) equals.push_back(&entry);
    }
    std::stable_sort(equals.begin(), equals.end(),
                     [](const Fitted* a, const Fitted* b) { return a->tokens() > b->tokens(); });
    for (Fitted* entry : equals) {
      if (total <= max_tokens_) break;
      const int before = entry->tokens();
      entry->Shrink(before - kOverheadTokens - (total - max_tokens_));
      total += entry->tokens() - before;
    }
  }
  std::string prompt;
  for (const Fitted& entry : fitted) {
    if (entry.text.size() != entry.part->text.size() && dropped != nullptr) {
      dropped->push_back(absl::StrCat(entry.part->name, ": kept ", EstimateTokens(entry.text),
                                      " of ", entry.full_tokens, " tokens"));
    }
    if (entry.text.empty()) continue;
    if (!prompt.empty()) prompt += "\n";
    if (!entry.part->heading.empty()) absl::StrAppend(&prompt, "# ", entry.part->heading, "\n");
    absl::StrAppend(&prompt, absl::StripSuffix(entry.text, "\n"), "\n");
  }
  return prompt;
}

}  // namespace ksearch
