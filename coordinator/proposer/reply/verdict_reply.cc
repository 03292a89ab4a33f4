// ParseVerdictReply: from a judge's text to a bottleneck, a method and a plan.
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/memory_words.h"
#include "coordinator/proposer/judge_prompt.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/proposer/text_safety.h"

namespace ksearch {
namespace {

constexpr size_t kMaxPlan = 600;
constexpr size_t kMaxShownWord = 60;

// Characters that models put around a line: list marks, emphasis, quotes.
constexpr absl::string_view kDecoration = "-*_#>`\"' \t\r";

absl::string_view Plain(absl::string_view text) {
  const size_t begin = text.find_first_not_of(kDecoration);
  if (begin == absl::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kDecoration) - begin + 1);
}

// Returns true if the line begins with "LABEL:", in any case; `rest` is what follows.
bool IsLabeled(absl::string_view line, absl::string_view label, absl::string_view* rest) {
  if (!absl::StartsWithIgnoreCase(line, label)) return false;
  absl::string_view after = line.substr(label.size());
  const size_t colon = after.find_first_not_of("*_ ");
  if (colon == absl::string_view::npos || after[colon] != ':') return false;
  *rest = Plain(after.substr(colon + 1));
  return true;
}

absl::Status NotAWord(absl::string_view label, absl::string_view word, const std::string& words) {
  return absl::InvalidArgumentError(
      word.empty()
          ? absl::StrCat("there is no line that begins with ", label, ":; it names one of ", words)
          : absl::StrCat(label, " is \"", SafeLine(word, kMaxShownWord), "\", must be one of ",
                         words));
}

// In "memory bandwidth (DRAM at 92 %)", the words before the first mark.
absl::string_view FirstWords(absl::string_view text) {
  return Plain(text.substr(0, text.find_first_of("(,;.:")));
}

}  // namespace

absl::StatusOr<v1::JudgeVerdict> ParseVerdictReply(absl::string_view reply) {
  if (static_cast<int64_t>(reply.size()) > kMaxReplyBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the reply has ", reply.size(), " bytes; at most ", kMaxReplyBytes, " are read"));
  }
  absl::string_view bottleneck;
  absl::string_view method;
  std::string plan;
  bool in_plan = false;
  for (const absl::string_view whole : absl::StrSplit(reply, '\n')) {
    const absl::string_view line = Plain(whole);
    absl::string_view rest;
    if (IsLabeled(line, "BOTTLENECK", &rest)) {
      bottleneck = FirstWords(rest);
      in_plan = false;
    } else if (IsLabeled(line, "METHOD", &rest)) {
      method = FirstWords(rest);
      in_plan = false;
    } else if (IsLabeled(line, "PLAN", &rest)) {
      plan = std::string(rest.substr(0, kMaxPlan));
      in_plan = true;
    } else if (in_plan && !line.empty() && plan.size() < kMaxPlan) {
      absl::StrAppend(&plan, plan.empty() ? "" : " ", line.substr(0, kMaxPlan));
    }
  }
  v1::JudgeVerdict verdict;
  const auto limits = BottleneckNamed(bottleneck);
  if (bottleneck.empty() || !limits.has_value() || *limits == v1::BOTTLENECK_UNSPECIFIED) {
    return NotAWord("BOTTLENECK", bottleneck, BottleneckWords());
  }
  const auto intent = IntentNamed(method);
  if (method.empty() || !intent.has_value() || *intent == v1::INTENT_KIND_UNSPECIFIED) {
    return NotAWord("METHOD", method, IntentWords());
  }
  if (plan.empty()) {
    return absl::InvalidArgumentError(
        "there is no line that begins with PLAN:; it says in two or three sentences what changes");
  }
  verdict.set_bottleneck(*limits);
  verdict.set_method(*intent);
  verdict.set_plan(SafeLine(plan, kMaxPlan - 3));  // and "..."
  return verdict;
}

}  // namespace ksearch
