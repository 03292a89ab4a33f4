#include "coordinator/tasks/definition_json.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/cpp_keyword.h"
#include "common/kernel_header.h"
#include "common/names.h"
#include "common/status_macros.h"
#include "coordinator/tasks/located_json.h"

namespace ksearch {
namespace {

using Kind = LocatedJson::Kind;
using NameSet = absl::flat_hash_set<std::string>;

constexpr int64_t kMaxNameBytes = 200;
constexpr int64_t kMaxTextBytes = 64 << 10;
// Keeps products of a few extents within int64.
constexpr int64_t kMaxAxisValue = int64_t{1} << 40;
constexpr size_t kMaxTensors = 64;
constexpr size_t kMaxAxes = 64;
constexpr size_t kMaxRank = 8;

// Names that ksearch_task.h (common/kernel_header.cc) uses otherwise.
constexpr absl::string_view kNamesOfHeader[] = {
    "KsearchArgs", "ksearch_run", "ksearch_workspace_bytes",
    "NULL",        "int8_t",      "int16_t",
    "int32_t",     "int64_t",     "uint8_t",
    "uint16_t",    "uint32_t",    "uint64_t"};

// Names become fields of KsearchArgs.
absl::Status CheckName(absl::string_view file, const std::string& field, const std::string& name,
                       const LocatedJson& json) {
  if (std::find(std::begin(kNamesOfHeader), std::end(kNamesOfHeader), name) !=
      std::end(kNamesOfHeader)) {
    return JsonError(file, json, field,
                     absl::StrCat("'", name,
                                  "' is a name of ksearch_task.h; choose another one, also in "
                                  "workloads.jsonl"));
  }
  if (!IsCppKeyword(name)) return absl::OkStatus();
  return JsonError(file, json, field,
                   absl::StrCat("'", name,
                                "' is a keyword of C++, so no program could name it; "
                                "choose another name, also in workloads.jsonl"));
}

absl::Status ParseAxis(absl::string_view file, const std::string& name, const LocatedJson& json,
                       v1::Axis* axis) {
  const JsonFields fields(file, json, absl::StrCat("axes.", name));
  RETURN_IF_ERROR(fields.CheckObject());
  RETURN_IF_ERROR(CheckName(file, absl::StrCat("axes.", name), name, json));
  axis->set_name(name);
  ASSIGN_OR_RETURN(const std::string type, fields.RequiredText("type", kMaxNameBytes));
  if (type == "const") {
    ASSIGN_OR_RETURN(const LocatedJson* value, fields.Required("value", Kind::kInteger));
    if (value->integer < 0 || value->integer > kMaxAxisValue) {
      return fields.Error("value", absl::StrCat("must be from 0 to ", kMaxAxisValue));
    }
    axis->set_const_value(value->integer);
  } else if (type != "var") {
    return fields.Error("type", absl::StrCat("must be \"const\" or \"var\", is \"", type, "\""));
  }
  ASSIGN_OR_RETURN(*axis->mutable_description(), fields.OptionalText("description", kMaxTextBytes));
  return absl::OkStatus();
}

absl::Status ParseTensor(absl::string_view file, const std::string& field, const NameSet& axes,
                         const std::string& name, const LocatedJson& json, bool is_input,
                         v1::TensorSpec* tensor) {
  const JsonFields fields(file, json, field);
  RETURN_IF_ERROR(fields.CheckObject());
  RETURN_IF_ERROR(CheckName(file, field, name, json));
  tensor->set_name(name);
  const LocatedJson* shape = json.Find("shape");
  if (shape == nullptr) return fields.Error("shape", "is missing (null means a scalar)");
  if (shape->kind == Kind::kNull) {
    // A program writes a scalar output as a tensor without dimensions.
    tensor->set_scalar(is_input);
  } else {
    RETURN_IF_ERROR(fields.Required("shape", Kind::kArray).status());
    if (shape->items.size() > kMaxRank) {
      return fields.Error("shape", absl::StrCat("more than ", kMaxRank, " dimensions"));
    }
    for (size_t i = 0; i < shape->items.size(); ++i) {
      const LocatedJson& item = shape->items[i];
      const std::string path = absl::StrCat(field, ".shape[", i, "]");
      if (item.kind != Kind::kString) {
        return JsonError(file, item, path,
                         absl::StrCat("must be the name of an axis, is ", KindName(item.kind)));
      }
      if (!axes.contains(item.text)) {
        return JsonError(file, item, path, absl::StrCat("unknown axis '", item.text, "'"));
      }
      tensor->add_shape(item.text);
    }
  }
  ASSIGN_OR_RETURN(const std::string dtype, fields.RequiredText("dtype", kMaxNameBytes));
  const absl::StatusOr<v1::DType> parsed = DTypeFromName(dtype);
  if (!parsed.ok()) return fields.Error("dtype", parsed.status().message());
  tensor->set_dtype(*parsed);
  ASSIGN_OR_RETURN(*tensor->mutable_description(),
                   fields.OptionalText("description", kMaxTextBytes));
  return absl::OkStatus();
}

LocatedJson TensorToJson(const v1::TensorSpec& tensor) {
  LocatedJson json = LocatedJson::Object();
  LocatedJson& shape = json.Set("shape", tensor.scalar() ? LocatedJson() : LocatedJson::Array());
  for (const std::string& axis : tensor.shape()) shape.items.push_back(LocatedJson::String(axis));
  json.Set("dtype", LocatedJson::String(DTypeName(tensor.dtype())));
  if (!tensor.description().empty()) {
    json.Set("description", LocatedJson::String(tensor.description()));
  }
  return json;
}

template <typename Texts>
LocatedJson TextsToJson(const Texts& texts) {
  LocatedJson json = LocatedJson::Array();
  for (const std::string& text : texts) json.items.push_back(LocatedJson::String(text));
  return json;
}

}  // namespace

absl::StatusOr<v1::Definition> ParseDefinitionJson(absl::string_view text, absl::string_view file) {
  if (static_cast<int64_t>(text.size()) > kMaxDefinitionBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ":1: larger than ", kMaxDefinitionBytes, " bytes"));
  }
  ASSIGN_OR_RETURN(const LocatedJson json, ParseLocatedJson(text, file));
  const JsonFields fields(file, json, "");
  RETURN_IF_ERROR(fields.CheckObject());
  v1::Definition definition;
  ASSIGN_OR_RETURN(*definition.mutable_name(), fields.RequiredText("name", kMaxTaskNameBytes));
  if (!IsTaskName(definition.name())) {
    return fields.Error("name", "may hold only letters, digits, '_', '.' and '-'");
  }
  ASSIGN_OR_RETURN(*definition.mutable_op_type(), fields.RequiredText("op_type", kMaxNameBytes));

  ASSIGN_OR_RETURN(const LocatedJson* axes, fields.Required("axes", Kind::kObject));
  if (axes->members.size() > kMaxAxes) {
    return fields.Error("axes", absl::StrCat("more than ", kMaxAxes, " axes"));
  }
  NameSet axis_names;
  for (const auto& [name, axis] : axes->members) {
    if (name.empty() || static_cast<int64_t>(name.size()) > kMaxNameBytes) {
      return fields.Error("axes", "an axis has an empty or overlong name");
    }
    RETURN_IF_ERROR(ParseAxis(file, name, axis, definition.add_axes()));
    axis_names.insert(name);
  }

  NameSet tensor_names;
  for (const absl::string_view group : {"inputs", "outputs"}) {
    ASSIGN_OR_RETURN(const LocatedJson* tensors, fields.Required(group, Kind::kObject));
    if (tensors->members.size() > kMaxTensors) {
      return fields.Error(group, absl::StrCat("more than ", kMaxTensors, " tensors"));
    }
    for (const auto& [name, tensor] : tensors->members) {
      const std::string field = absl::StrCat(group, ".", name);
      if (name.empty() || static_cast<int64_t>(name.size()) > kMaxNameBytes) {
        return fields.Error(group, "a tensor has an empty or overlong name");
      }
      if (!tensor_names.insert(name).second) {
        return JsonError(file, tensor, field, "an input has the same name");
      }
      RETURN_IF_ERROR(
          ParseTensor(file, field, axis_names, name, tensor, group == "inputs",
                      group == "inputs" ? definition.add_inputs() : definition.add_outputs()));
    }
  }
  if (definition.outputs().empty()) return fields.Error("outputs", "must not be empty");

  ASSIGN_OR_RETURN(*definition.mutable_description(),
                   fields.OptionalText("description", kMaxTextBytes));
  ASSIGN_OR_RETURN(*definition.mutable_reference_text(),
                   fields.OptionalText("reference", kMaxDefinitionBytes));
  ASSIGN_OR_RETURN(const std::vector<std::string> constraints, fields.OptionalTexts("constraints"));
  definition.mutable_constraints()->Assign(constraints.begin(), constraints.end());
  ASSIGN_OR_RETURN(const std::vector<std::string> tags, fields.OptionalTexts("tags"));
  definition.mutable_tags()->Assign(tags.begin(), tags.end());
  return definition;
}

