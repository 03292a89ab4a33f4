#include "coordinator/suites/gpumode/gpumode_submission.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "coordinator/suites/callable_program.h"
#include "coordinator/suites/gpumode/gpumode_description.h"
#include "coordinator/suites/gpumode/gpumode_programs.h"
#include "coordinator/suites/gpumode/python/problem_scripts.h"

namespace ksearch {
namespace {

constexpr char kDirective[] = "#!POPCORN leaderboard ";

// Upstream's server reads its directives from the first lines.
std::string WithDirective(absl::string_view leaderboard, absl::string_view text) {
  if (absl::StartsWith(text, kDirective)) return std::string(text);
  return absl::StrCat(kDirective, leaderboard, "\n", text);
}

// The cases that a description lists, with what is needed to name the axes.
absl::StatusOr<std::vector<GpuModeCase>> CasesOf(const LocatedJson& json) {
  const LocatedJson* const list = json.Find("cases");
  if (list == nullptr || list->kind != LocatedJson::Kind::kArray || list->items.empty()) {
    return absl::InvalidArgumentError(
        "its description has no cases, so it is no problem of GPU MODE");
  }
  std::vector<GpuModeCase> cases;
  for (const LocatedJson& each : list->items) {
    GpuModeCase& added = cases.emplace_back();
    added.arguments = LocatedJson::Object();
    if (each.kind != LocatedJson::Kind::kObject) continue;
    const LocatedJson* const arguments = each.Find("arguments");
    if (arguments != nullptr && arguments->kind == LocatedJson::Kind::kObject) {
      added.arguments = *arguments;
    }
  }
  return cases;
}

// The tensors that extents can be read from, by axis: [tensor of data, dimension].
using Extents = std::map<std::string, std::pair<int64_t, int64_t>>;

absl::StatusOr<LocatedJson> WhereIs(const v1::Definition& definition, const Extents& extents,
                                    const std::string& name, bool needed) {
  for (const v1::Axis& axis : definition.axes()) {
    if (axis.name() == name && axis.has_const_value()) {
      return LocatedJson::Integer(axis.const_value());
    }
  }
  if (const auto found = extents.find(name); found != extents.end()) {
    LocatedJson place = LocatedJson::Array();
    place.items.push_back(LocatedJson::Integer(found->second.first));
    place.items.push_back(LocatedJson::Integer(found->second.second));
    return place;
  }
  if (!needed) return LocatedJson::Integer(0);
  return absl::InvalidArgumentError(
      absl::StrCat("no tensor of the problem's data has the extent '", name, "'"));
}

// The parts of the description, and where extents of results and axes can be read.
absl::StatusOr<LocatedJson> SpecOf(const GpuModeDescription& description,
                                   const v1::Definition& definition) {
  std::map<std::string, const v1::TensorSpec*> tensors;
  for (const auto* group : {&definition.inputs(), &definition.outputs()}) {
    for (const v1::TensorSpec& tensor : *group) tensors[tensor.name()] = &tensor;
  }
  Extents extents;
  for (size_t i = 0; i < description.data.size(); ++i) {
    const v1::TensorSpec& tensor = *tensors[description.data[i].name];
    for (int k = 0; k < tensor.shape_size(); ++k) {
      extents.emplace(tensor.shape(k), std::make_pair(static_cast<int64_t>(i), int64_t{k}));
    }
  }
  LocatedJson shapes = LocatedJson::Array();
  for (const v1::TensorSpec& output : definition.outputs()) {
    LocatedJson& shape = shapes.items.emplace_back(LocatedJson::Array());
    for (const std::string& axis : output.shape()) {
      ASSIGN_OR_RETURN(LocatedJson place, WhereIs(definition, extents, axis, true));
      shape.items.push_back(std::move(place));
    }
  }
  LocatedJson axes = LocatedJson::Array();
  for (int i = 0; i < definition.axes_size(); ++i) {
    // The first one names the case, which upstream does not.
    ASSIGN_OR_RETURN(LocatedJson place,
                     WhereIs(definition, extents, definition.axes(i).name(), i > 0));
    axes.items.push_back(std::move(place));
  }
  LocatedJson spec = description.spec;
  spec.Set("output_shapes", std::move(shapes));
  spec.Set("axes", std::move(axes));
  return spec;
}

// A part of the body of a function at the top level.
std::string Indented(absl::string_view text) {
  std::string indented;
  for (const absl::string_view line : absl::StrSplit(absl::StripAsciiWhitespace(text), '\n')) {
    absl::StrAppend(&indented, line.empty() ? "" : "    ", line, "\n");
  }
  return indented;
}

}  // namespace

absl::StatusOr<std::string> GpuModeSubmission(absl::string_view leaderboard,
                                              absl::string_view description,
                                              const v1::Sources& program) {
  for (const v1::SourceFile& file : program.files()) {
    if (file.path() == kGpuModeSubmissionFile) return WithDirective(leaderboard, file.content());
  }
  if (program.files_size() != 1) {
    return absl::InvalidArgumentError("a submission is one file, and this program has several");
  }
  ASSIGN_OR_RETURN(const LocatedJson json, ParseLocatedJson(description, leaderboard));
  ASSIGN_OR_RETURN(const std::vector<GpuModeCase> cases, CasesOf(json));
  ASSIGN_OR_RETURN(const GpuModeDescription described,
                   ParseGpuModeDescription(description, leaderboard, cases.size()));
  if (IsGpuModeSubmission(program.files(0).content(), described.functions)) {
    return WithDirective(leaderboard, program.files(0).content());
  }
  if (described.functions.size() > 1 || described.functions[0] != "custom_kernel") {
    return absl::InvalidArgumentError(absl::StrCat(
        "a submission to ", leaderboard, " defines ", absl::StrJoin(described.functions, ", "),
        ", and what a single `run` or ksearch_run computes cannot be taken apart into these"));
  }
  v1::Task task;
  task.mutable_definition()->set_name(absl::StrCat("gpumode_", leaderboard));
  FreezeGpuMode(described, cases, &task);
  ASSIGN_OR_RETURN(const LocatedJson spec, SpecOf(described, task.definition()));
  ASSIGN_OR_RETURN(const std::string callable, CallableProgram(task.definition(), program));
  return WithDirective(
      leaderboard,
      absl::StrCat(
          callable,
          absl::StrReplaceAll(
              SubmissionEntryScript(),
              {{"@SPEC@", absl::BytesToHexString(WriteJson(spec, -1))},
               {"@NESTED_VALUES@\n",
                Indented(absl::StrCat(NestedValuesScript(), ModulesOfClasses(described)))}})));
}

}  // namespace ksearch
