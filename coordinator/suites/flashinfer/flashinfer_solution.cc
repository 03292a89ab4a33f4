#include "coordinator/suites/flashinfer/flashinfer_solution.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "coordinator/tasks/located_json.h"

namespace ksearch {
namespace {

using Kind = LocatedJson::Kind;

constexpr int64_t kMaxNameBytes = 300;
constexpr int64_t kMaxTextBytes = 64 << 10;
constexpr int64_t kMaxSourceBytes = 1 << 20;
constexpr const char* kLanguages[] = {"python", "triton", "cpp", "cuda", "tilelang"};
constexpr const char* kBindings[] = {"tvm-ffi", "torch"};

template <size_t N>
bool IsOneOf(const std::string& word, const char* const (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

template <size_t N>
std::string NoneOf(const std::string& word, const char* const (&words)[N]) {
  return absl::StrCat("'", word, "' is not one of ", absl::StrJoin(words, ", "));
}

bool IsPrintable(absl::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return absl::ascii_iscntrl(c); });
}

// Returns true if the path is relative and stays within its folder.
bool IsPathWithin(absl::string_view path) {
  if (path.empty() || path[0] == '/') return false;
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part == "..") return false;
  }
  return true;
}

// A required name, which must be printable as it is shown in one line.
absl::StatusOr<std::string> RequiredName(const JsonFields& fields, absl::string_view field) {
  ASSIGN_OR_RETURN(std::string name, fields.RequiredText(field, kMaxNameBytes));
  if (!IsPrintable(name)) return fields.Error(field, "holds a control character");
  return name;
}

absl::Status ReadSources(absl::string_view file, const LocatedJson& list,
                         std::vector<v1::SourceFile>* sources) {
  if (list.items.empty()) return JsonError(file, list, "sources", "must have at least one file");
  for (size_t i = 0; i < list.items.size(); ++i) {
    const JsonFields fields(file, list.items[i], absl::StrCat("sources[", i, "]"));
    RETURN_IF_ERROR(fields.CheckObject());
    v1::SourceFile source;
    ASSIGN_OR_RETURN(*source.mutable_path(), fields.RequiredText("path", kMaxNameBytes));
    ASSIGN_OR_RETURN(*source.mutable_content(), fields.RequiredText("content", kMaxSourceBytes));
    if (!IsPathWithin(source.path())) {
      return fields.Error("path", "must be relative and without '..'");
    }
    for (const v1::SourceFile& other : *sources) {
      if (other.path() == source.path()) {
        return fields.Error("path", absl::StrCat("an earlier file is called ", source.path()));
      }
    }
    sources->push_back(std::move(source));
  }
  return absl::OkStatus();
}

absl::Status ReadSpec(const JsonFields& spec, const LocatedJson& json,
                      FlashInferSolution* solution) {
  RETURN_IF_ERROR(spec.CheckObject());
  ASSIGN_OR_RETURN(solution->language, spec.RequiredText("language", kMaxNameBytes));
  if (!IsOneOf(solution->language, kLanguages)) {
    return spec.Error("language", NoneOf(solution->language, kLanguages));
  }
  ASSIGN_OR_RETURN(solution->binding, spec.OptionalText("binding", kMaxNameBytes));
  if (!solution->binding.empty() && !IsOneOf(solution->binding, kBindings)) {
    return spec.Error("binding", NoneOf(solution->binding, kBindings));
  }
  ASSIGN_OR_RETURN(solution->target_hardware, spec.OptionalTexts("target_hardware"));
  if (solution->target_hardware.empty()) {
    return spec.Error("target_hardware", "must name at least one");
  }
  ASSIGN_OR_RETURN(solution->dependencies, spec.OptionalTexts("dependencies"));
  for (const std::string& dependency : solution->dependencies) {
    if (!IsPrintable(dependency)) return spec.Error("dependencies", "hold a control character");
  }
  if (const LocatedJson* const style = json.Find("destination_passing_style"); style != nullptr) {
    if (style->kind != Kind::kBool) {
      return spec.Error("destination_passing_style", "must be true or false");
    }
    solution->destination_passing = style->boolean;
  }
  ASSIGN_OR_RETURN(const std::string entry, spec.RequiredText("entry_point", kMaxNameBytes));
  const std::vector<std::string> parts = absl::StrSplit(entry, "::");
  if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
    return spec.Error("entry_point",
                      absl::StrCat("'", entry, "' must be FILE::FUNCTION, e.g. main.py::run"));
  }
  solution->entry_file = parts[0];
  solution->entry_symbol = parts[1];
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FlashInferSolution> ParseFlashInferSolution(absl::string_view text,
                                                           absl::string_view file) {
  ASSIGN_OR_RETURN(const LocatedJson json, ParseLocatedJson(text, file));
  const JsonFields fields(file, json, "");
  RETURN_IF_ERROR(fields.CheckObject());
  FlashInferSolution solution;
  ASSIGN_OR_RETURN(solution.name, RequiredName(fields, "name"));
  ASSIGN_OR_RETURN(solution.definition, RequiredName(fields, "definition"));
  ASSIGN_OR_RETURN(solution.author, RequiredName(fields, "author"));
  ASSIGN_OR_RETURN(solution.description, fields.OptionalText("description", kMaxTextBytes));
  ASSIGN_OR_RETURN(const LocatedJson* const spec, fields.Required("spec", Kind::kObject));
  RETURN_IF_ERROR(ReadSpec(JsonFields(file, *spec, "spec"), *spec, &solution));
  ASSIGN_OR_RETURN(const LocatedJson* const sources, fields.Required("sources", Kind::kArray));
  RETURN_IF_ERROR(ReadSources(file, *sources, &solution.sources));
  if (std::none_of(
          solution.sources.begin(), solution.sources.end(),
          [&](const v1::SourceFile& each) { return each.path() == solution.entry_file; })) {
    return JsonError(file, *spec, "spec.entry_point",
                     absl::StrCat("no file of sources is called '", solution.entry_file, "'"));
  }
  return solution;
}

}  // namespace ksearch
