// BuildWorldModelPrompt: which sections a world-model prompt has, in which order, with which
// budgets. The words are in world_model_prompt_text.cc, task_text.cc and evidence_text.cc.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/proposer/code_prompt_text.h"
#include "coordinator/proposer/confirmation_text.h"
#include "coordinator/proposer/evidence_text.h"
#include "coordinator/proposer/memory_text.h"
#include "coordinator/proposer/prompt.h"
#include "coordinator/proposer/prompt_assembler.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/proposer/task_text.h"
#include "coordinator/proposer/world_model_prompt_text.h"
#include "coordinator/world_model/digest.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

using Priority = PromptPart::Priority;

constexpr int kDefinitionTokens = 8000;
constexpr int kReferenceTokens = 6000;
constexpr int kWorkloadsTokens = 4000;
constexpr int kCodeTokens = 66000;
constexpr int kEvidenceTokens = 6000;
constexpr int kPacketTokens = 2000;  // a packet is at most 6 KiB
constexpr int kLessonsTokens = 2000;
constexpr int kMemoryTokens = 1500;
constexpr int kRequirementTokens = 2000;
constexpr int kPaperComplaintTokens = 4000;
constexpr int kComplaintTokens = 7000;  // 8 KiB of the answer, and its faults
constexpr size_t kMaxBaselineBytes = 1800;
constexpr size_t kTreeBytes = 24000;
constexpr size_t kFrontierBytes = 6000;
constexpr size_t kPathBytes = 2000;
constexpr size_t kMaxLesson = 500;
constexpr size_t kMaxLessons = 16;

// Caps of the edit prompt in K-Search's published code, in characters.
constexpr size_t kPaperTreeBytes = 2600;
constexpr size_t kPaperStatusBytes = 900;
constexpr size_t kPaperFrontierBytes = 1200;
constexpr size_t kPaperPathBytes = 800;
constexpr size_t kPaperTargetsBytes = 900;
constexpr size_t kPaperActionBytes = 500;
constexpr size_t kPaperPredictionBytes = 800;
constexpr size_t kPaperEvaluationBytes = 800;

const v1::Node* ActedOn(const WorldModelPromptContext& context) {
  return context.world_model == nullptr || context.node_id.empty()
             ? nullptr
             : FindNode(*context.world_model, context.node_id);
}

// Shows the node as it is, including its prediction, next to what was measured.
std::string ActionText(const v1::Node& node) {
  std::string text = absl::StrCat("Node: ", node.node_id(), " (child of ", node.parent_id(), ")\n");
  const auto add = [&](absl::string_view label, absl::string_view value) {
    if (!value.empty()) absl::StrAppend(&text, label, ": ", SafeText(value), "\n");
  };
  add("Title", node.action().title());
  add("Decision", node.decision());
  add("Choice", node.choice());
  add("Description", node.action().description());
  add("Rationale", node.action().rationale());
  return text;
}

std::string PredictionText(const v1::Node& node) {
  std::string text = absl::StrFormat("Score %.2f, difficulty %d, rating %.1f, confidence %.2f",
                                     node.action().score(), node.action().difficulty(),
                                     node.overall_rating(), node.confidence());
  if (node.action().has_expected_vs_baseline()) {
    absl::StrAppendFormat(&text, "; expected %.2f times the baseline's speed",
                          node.action().expected_vs_baseline());
  }
  return text + ".\n";
}

std::string ResultText(const PromptFacts& facts, const WorldModelPromptContext& context) {
  std::string text;
  if (context.code.has_value()) {
    absl::StrAppend(&text, "Program: ", ShownCodeText(*context.code), ".\n");
  }
  if (context.result.has_value()) {
    text += FailureText(facts, *context.result);
    text += PerformanceText(facts, *context.result);
  }
  if (context.confirmation.has_value()) text += ConfirmationText(*context.confirmation);
  return text;
}

std::string PacketText(const PromptFacts& facts, const WorldModelPromptContext& context) {
  if (!context.result.has_value()) return "";
  return PacketText(facts, *context.result,
                    context.parent_result.has_value() ? &*context.parent_result : nullptr);
}

std::string LessonsText(const PromptFacts& facts, const std::vector<std::string>& lessons) {
  std::string text;
  const size_t first = lessons.size() > kMaxLessons ? lessons.size() - kMaxLessons : 0;
  for (size_t i = first; i < lessons.size(); ++i) {
    absl::StrAppend(&text, "- ", WithoutHeldOut(facts.task, SafeLine(lessons[i], kMaxLesson)),
                    "\n");
  }
  return text;
}

// The complaint of preset paper, whose bytes stay as they were; it does not show the faulty answer.
std::string PaperComplaintText(const std::string& complaint) {
  if (complaint.empty()) return "";
  return absl::StrCat(
      "Your previous answer was refused as a whole; nothing of it was applied. "
      "Its faults:\n",
      QuotedData("faults", complaint), "Answer again, complete, with every fault mended.\n");
}

