// BuildCodePrompt: which sections a code prompt has, in which order, with which budgets. The words
// are in code_prompt_text.cc, task_text.cc and evidence_text.cc.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/proposer/code_prompt_budgets.h"
#include "coordinator/proposer/code_prompt_text.h"
#include "coordinator/proposer/confirmation_text.h"
#include "coordinator/proposer/evidence_text.h"
#include "coordinator/proposer/judge_prompt.h"
#include "coordinator/proposer/prompt.h"
#include "coordinator/proposer/prompt_assembler.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/proposer/task_text.h"
#include "coordinator/world_model/digest.h"

namespace ksearch {
namespace {

using Priority = PromptPart::Priority;
using Budgets = CodePromptBudgets;

// Budgets in tokens of the parts that only these prompts have.
constexpr int kActionTokens = 5000;
constexpr int kLessonsTokens = 1500;
constexpr int kPaperComplaintTokens = 2000;
constexpr size_t kTreeBytes = 12000;
constexpr size_t kPaperTreeBytes = 50000;  // published: 50,000 characters in code prompts
constexpr size_t kMaxLesson = 400;
constexpr size_t kMaxLessons = 12;

bool IsRetry(CodePromptKind kind) {
  return kind == CodePromptKind::kDebug || kind == CodePromptKind::kImprove ||
         kind == CodePromptKind::kRepair;
}

std::string ActionText(const v1::Node& node, bool paper) {
  const v1::Action& action = node.action();
  std::string text = absl::StrCat("Node: ", node.node_id(), "\n");
  if (paper) absl::StrAppend(&text, "Base node: ", node.parent_id(), "\n");
  const auto add = [&](absl::string_view label, absl::string_view value) {
    if (!value.empty()) absl::StrAppend(&text, label, ": ", SafeText(value), "\n");
  };
  add("Title", action.title());
  if (!paper) add("Decision", node.decision());
  if (!paper) add("Choice", node.choice());
  if (action.difficulty() > 0) {
    absl::StrAppend(&text, "Difficulty: ", action.difficulty(), " of 5\n");
  }
  add("Description", action.description());
  if (action.has_expected_vs_baseline()) {
    absl::StrAppendFormat(&text, "Expected: %.2f times the baseline's speed\n",
                          action.expected_vs_baseline());
  }
  add("Why it should pay", action.rationale());
  if (!paper) add("Notes", node.notes());
  return text;
}

std::string CodeText(const ShownCode& code) {
  return absl::StrCat("Measured: ", ShownCodeText(code), ".\n\n", RenderSources(code.sources));
}

std::string LessonsText(const PromptFacts& facts, const CodePromptContext& context) {
  std::string text;
  size_t shown = 0;
  const auto add = [&](const std::string& lesson) {
    if (shown++ < kMaxLessons)
      absl::StrAppend(&text, "- ", WithoutHeldOut(facts.task, SafeLine(lesson, kMaxLesson)), "\n");
  };
  for (const std::string& lesson : context.node.lessons()) add(lesson);
  for (const std::string& lesson : context.lessons) add(lesson);
  return text;
}

std::string PerformanceSummary(const PromptFacts& facts, const CodePromptContext& context) {
  std::string text;
  const auto line = [&](absl::string_view label, const std::optional<ShownCode>& code) {
    if (code.has_value() && code->score.has_value()) {
      absl::StrAppend(&text, label, ": ", ShownCodeText(*code), ".\n");
    }
  };
  line("Current program", context.current);
  line("Base program", context.base);
  if (!text.empty()) {
    text += "The score is the mean speed-up over the baseline: more is better.\n";
  }
  if (context.last_result.has_value()) text += PerformanceText(facts, *context.last_result);
  return text;
}

std::string AttemptText(const CodePromptContext& context) {
  // The published prompt counts up to the hint and stays there.
  const int shown = std::min(context.attempt, context.attempts_hint);
  return absl::StrCat("Attempt ", shown, " of ", context.attempts_hint, " at this action.\n");
}

std::string ComplaintText(const CodePromptContext& context) {
  if (context.complaint.empty()) return "";
  return absl::StrCat(
      "Your previous answer to this request could not be used:\n",
      QuotedData("fault", context.complaint), QuotedData("your answer", context.refused_reply),
      "Send the whole answer again, every file complete, in the format described.\n");
}

std::string TreeText(const PromptFacts& facts, const CodePromptContext& context) {
  if (context.world_model == nullptr) return "";
  TreeDigestOptions options;
  options.paper = facts.paper;
  options.max_bytes = facts.paper ? kPaperTreeBytes : kTreeBytes;
  options.active_node_id = context.node.node_id();
  return TreeDigest(*context.world_model, options);
}

// Sections that both orders use.
struct Sections {
  Sections(const PromptFacts& facts, const CodePromptContext& context) {
    definition = {"definition", "Task", DefinitionText(facts), Priority::kRequired,
                  Budgets::kDefinition};
    entry = {"kernel header", "Entry point", EntryPointText(facts), Priority::kRequired,
             Budgets::kHeader};
    reference = {"reference", "Reference implementation (defines what is correct; slow on purpose)",
                 ReferenceText(facts), Priority::kImportant, Budgets::kReference};
    workloads = {"workloads", "Workloads measured during the search",
                 absl::StrCat(WorkloadsText(facts), facts.paper ? "" : UnseenSizesText(facts)),
                 Priority::kImportant, Budgets::kWorkloads};
    tree = {"world model", "What is known so far (the search's world model)",
            TreeText(facts, context), Priority::kBackground};
    if (context.base.has_value()) {
      base = {"base code",          "Base program", CodeText(*context.base),
              Priority::kImportant, Budgets::kCode, Keep::kBothEnds};
    }
    if (context.current.has_value() && IsRetry(context.kind)) {
      current = {"current code",      "Current program", CodeText(*context.current),
                 Priority::kRequired, Budgets::kCode,    Keep::kBothEnds};
    }
    performance = {"performance", "Measurements", PerformanceSummary(facts, context),
                   Priority::kImportant, Budgets::kPerformance};
    if (context.last_result.has_value()) {
      packet = {"packet", "What compiler and profiler say of the current program",
                PacketText(facts, *context.last_result,
                           context.parent_result.has_value() ? &*context.parent_result : nullptr),
                Priority::kImportant, Budgets::kPacket};
      failure = {"failure", "What went wrong", FailureText(facts, *context.last_result),
                 Priority::kImportant, Budgets::kFailure};
    }
    if (context.confirmation.has_value()) {
      confirmation = {
          "confirmation",
          absl::StrCat("What the ",
                       context.confirmation->by_examination() ? "examination" : "confirmation",
                       " of the current program found"),
          ConfirmationText(*context.confirmation),
          Priority::kRequired,
          Budgets::kFailure,
          Keep::kHead,
          0};
    }
    action = {"action", "Chosen action", ActionText(context.node, facts.paper), Priority::kRequired,
              kActionTokens};
    verdict = {"verdict", "Verdict of the judge", VerdictText(facts, context.verdict),
               Priority::kRequired};
    attempt = {"attempt", "", AttemptText(context), Priority::kRequired};
    request = {"request", "What to do now", CodeRequestText(context, facts.paper),
               Priority::kRequired};
    complaint = {"complaint", "Complaint", ComplaintText(context), Priority::kRequired,
                 facts.paper ? kPaperComplaintTokens : Budgets::kComplaint};
    for (PromptPart* part : {&definition, &entry, &attempt, &request, &action, &complaint}) {
      part->min_tokens = 0;
    }
  }

