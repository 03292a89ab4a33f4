#include "coordinator/proposer/task_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/identity.h"
#include "common/kernel_header.h"
#include "common/trusted_programs.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/proposer/text_safety.h"

namespace ksearch {
namespace {

constexpr size_t kMaxDescription = 400;
constexpr int kMaxWorkloadLines = 48;

std::string AxisLine(const v1::Axis& axis) {
  return absl::StrCat("- ", axis.name(),
                      axis.has_const_value() ? absl::StrCat(" = ", axis.const_value())
                                             : std::string(": varies by workload"),
                      axis.description().empty() ? "" : "; ",
                      SafeLine(axis.description(), kMaxDescription));
}

std::string TensorLine(const v1::TensorSpec& tensor) {
  std::string line = absl::StrCat("- ", tensor.name(), ": ", DTypeName(tensor.dtype()), " ");
  if (tensor.scalar()) {
    line += "scalar";
  } else {
    absl::StrAppend(&line, "[", absl::StrJoin(tensor.shape(), ", "), "]");
  }
  if (!tensor.description().empty()) {
    absl::StrAppend(&line, "; ", SafeLine(tensor.description(), kMaxDescription));
  }
  return line;
}

// At most `limit` lines (0: all) under a heading; nothing if there are none.
template <typename Items, typename Line>
void AppendList(absl::string_view heading, const Items& items, int limit, Line line,
                std::string* text) {
  if (items.empty()) return;
  absl::StrAppend(text, heading, "\n");
  int shown = 0;
  for (const auto& item : items) {
    if (limit > 0 && shown++ == limit) {
      absl::StrAppend(text, "- (", items.size() - limit, " more)\n");
      return;
    }
    absl::StrAppend(text, line(item), "\n");
  }
}

std::string ConstraintLine(const std::string& constraint) {
  return absl::StrCat("- ", SafeLine(constraint, kMaxDescription));
}

// The text of rules that judge outputs by a call's inputs.
std::string SuiteRuleText(const v1::SuiteRule& rule) {
  if (rule.rule() == v1::SuiteRule::SAMPLES) {
    return absl::StrFormat(
        "Each output is drawn at random, anew in every call. It must be a token that may be drawn, "
        "and over many calls tokens must come by their probabilities, up to a total variation "
        "distance of %g.\n",
        rule.sampling().most_distance());
  }
  return absl::StrFormat(
      "Each row of the output is a set of places in any order, -1 for none. Places must be the "
      "row's own, none may come twice, and their sorted scores must be those of the reference: one "
      "is wrong if its absolute error exceeds %g and its relative error exceeds %g.\n",
      rule.atol(), rule.rtol());
}

std::string ToleranceText(const v1::Task& task) {
  const v1::Tolerance& tolerance = task.tolerance();
  if (tolerance.judged_by_suite_rule()) return SuiteRuleText(task.suite_rule());
  if (tolerance.judged_by_program()) {
    return "A checker of the task's own judges the outputs by their properties; several answers "
           "may "
           "be right.\n";
  }
  std::string text =
      tolerance.sum_of_bounds()
          ? absl::StrFormat(
                "An output element is wrong if its absolute error exceeds %g + %g times the "
                "magnitude of the reference's; a non-finite value is wrong wherever the reference "
                "is finite. ",
                tolerance.atol(), tolerance.rtol())
          : absl::StrFormat(
                "An output element is wrong if its absolute error exceeds %g and its relative "
                "error "
                "exceeds %g; a non-finite value is wrong wherever the reference is finite. ",
                tolerance.atol(), tolerance.rtol());
  if (tolerance.required_matched_ratio() > 0 && tolerance.required_matched_ratio() < 1) {
    absl::StrAppendFormat(&text, "At least %g %% of the elements must be right. ",
                          100 * tolerance.required_matched_ratio());
  } else {
    text += "Every element must be right. ";
  }
  if (tolerance.max_rms_error_ratio() > 0) {
    absl::StrAppendFormat(&text,
                          "The RMS error relative to the RMS of the exact result may be at most "
                          "%.3g. ",
                          tolerance.max_rms_error_ratio() * tolerance.rms_yardstick());
  }
  return absl::StrCat(absl::StripTrailingAsciiWhitespace(text), "\n");
}

std::string RandomNote(const std::string& input, const v1::RandomRecipe& random) {
  std::string note;
  if (random.offset() != 0 || (random.scale() != 0 && random.scale() != 1)) {
    note = absl::StrFormat(", scale %g, offset %g", random.scale() == 0 ? 1.0 : random.scale(),
                           random.offset());
  }
  if (random.distribution() == v1::RandomRecipe::CAUCHY) note += ", Cauchy distributed";
  if (random.distribution() == v1::RandomRecipe::UNIFORM) note += ", uniform over [0, 1)";
  if (random.probability() != 0) {
    note += absl::StrFormat(", true with probability %g", random.probability());
  }
  if (random.least() != 0 || random.most() != 0) {
    note += absl::StrFormat(", integers from %d to %d", random.least(), random.most());
  }
  if (random.raise_count() > 0) {
    note += absl::StrFormat(", columns %d to %d larger by %g", random.raise_first(),
                            random.raise_first() + random.raise_count() - 1, random.raise());
  }
  return note.empty() ? "" : absl::StrCat(input, ": random", note);
}

// Notable properties of an input's values; empty for ordinary values.
std::string RecipeNote(const v1::InputRecipe& recipe) {
  switch (recipe.recipe_case()) {
    case v1::InputRecipe::kScalar: {
      const v1::ScalarRecipe& scalar = recipe.scalar();
      switch (scalar.value_case()) {
        case v1::ScalarRecipe::kIntValue:
          return absl::StrCat(recipe.input(), "=", scalar.int_value());
        case v1::ScalarRecipe::kFloatValue:
          return absl::StrFormat("%s=%g", recipe.input(), scalar.float_value());
        case v1::ScalarRecipe::kBoolValue:
          return absl::StrCat(recipe.input(), "=", scalar.bool_value() ? "true" : "false");
        case v1::ScalarRecipe::VALUE_NOT_SET:
          return "";
      }
      return "";
    }
    case v1::InputRecipe::kIndptr:
      return absl::StrCat(recipe.input(), ": ragged offsets, segments of at least ",
                          recipe.indptr().min_length(),
                          recipe.indptr().plus().empty()
                              ? ""
                              : absl::StrCat(" more than those of ", recipe.indptr().plus()));
    case v1::InputRecipe::kPageIndices:
      return absl::StrCat(recipe.input(), ": distinct page numbers, ",
                          recipe.page_indices().contiguous() ? "in order" : "scattered");
    case v1::InputRecipe::kRandom:
      return RandomNote(recipe.input(), recipe.random());
    case v1::InputRecipe::kRecorded:
      return absl::StrCat(recipe.input(), ": recorded, the same in every call");
    case v1::InputRecipe::kMade:
    case v1::InputRecipe::kSafetensors:
    case v1::InputRecipe::RECIPE_NOT_SET:
      return "";
  }
  return "";
}

std::string WorkloadLine(const PromptFacts& facts, const v1::Workload& workload) {
  std::string line = absl::StrCat("- ", workload.uuid(), ": ", AxisValuesText(workload));
  std::vector<std::string> notes;
  for (const v1::InputRecipe& recipe : workload.inputs()) {
    if (std::string note = RecipeNote(recipe); !note.empty()) notes.push_back(std::move(note));
  }
  if (!notes.empty()) absl::StrAppend(&line, " (", absl::StrJoin(notes, "; "), ")");
  if (const auto it = facts.baseline_us.find(workload.uuid()); it != facts.baseline_us.end()) {
    absl::StrAppendFormat(&line, "; baseline %.3f us", it->second);
  }
  if (const auto it = facts.floor_us.find(workload.uuid()); it != facts.floor_us.end()) {
    absl::StrAppendFormat(&line, ", floor %.3f us", it->second);
  }
  return line;
}

// If programs may have a form of the task's own, its author's text says more than the converted
// reference, and than the baseline, which calls the same function.
bool ShowsOwnText(const v1::Task& task) {
  return !task.forms().empty() && !task.definition().reference_text().empty();
}

}  // namespace

std::string DefinitionText(const PromptFacts& facts) {
  const v1::Definition& definition = facts.task.definition();
  std::string text = absl::StrCat("Name: ", definition.name(), "\n");
  if (!facts.task.title().empty()) {
    absl::StrAppend(&text, "Title: ", SafeLine(facts.task.title(), kMaxDescription), "\n");
  }
  if (!definition.op_type().empty()) absl::StrAppend(&text, "Kind: ", definition.op_type(), "\n");
  if (!definition.description().empty()) {
    absl::StrAppend(&text, "\n", SafeText(definition.description()), "\n");
  }
  text += "\n";
  AppendList("Axes:", definition.axes(), 0, AxisLine, &text);
  AppendList("Inputs, dense and row-major, in this order:", definition.inputs(), 0, TensorLine,
             &text);
  AppendList("Outputs, written by the kernel into memory it is given:", definition.outputs(), 0,
             TensorLine, &text);
  AppendList("Guaranteed of the inputs:", definition.constraints(), 0, ConstraintLine, &text);
  absl::StrAppend(&text, "\nTolerance: ", ToleranceText(facts.task));
  const v1::WorkFormula& work = facts.task.work();
  if (!work.bytes().empty() || !work.flops().empty()) {
    text += "Least work of one call:";
    if (!work.bytes().empty()) absl::StrAppend(&text, " ", work.bytes(), " bytes moved");
    if (!work.bytes().empty() && !work.flops().empty()) text += ",";
    if (!work.flops().empty()) absl::StrAppend(&text, " ", work.flops(), " arithmetic operations");
    text += ".\n";
  }
  return text;
}

std::string AxisValuesText(const v1::Workload& workload) {
  return absl::StrJoin(workload.axes(), ", ", [](std::string* out, const v1::AxisValue& axis) {
    absl::StrAppend(out, axis.axis(), "=", axis.value());
  });
}

std::string WorkloadsText(const PromptFacts& facts) {
  std::vector<const v1::Workload*> shown;
  for (const v1::Workload& workload : facts.task.workloads()) {
    if (!workload.held_out()) shown.push_back(&workload);
  }
  std::string text;
  AppendList(
      "", shown, kMaxWorkloadLines,
      [&](const v1::Workload* workload) { return WorkloadLine(facts, *workload); }, &text);
  return std::string(absl::StripLeadingAsciiWhitespace(text));
}

std::string ReferenceText(const PromptFacts& facts) {
  const v1::Sources* const sources = ChooseTrusted(facts.task.references(), facts.language);
  if (sources != nullptr && !ShowsOwnText(facts.task)) {
    std::string text;
    for (const v1::SourceFile& file : sources->files()) {
      absl::StrAppend(&text, "<reference path=\"", file.path(), "\">\n", SafeText(file.content()),
                      absl::EndsWith(file.content(), "\n") ? "" : "\n", "</reference>\n");
    }
    return text;
  }
  const std::string& own = facts.task.definition().reference_text();
  if (own.empty()) return "";
  return absl::StrCat("<reference>\n", SafeText(own), "\n</reference>\n");
}

std::string UnseenSizesText(const PromptFacts& facts) {
  std::vector<std::string> varying;
  for (const v1::Axis& axis : facts.task.definition().axes()) {
    if (!axis.has_const_value()) varying.push_back(axis.name());
  }
  std::string text;
  if (!varying.empty()) {
    absl::StrAppend(
        &text, "Unseen sizes vary ", absl::StrJoin(varying, ", "),
        " as far as the definition allows: expect values below, between and above those "
        "listed, odd ones too, and uneven segments where there are offsets.\n");
  }
  // All workloads have the same kind of recipe for an input, so the first one shown represents it.
  for (const v1::Workload& workload : facts.task.workloads()) {
    if (workload.held_out()) continue;
    for (const v1::InputRecipe& recipe : workload.inputs()) {
      if (recipe.has_indptr()) {
        absl::StrAppend(&text, "Always: ", recipe.input(), "[0] = 0, ", recipe.input(),
                        " never falls",
                        recipe.indptr().total_axis().empty()
                            ? ""
                            : absl::StrCat(", its last value is ", recipe.indptr().total_axis()),
                        ".\n");
      } else if (recipe.has_page_indices() && !recipe.page_indices().pool_axis().empty()) {
        absl::StrAppend(&text, "Always: ", recipe.input(), " are distinct and below ",
                        recipe.page_indices().pool_axis(), ".\n");
      }
    }
    break;
  }
  return text;
}

std::string BaselineText(const PromptFacts& facts, size_t max_bytes) {
  const v1::Sources* const shown = ChooseTrusted(facts.task.baselines(), facts.language);
  if (shown == nullptr || ShowsOwnText(facts.task)) return "";
  std::string text;
  for (const v1::SourceFile& file : shown->files()) {
    absl::StrAppend(&text, "<baseline path=\"", file.path(), "\">\n", SafeText(file.content()),
                    absl::EndsWith(file.content(), "\n") ? "" : "\n", "</baseline>\n");
  }
  // The end is the entry, which shows how the kernels are launched.
  return Shortened(text, max_bytes, Keep::kBothEnds);
}

std::string CompactSpecText(const PromptFacts& facts) {
  const v1::Definition& definition = facts.task.definition();
  std::string text =
      absl::StrCat("Name: ", definition.name(), "\nKind: ", definition.op_type(), "\n");
  AppendList("Axes:", definition.axes(), 18, AxisLine, &text);
  AppendList("Inputs:", definition.inputs(), 18, TensorLine, &text);
  AppendList("Outputs:", definition.outputs(), 18, TensorLine, &text);
  AppendList("Constraints:", definition.constraints(), 12, ConstraintLine, &text);
  const std::string reference = ReferenceText(facts);
  if (reference.empty()) return text;
  const std::vector<absl::string_view> lines = absl::StrSplit(reference, '\n');
  const size_t count = std::min<size_t>(lines.size(), 40);
  absl::StrAppend(
      &text, "Reference implementation:\n",
      absl::StrJoin(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(count), "\n"),
      count < lines.size() ? "\n(more lines follow)\n" : "");
  return text;
}

std::string WithoutHeldOut(const v1::Task& task, absl::string_view text) {
  const auto is_word = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  };
  std::string kept(text);
  for (const v1::Workload& workload : task.workloads()) {
    if (!workload.held_out() || workload.uuid().empty()) continue;
    constexpr absl::string_view kInstead = "(withheld)";
    size_t at = 0;
    while ((at = kept.find(workload.uuid(), at)) != std::string::npos) {
      const size_t end = at + workload.uuid().size();
      // A short id such as "w1" must not tear "w10" or "row1" apart.
      const bool whole =
          (at == 0 || !is_word(kept[at - 1])) && (end == kept.size() || !is_word(kept[end]));
      if (whole) kept.replace(at, workload.uuid().size(), kInstead.data(), kInstead.size());
      at += whole ? kInstead.size() : workload.uuid().size();
    }
  }
  return kept;
}

bool IsFeedback(const v1::Task& task, absl::string_view workload_uuid) {
  return std::any_of(task.workloads().begin(), task.workloads().end(),
                     [&](const v1::Workload& workload) {
                       return workload.uuid() == workload_uuid && !workload.held_out();
                     });
}

}  // namespace ksearch