std::string ComplaintText(const WorldModelPromptContext& context) {
  if (context.complaint.empty()) return "";
  return absl::StrCat(
      "Your previous answer to this request had faults.\n", QuotedData("faults", context.complaint),
      QuotedData("your answer", context.refused_reply), "Answer again, with every fault fixed.\n");
}

PromptPart Required(std::string name, std::string heading, std::string text, int max_tokens = 0,
                    Keep keep = Keep::kHead) {
  return {std::move(name),     std::move(heading), std::move(text),
          Priority::kRequired, max_tokens,         keep,
          /*min_tokens=*/0};
}

// The same order for all kinds: task, tree, evidence, demand. The complaint comes last, in full, so
// that no cap of another section can hide it.
class Builder {
 public:
  Builder(const PromptFacts& facts, const WorldModelPromptContext& context)
      : facts_(facts), context_(context) {}

  Prompt Initial() {
    Prompt prompt;
    prompt.system = absl::StrCat(WorldModelRoleText(facts_), "\n# The tree\n", TreeRulesText(),
                                 "\n# Answer\n", InitialModelShapeText());
    AddProgramRules(&prompt);
    PromptAssembler assembler(facts_.max_tokens - EstimateTokens(prompt.system));
    AddTask(&assembler);
    // The published initial prompt does not show a starting program.
    if (!facts_.paper) AddEvidence("Starting program", &assembler);
    assembler.Add(Required("analysis", "Analysis", std::string(AnalysisText())));
    AddDemand(&assembler);
    prompt.user = assembler.Assemble(&prompt.dropped_parts);
    return prompt;
  }

  Prompt Edit() {
    Prompt prompt;
    prompt.system = absl::StrCat(WorldModelRoleText(facts_), "\n# The tree\n", TreeRulesText(),
                                 "\n# Reflection\n", ReflectionText(), "\n# Answer\n",
                                 EditShapeText(/*paper=*/false));
    AddProgramRules(&prompt);
    PromptAssembler assembler(facts_.max_tokens - EstimateTokens(prompt.system));
    AddTask(&assembler);
    if (context_.world_model != nullptr) {
      TreeDigestOptions tree;
      tree.max_bytes = kTreeBytes;
      tree.active_node_id = context_.node_id;
      assembler.Add(Required("tree", "World model now", TreeDigest(*context_.world_model, tree)));
      FrontierDigestOptions frontier;
      frontier.max_bytes = kFrontierBytes;
      frontier.in_flight = context_.nodes_in_flight;
      assembler.Add({"frontier", "Actions that can be picked now, most promising first",
                     FrontierDigest(*context_.world_model, frontier), Priority::kImportant});
      assembler.Add({"cycles", "Being worked on now (cannot be picked)",
                     InFlightText(facts_, context_.in_flight_text), Priority::kUseful});
      if (ActedOn(context_) != nullptr) {
        assembler.Add({"path", "Path to the node concerned",
                       PathDigest(*context_.world_model, context_.node_id, kPathBytes),
                       Priority::kUseful});
      }
    }
    if (const v1::Node* node = ActedOn(context_); node != nullptr) {
      assembler.Add(
          {"action", "Chosen action", ActionText(*node), Priority::kImportant, kEvidenceTokens});
      assembler.Add({"prediction", "Prediction", PredictionText(*node), Priority::kImportant, 0,
                     Keep::kHead, 0});
    }
    AddEvidence("Program", &assembler);
    AddDemand(&assembler);
    prompt.user = assembler.Assemble(&prompt.dropped_parts);
    return prompt;
  }