  PromptPart definition, entry, reference, workloads, tree, base, current, performance, packet,
      failure, confirmation, action, verdict, attempt, request, complaint;
};

// Role, rules, format and hints are the same for a whole run and stand in the system text; the task
// follows, then what changes slowly, then what is new in this prompt. Providers bill a repeated
// prefix at a fraction of the price.
Prompt DefaultPrompt(const PromptFacts& facts, const CodePromptContext& context) {
  Prompt prompt;
  prompt.system = absl::StrCat(CodeRoleText(facts), "\n# Rules\n", CodeRulesText(facts),
                               "\n# Measuring\n", MeasuringText(facts), "\n# Answer\n",
                               CodeFormatText(facts), "\n# Hints\n", HardwareHintsText(facts));
  Sections sections(facts, context);
  if (context.base.has_value() && context.current.has_value() && IsRetry(context.kind) &&
      !context.base->candidate_id.empty() &&
      context.base->candidate_id == context.current->candidate_id) {
    sections.base = {"base code",
                     "Base program",
                     "The current program below is also the base.\n",
                     Priority::kUseful,
                     0,
                     Keep::kHead,
                     0};
  }
  PromptPart lessons = {"lessons",
                        "Lessons of earlier attempts at this action",
                        LessonsText(facts, context),
                        Priority::kUseful,
                        kLessonsTokens,
                        Keep::kTail};
  PromptPart cycles = {"other cycles", "Other actions being worked on, and what they have reached",
                       IsRetry(context.kind) ? InFlightText(facts, context.in_flight_text) : "",
                       Priority::kUseful, kLessonsTokens};
  PromptAssembler assembler(facts.max_tokens - EstimateTokens(prompt.system));
  assembler.Add(std::move(sections.definition))
      .Add(std::move(sections.entry))
      .Add(std::move(sections.reference))
      .Add(std::move(sections.workloads))
      .Add(std::move(sections.tree))
      .Add(std::move(cycles))
      .Add(std::move(sections.base))
      .Add(std::move(sections.current))
      .Add(std::move(sections.performance))
      .Add(std::move(sections.packet))
      .Add(std::move(sections.failure))
      .Add(std::move(sections.confirmation))
      .Add(std::move(lessons))
      .Add(std::move(sections.action))
      .Add(std::move(sections.verdict))
      .Add(std::move(sections.attempt))
      .Add(std::move(sections.request))
      .Add(std::move(sections.complaint));
  prompt.user = assembler.Assemble(&prompt.dropped_parts);
  return prompt;
}

// The order of K-Search's published prompts (arXiv 2602.19128); an improve prompt does not show the
// action, and nothing shows lessons.
Prompt PaperPrompt(const PromptFacts& facts, const CodePromptContext& context) {
  Prompt prompt;
  prompt.system = CodeRoleText(facts);
  Sections sections(facts, context);
  const bool retry = IsRetry(context.kind);
  if (!context.base.has_value()) {
    sections.base = {"base code",
                     "Base program",
                     "There is no base program; start from the specification.\n",
                     Priority::kRequired,
                     0,
                     Keep::kHead,
                     0};
  } else if (context.kind == CodePromptKind::kImprove) {
    sections.base.heading = "Best program of this cycle, or its base";
  }
  PromptPart format = {"format", "Answer", CodeFormatText(facts), Priority::kRequired};
  PromptPart rules = {"rules", "Rules", CodeRulesText(facts), Priority::kRequired};
  PromptPart hints = {"hints", "Hints", HardwareHintsText(facts), Priority::kUseful};
  PromptAssembler assembler(facts.max_tokens - EstimateTokens(prompt.system));
  assembler.Add(std::move(sections.definition))
      .Add(std::move(sections.entry))
      .Add(std::move(sections.reference))
      .Add(std::move(sections.base));
  if (retry) {
    assembler.Add(std::move(sections.current))
        .Add(std::move(sections.performance))
        .Add(std::move(sections.packet))
        .Add(std::move(sections.failure));
  }
  if (context.kind != CodePromptKind::kImprove) assembler.Add(std::move(sections.action));
  assembler.Add(std::move(sections.verdict));
  if (retry) assembler.Add(std::move(sections.attempt));
  sections.tree.priority = Priority::kUseful;
  assembler.Add(std::move(sections.request))
      .Add(std::move(format))
      .Add(std::move(rules))
      .Add(std::move(hints))
      .Add(std::move(sections.tree))
      .Add(std::move(sections.workloads))
      .Add(std::move(sections.complaint));
  prompt.user = assembler.Assemble(&prompt.dropped_parts);
  return prompt;
}

}  // namespace

Prompt BuildCodePrompt(const PromptFacts& facts, const CodePromptContext& context) {
  return facts.paper ? PaperPrompt(facts, context) : DefaultPrompt(facts, context);
}

}  // namespace ksearch
