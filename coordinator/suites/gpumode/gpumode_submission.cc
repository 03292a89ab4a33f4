#include "coordinator/suites/gpumode/gpumode_submission.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/digest.h"
#include "common/kernel_header.h"
#include "common/language.h"
#include "common/status_macros.h"
#include "coordinator/suites/gpumode/gpumode_description.h"
#include "coordinator/suites/gpumode/gpumode_programs.h"
#include "coordinator/suites/gpumode/python/problem_scripts.h"

namespace ksearch {
namespace {

constexpr char kDirective[] = "#!POPCORN leaderboard ";

// What upstream's server reads stands in the first lines.
std::string WithDirective(absl::string_view leaderboard, absl::string_view text) {
  if (absl::StartsWith(text, kDirective)) return std::string(text);
  return absl::StrCat(kDirective, leaderboard, "\n", text);
}

// The cases that a description says of, as far as names of axes follow from them.
absl::StatusOr<std::vector<GpuModeCase>> CasesOf(const LocatedJson& json) {
  const LocatedJson* const list = json.Find("cases");
  if (list == nullptr || list->kind != LocatedJson::Kind::kArray || list->items.empty()) {
    return absl::InvalidArgumentError("the description has no cases");
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

// Where extents can be read: [tensor of data, dimension], by axis.
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

// The description's own parts, and where extents of results and axes are read.
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
    // The first one tells the case, which upstream does not.
    ASSIGN_OR_RETURN(LocatedJson place,
                     WhereIs(definition, extents, definition.axes(i).name(), i > 0));
    axes.items.push_back(std::move(place));
  }
  LocatedJson spec = description.spec;
  spec.Set("output_shapes", std::move(shapes));
  spec.Set("axes", std::move(axes));
  return spec;
}

// The program's text with the headers that it includes in their places.
absl::StatusOr<std::string> InOneFile(const v1::Definition& definition, v1::DeviceClass device,
                                      const std::string& program) {
  ASSIGN_OR_RETURN(const std::string header, KernelHeader(definition, device));
  std::string text;
  bool has_header = false, has_cuda_header = false;
  for (const absl::string_view line : absl::StrSplit(program, '\n')) {
    if (absl::StartsWith(line, "#include") && absl::StrContains(line, kKernelHeaderName)) {
      if (!has_header) absl::StrAppend(&text, header, "\n");
      has_header = true;
    } else if (absl::StartsWith(line, "#include") && absl::StrContains(line, kCudaHeaderName)) {
      if (!has_cuda_header) absl::StrAppend(&text, CudaHeaderText(), "\n");
      has_cuda_header = true;
    } else {
      absl::StrAppend(&text, line, "\n");
    }
  }
  // Each is a file of its own no longer.
  text = absl::StrReplaceAll(text, {{"#pragma once\n", ""}});
  const bool asks_scratch = absl::StrContains(program, absl::StrCat(kWorkspaceSymbol, "("));
  absl::StrAppend(
      &text,
      "\nint64_t ksearch_submission_call(int64_t args, int64_t stream) {\n"
      "  return ksearch_run(reinterpret_cast<const KsearchArgs*>(args)",
      device == v1::DEVICE_CLASS_CUDA ? ", reinterpret_cast<cudaStream_t>(stream)" : "",
      ");\n}\nint64_t ksearch_submission_scratch(int64_t args) {\n  return ",
      asks_scratch ? "ksearch_workspace_bytes(reinterpret_cast<const KsearchArgs*>(args))" : "0",
      ";\n}\n");
  return text;
}

// A literal of Python with this text: readable where its quotes allow it.
std::string PythonLiteral(const std::string& text) {
  if (absl::StrContains(text, "'''") || absl::EndsWith(text, "\\") || absl::EndsWith(text, "'")) {
    return absl::StrCat("bytes.fromhex(\"", absl::BytesToHexString(text), "\").decode(\"utf-8\")");
  }
  return absl::StrCat("r'''", text, "'''");
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
  const std::string& text = program.files(0).content();
  ASSIGN_OR_RETURN(const LocatedJson json, ParseLocatedJson(description, leaderboard));
  ASSIGN_OR_RETURN(const std::vector<GpuModeCase> cases, CasesOf(json));
  ASSIGN_OR_RETURN(const GpuModeDescription described,
                   ParseGpuModeDescription(description, leaderboard, cases.size()));
  v1::Task task;
  FreezeGpuMode(described, cases, &task);
  ASSIGN_OR_RETURN(const LocatedJson spec, SpecOf(described, task.definition()));
  const std::string entry = absl::StrReplaceAll(
      SubmissionEntryScript(), {{"@SPEC@", absl::BytesToHexString(WriteJson(spec, -1))}});
  const LanguageFacts* const language = FindLanguage(program.language());
  if (language == nullptr) return absl::InvalidArgumentError("the program's language is not known");
  if (language->toolkit == Toolkit::kPython) {
    return WithDirective(leaderboard, absl::StrCat(text, entry, SubmissionPythonScript()));
  }
  const bool on_gpu = language->toolkit == Toolkit::kNvcc;
  ASSIGN_OR_RETURN(
      const std::string whole,
      InOneFile(task.definition(), on_gpu ? v1::DEVICE_CLASS_CUDA : v1::DEVICE_CLASS_CPU, text));
  return WithDirective(
      leaderboard,
      absl::StrCat("_KSEARCH_SOURCE = ", PythonLiteral(whole), "\n", entry,
                   absl::StrReplaceAll(
                       SubmissionNativeScript(),
                       {{"@ON_GPU@", on_gpu ? "True" : "False"},
                        {"@NAME@", absl::StrCat("ksearch_", Sha256Hex(whole).substr(0, 16))}})));
}

}  // namespace ksearch