  // The edit prompt of K-Search's published code: its sections, order and caps.
  Prompt PaperEdit() {
    const bool refine = context_.kind == WorldModelPromptKind::kRefine;
    const bool propose = context_.kind == WorldModelPromptKind::kPropose;
    Prompt prompt;
    prompt.system = WorldModelRoleText(facts_);
    PromptAssembler assembler(facts_.max_tokens - EstimateTokens(prompt.system));
    assembler.Add(Required("definition", "Task", CompactSpecText(facts_)));
    if (context_.world_model != nullptr) {
      const v1::WorldModel& model = *context_.world_model;
      const std::string& active =
          context_.node_id.empty() ? model.active_node_id() : context_.node_id;
      TreeDigestOptions tree;
      tree.paper = true;
      tree.max_bytes = kPaperTreeBytes;
      tree.active_node_id = active;
      assembler.Add(Required("tree", "World model now", TreeDigest(model, tree)));
      if (refine) {
        assembler.Add(Required("status", "Status", StatusDigest(model, active, kPaperStatusBytes)));
      } else if (propose) {
        assembler.Add(Required("status", "Status",
                               Shortened(context_.requirement, kPaperStatusBytes, Keep::kHead)));
      }
      FrontierDigestOptions frontier;
      frontier.paper = true;
      frontier.max_bytes = kPaperFrontierBytes;
      assembler.Add(Required("frontier", "Open frontier", FrontierDigest(model, frontier)));
      assembler.Add(
          Required("path", "Path to the active node", PathDigest(model, active, kPaperPathBytes)));
    }
    if (!refine) {
      assembler.Add(Required("targets", "Baseline targets",
                             Shortened(WorkloadsText(facts_), kPaperTargetsBytes, Keep::kHead)));
    }
    if (const v1::Node* node = ActedOn(context_); node != nullptr && !propose) {
      assembler.Add(Required("action", "Chosen action",
                             Shortened(ActionText(*node), kPaperActionBytes, Keep::kHead)));
      assembler.Add(Required("prediction", "Prediction",
                             Shortened(PredictionText(*node), kPaperPredictionBytes, Keep::kHead)));
      assembler.Add(Required(
          "evaluation", "Evaluation",
          Shortened(absl::StrCat(ResultText(facts_, context_), PacketText(facts_, context_)),
                    kPaperEvaluationBytes, Keep::kHead)));
    }
    if (context_.kind == WorldModelPromptKind::kTooHard) {
      assembler.Add(Required("round", "", absl::StrCat("Round ", context_.round, ".\n")));
    }
    if (context_.code.has_value()) {
      assembler.Add({"code", "Current program", RenderSources(context_.code->sources),
                     Priority::kImportant, kCodeTokens, Keep::kBothEnds});
    }
    assembler.Add(Required("reflection", "Reflection", std::string(ReflectionText())));
    assembler.Add(Required("rules", "The tree", std::string(TreeRulesText())));
    assembler.Add(Required("request", "What to do now", WorldModelRequestText(context_)));
    if (!propose) {
      assembler.Add(Required("requirement", "Required", context_.requirement, kRequirementTokens));
    }
    assembler.Add(Required("answer", "Answer", EditShapeText(/*paper=*/true)));
    assembler.Add(Required("complaint", "Complaint", PaperComplaintText(context_.complaint),
                           kPaperComplaintTokens));
    prompt.user = assembler.Assemble(&prompt.dropped_parts);
    return prompt;
  }

 private:
  // Planners must know the rules: an intent that they forbid is worthless.
  void AddProgramRules(Prompt* prompt) const {
    if (facts_.paper) return;
    absl::StrAppend(&prompt->system, "\n# Programs\n", PlanningRulesText(facts_),
                    MeasuringText(facts_));
  }

  void AddTask(PromptAssembler* assembler) {
    assembler->Add(Required("definition", "Task", DefinitionText(facts_), kDefinitionTokens));
    assembler->Add({"reference", "Reference implementation (defines what is correct)",
                    ReferenceText(facts_), Priority::kUseful, kReferenceTokens});
    assembler->Add({"workloads", "Workloads measured during the search", WorkloadsText(facts_),
                    Priority::kImportant, kWorkloadsTokens});
    if (facts_.paper) return;
    assembler->Add({"baseline", "Baseline (1.0 times its speed is where the search begins)",
                    BaselineText(facts_, kMaxBaselineBytes), Priority::kUseful});
    assembler->Add({"memory", "What changes brought in earlier searches", MemoryText(facts_),
                    Priority::kUseful, kMemoryTokens});
  }

  void AddEvidence(std::string code_heading, PromptAssembler* assembler) {
    if (context_.code.has_value()) {
      assembler->Add({"code", std::move(code_heading), RenderSources(context_.code->sources),
                      Priority::kImportant, kCodeTokens, Keep::kBothEnds});
    }
    assembler->Add({"evaluation", "What was measured", ResultText(facts_, context_),
                    Priority::kImportant, kEvidenceTokens});
    assembler->Add({"packet", "What compiler and profiler say of it", PacketText(facts_, context_),
                    Priority::kImportant, kPacketTokens});
    assembler->Add({"lessons", "Lessons of the attempts that failed in this cycle",
                    LessonsText(facts_, context_.lessons), Priority::kUseful, kLessonsTokens,
                    Keep::kTail});
  }

  void AddDemand(PromptAssembler* assembler) {
    if (context_.round > 0) {
      assembler->Add(Required("round", "", absl::StrCat("Round ", context_.round, ".\n")));
    }
    assembler->Add(Required("request", "What to do now", WorldModelRequestText(context_)));
    assembler->Add(Required("requirement", "Required", context_.requirement, kRequirementTokens));
    assembler->Add(
        Required("complaint", "Complaint",
                 facts_.paper ? PaperComplaintText(context_.complaint) : ComplaintText(context_),
                 facts_.paper ? kPaperComplaintTokens : kComplaintTokens));
  }

  const PromptFacts& facts_;
  const WorldModelPromptContext& context_;
};

}  // namespace

Prompt BuildWorldModelPrompt(const PromptFacts& facts, const WorldModelPromptContext& context) {
  Builder builder(facts, context);
  if (context.kind == WorldModelPromptKind::kInit) return builder.Initial();
  return facts.paper ? builder.PaperEdit() : builder.Edit();
}

}  // namespace ksearch
