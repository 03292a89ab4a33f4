#include "coordinator/proposer/note_prompt.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "coordinator/proposer/code_prompt_text.h"
#include "coordinator/proposer/evidence_text.h"
#include "coordinator/proposer/memory_text.h"
#include "coordinator/proposer/prompt_assembler.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/proposer/task_text.h"
#include "coordinator/proposer/text_safety.h"

namespace ksearch {
namespace {

using Priority = PromptPart::Priority;

// Budgets in tokens.
constexpr int kDefinitionTokens = 6000;
constexpr int kReferenceTokens = 4000;
constexpr int kWorkloadsTokens = 3000;
constexpr int kProgramTokens = 10000;
constexpr int kListTokens = 3000;
constexpr int kMemoryTokens = 1500;

constexpr absl::string_view kRole =
    R"(You help a search for a fast program. Others write the programs; you are asked for short notes that tell them
where to go. Be concrete: name the technique, where it applies, and what it should gain. No code.
)";

constexpr absl::string_view kFormat =
    R"(Answer with a list and nothing else: each point on a line of its own that begins with "- ", at most 60 words.
)";

constexpr absl::string_view kLessons =
    R"(What do the attempts so far teach? Give at most {wanted} recommendations for the attempts that follow: what has
paid and should be kept or taken further, what has failed and why it should be left alone, and what nobody has tried
although the measurements ask for it. Notes that are known already may be sharpened, joined or dropped.
)";

constexpr absl::string_view kPlans =
    R"(Give {wanted} plans for a fast program, each different in kind from the others and from what is known already:
another algorithm, another division of the work, another use of memory, and not the same with other numbers. A
plan says in one or two sentences what the program does and which bound that removes. Put first the one from which
you expect most.
)";

}  // namespace

Prompt BuildNotePrompt(const PromptFacts& facts, const NotePromptContext& context) {
  Prompt prompt;
  prompt.system = absl::StrCat(kRole, "\n# Rules that programs obey\n", PlanningRulesText(facts),
                               "\n# Measuring\n", MeasuringText(facts), "\n# Hints\n",
                               HardwareHintsText(facts), "\n# Answer\n", kFormat);
  PromptAssembler assembler(facts.max_tokens - EstimateTokens(prompt.system));
  assembler
      .Add(MakePart("definition", "Task", DefinitionText(facts), Priority::kRequired,
                    kDefinitionTokens))
      .Add(MakePart("reference",
                    "Reference implementation (defines what is correct; slow on purpose)",
                    ReferenceText(facts), Priority::kUseful, kReferenceTokens))
      .Add(MakePart("workloads", "Workloads measured during the search", WorkloadsText(facts),
                    Priority::kImportant, kWorkloadsTokens))
      .Add(MakePart("memory", "What changes brought in earlier searches", MemoryText(facts),
                    Priority::kUseful, kMemoryTokens));
  int number = 0;
  for (const ShownCode& program : context.programs) {
    ++number;
    assembler.Add(MakePart(
        absl::StrCat("program ", number), absl::StrCat("Program ", number),
        absl::StrCat("Measured: ", ShownCodeText(program), ".\n\n", RenderSources(program.sources)),
        Priority::kUseful, kProgramTokens, Keep::kBothEnds));
  }
  assembler
      .Add(MakePart("history", "Attempts and what came of them",
                    LinesText(facts, "attempts", context.history), Priority::kImportant,
                    kListTokens, Keep::kTail))
      .Add(MakePart("known", "Known already", LinesText(facts, "known", context.known),
                    Priority::kImportant, kListTokens))
      .Add(MakePart("request", "What to do now",
                    absl::StrReplaceAll(context.kind == v1::NoteState::PLANS ? kPlans : kLessons,
                                        {{"{wanted}", absl::StrCat(context.wanted)}}),
                    Priority::kRequired, 0))
      .Add(MakePart("complaint", "Complaint",
                    context.complaint.empty()
                        ? ""
                        : absl::StrCat("Your previous answer could not be used:\n",
                                       QuotedData("fault", context.complaint)),
                    Priority::kRequired, kListTokens));
  prompt.user = assembler.Assemble(&prompt.dropped_parts);
  return prompt;
}

}  // namespace ksearch