std::string DefinitionToJson(const v1::Definition& definition) {
  LocatedJson json = LocatedJson::Object();
  json.Set("name", LocatedJson::String(definition.name()));
  json.Set("op_type", LocatedJson::String(definition.op_type()));
  if (!definition.description().empty()) {
    json.Set("description", LocatedJson::String(definition.description()));
  }
  if (!definition.tags().empty()) json.Set("tags", TextsToJson(definition.tags()));
  LocatedJson& axes = json.Set("axes", LocatedJson::Object());
  for (const v1::Axis& axis : definition.axes()) {
    LocatedJson& member = axes.Set(axis.name(), LocatedJson::Object());
    member.Set("type", LocatedJson::String(axis.has_const_value() ? "const" : "var"));
    if (axis.has_const_value()) member.Set("value", LocatedJson::Integer(axis.const_value()));
    if (!axis.description().empty()) {
      member.Set("description", LocatedJson::String(axis.description()));
    }
  }
  LocatedJson& inputs = json.Set("inputs", LocatedJson::Object());
  for (const v1::TensorSpec& tensor : definition.inputs()) {
    inputs.Set(tensor.name(), TensorToJson(tensor));
  }
  LocatedJson& outputs = json.Set("outputs", LocatedJson::Object());
  for (const v1::TensorSpec& tensor : definition.outputs()) {
    outputs.Set(tensor.name(), TensorToJson(tensor));
  }
  if (!definition.constraints().empty()) {
    json.Set("constraints", TextsToJson(definition.constraints()));
  }
  if (!definition.reference_text().empty()) {
    json.Set("reference", LocatedJson::String(definition.reference_text()));
  }
  return WriteJson(json, 2) + "\n";
}

}  // namespace ksearch
