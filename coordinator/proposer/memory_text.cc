#include "coordinator/proposer/memory_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/memory_words.h"

namespace ksearch {
namespace {

constexpr int kMostLines = 24;

std::string PriorLine(const v1::MemoryPrior& prior) {
  std::string line = absl::StrCat("- ", IntentWord(prior.intent()));
  const bool known = prior.bottleneck() != v1::BOTTLENECK_UNSPECIFIED;
  if (prior.over_baseline()) {
    absl::StrAppend(&line, ", in a new program");
    if (known) {
      absl::StrAppend(&line, " (baseline limited by ", BottleneckWord(prior.bottleneck()), ")");
    }
  } else if (known) {
    absl::StrAppend(&line, ", of a program limited by ", BottleneckWord(prior.bottleneck()));
  }
  absl::StrAppend(&line, ": tried ", prior.tried(), ", right ", prior.passed(), ", faster ",
                  prior.faster());
  if (prior.passed() > 0) {
    absl::StrAppendFormat(&line, "; %s's speed times %.2f (median; quartiles %.2f and %.2f)",
                          prior.over_baseline() ? "the baseline" : "the changed program",
                          prior.median_speedup(), prior.low_speedup(), prior.high_speedup());
  }
  absl::StrAppend(&line, "; on ", prior.tasks(), prior.tasks() == 1 ? " task\n" : " tasks\n");
  return line;
}

std::string Lines(const PromptFacts& facts, bool same_op_type, int* left) {
  std::string lines;
  for (const v1::MemoryPrior& prior : facts.priors) {
    if (prior.same_op_type() != same_op_type || *left == 0) continue;
    lines += PriorLine(prior);
    --*left;
  }
  return lines;
}

}  // namespace

std::string MemoryText(const PromptFacts& facts) {
  if (facts.paper || facts.priors.empty()) return "";
  int left = kMostLines;
  std::string text =
      "Counted over earlier searches in this language on such devices, by what a change was meant "
      "to "
      "do. These are priors: where few were tried they say little, and what is measured here "
      "weighs "
      "more.\n";
  if (const std::string lines = Lines(facts, true, &left); !lines.empty()) {
    absl::StrAppend(&text, "On the same kind of operation:\n", lines);
  }
  if (const std::string lines = Lines(facts, false, &left); !lines.empty()) {
    absl::StrAppend(&text, "On other operations:\n", lines);
  }
  return text;
}

}  // namespace ksearch
