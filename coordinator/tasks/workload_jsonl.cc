#include "coordinator/tasks/workload_jsonl.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/kernel_header.h"
#include "common/status_macros.h"
#include "common/task_limits.h"
#include "coordinator/tasks/located_json.h"

namespace ksearch {
namespace {

using Kind = LocatedJson::Kind;

constexpr int64_t kMaxNameBytes = 200;
constexpr int64_t kMaxPathBytes = 4096;
constexpr absl::string_view kScalarForm =
    "a scalar needs a value: {\"type\": \"scalar\", \"value\": ...}";
// Keeps products of a few extents within int64.
constexpr int64_t kMaxAxisValue = int64_t{1} << 40;

bool IsIndexType(v1::DType dtype) { return dtype == v1::DTYPE_INT32 || dtype == v1::DTYPE_INT64; }

bool IsFloat(v1::DType dtype) {
  switch (dtype) {
    case v1::DTYPE_FLOAT32:
    case v1::DTYPE_FLOAT16:
    case v1::DTYPE_BFLOAT16:
    case v1::DTYPE_FLOAT8_E4M3FN:
    case v1::DTYPE_FLOAT8_E5M2:
    case v1::DTYPE_FLOAT4_E2M1:
      return true;
    default:
      return false;
  }
}

// Parses the workloads of one file.
class WorkloadParser {
 public:
  WorkloadParser(absl::string_view file, const v1::Definition& definition,
                 LeftOutInputs left_out = LeftOutInputs::kAreErrors)
      : file_(file), definition_(definition), left_out_(left_out) {}

  absl::StatusOr<v1::Workload> ParseLine(absl::string_view line, int line_number);

 private:
  absl::Status ParseAxes(const JsonFields& fields, v1::Workload* workload);
  absl::Status ParseRecipe(const std::string& field, const LocatedJson& json,
                           const v1::TensorSpec& tensor, const v1::Workload& workload,
                           v1::InputRecipe* recipe);
  absl::Status ParseScalar(const JsonFields& fields, const LocatedJson& json,
                           const v1::TensorSpec& tensor, v1::ScalarRecipe* scalar);
  // Distribution, probability and raised columns.
  absl::Status ParseShape(const JsonFields& fields, const LocatedJson& json,
                          const v1::TensorSpec& tensor, const v1::Workload& workload,
                          v1::RandomRecipe* random);
  absl::Status ParseIntegers(const JsonFields& fields, const LocatedJson& json,
                             const v1::TensorSpec& tensor, v1::RandomRecipe* random);
  absl::Status ParsePlus(const JsonFields& fields, const v1::TensorSpec& tensor,
                         const v1::Workload& workload, v1::IndptrRecipe* recipe);
  absl::Status ParseRandom(const JsonFields& fields, const LocatedJson& json,
                           const v1::TensorSpec& tensor, const v1::Workload& workload,
                           v1::InputRecipe* recipe);
  // The axis that member `name` names, and its value.
  absl::StatusOr<std::pair<std::string, int64_t>> NamedAxis(const JsonFields& fields,
                                                            absl::string_view name,
                                                            const v1::Workload& workload) const;
  absl::Status CheckIndexVector(const JsonFields& fields, const v1::TensorSpec& tensor) const;
  int64_t AxisExtent(const std::string& axis, const v1::Workload& workload) const;

  absl::string_view file_;
  const v1::Definition& definition_;
  const LeftOutInputs left_out_;
  absl::flat_hash_map<std::string, int> line_of_uuid_;
};

int64_t WorkloadParser::AxisExtent(const std::string& axis, const v1::Workload& workload) const {
  for (const v1::Axis& known : definition_.axes()) {
    if (known.name() == axis && known.has_const_value()) return known.const_value();
  }
  for (const v1::AxisValue& value : workload.axes()) {
    if (value.axis() == axis) return value.value();
  }
  return -1;
}

absl::StatusOr<std::pair<std::string, int64_t>> WorkloadParser::NamedAxis(
    const JsonFields& fields, absl::string_view name, const v1::Workload& workload) const {
  ASSIGN_OR_RETURN(std::string axis, fields.RequiredText(name, kMaxNameBytes));
  const int64_t value = AxisExtent(axis, workload);
  if (value < 0) return fields.Error(name, absl::StrCat("unknown axis '", axis, "'"));
  return std::make_pair(std::move(axis), value);
}

absl::Status WorkloadParser::CheckIndexVector(const JsonFields& fields,
                                              const v1::TensorSpec& tensor) const {
  if (!tensor.scalar() && tensor.shape_size() == 1 && IsIndexType(tensor.dtype())) {
    return absl::OkStatus();
  }
  return fields.Error("recipe", "needs an int32 or int64 input of one dimension");
}

absl::Status WorkloadParser::ParseAxes(const JsonFields& fields, v1::Workload* workload) {
  ASSIGN_OR_RETURN(const LocatedJson* axes, fields.Required("axes", Kind::kObject));
  const JsonFields values(file_, *axes, fields.Path("axes"));
  absl::flat_hash_set<std::string> variable;
  for (const v1::Axis& axis : definition_.axes()) {
    if (axis.has_const_value()) continue;
    variable.insert(axis.name());
    ASSIGN_OR_RETURN(const LocatedJson* value, values.Required(axis.name(), Kind::kInteger));
    if (value->integer < 0 || value->integer > kMaxAxisValue) {
      return values.Error(axis.name(), absl::StrCat("must be from 0 to ", kMaxAxisValue));
    }
    v1::AxisValue* out = workload->add_axes();
    out->set_axis(axis.name());
    out->set_value(value->integer);
  }
  for (const auto& [name, value] : axes->members) {
    if (variable.contains(name)) continue;
    const int64_t constant = AxisExtent(name, *workload);
    if (constant < 0) {
      return values.Error(name, absl::StrCat("the definition has no axis '", name, "'"));
    }
    if (value.kind != Kind::kInteger || value.integer != constant) {
      return values.Error(name, absl::StrCat("is always ", constant, " by the definition"));
    }
  }
  return absl::OkStatus();
}

absl::Status WorkloadParser::ParseScalar(const JsonFields& fields, const LocatedJson& json,
                                         const v1::TensorSpec& tensor, v1::ScalarRecipe* scalar) {
  if (!tensor.scalar()) return fields.Error("type", "the input is a tensor, not a scalar");
  const LocatedJson* value = json.Find("value");
  if (value == nullptr) return fields.Error("value", "is missing");
  switch (value->kind) {
    case Kind::kInteger:
      if (tensor.dtype() == v1::DTYPE_BOOL) break;
      scalar->set_int_value(value->integer);
      return absl::OkStatus();
    case Kind::kFloat:
      if (!IsFloat(tensor.dtype())) break;
      scalar->set_float_value(value->number);
      return absl::OkStatus();
    case Kind::kBool:
      if (tensor.dtype() != v1::DTYPE_BOOL) break;
      scalar->set_bool_value(value->boolean);
      return absl::OkStatus();
    default:
      break;
  }
  return fields.Error("value", absl::StrCat("is ", KindName(value->kind), ", which is no ",
                                            DTypeName(tensor.dtype())));
}

absl::Status WorkloadParser::ParseShape(const JsonFields& fields, const LocatedJson& json,
                                        const v1::TensorSpec& tensor, const v1::Workload& workload,
                                        v1::RandomRecipe* random) {
  const auto number = [](const JsonFields& in, const LocatedJson& of,
                         absl::string_view name) -> absl::StatusOr<double> {
    const LocatedJson* value = of.Find(name);
    if (value == nullptr) return in.Error(name, "is missing");
    if (value->kind == Kind::kFloat) return value->number;
    if (value->kind == Kind::kInteger) return static_cast<double>(value->integer);
    return in.Error(name, absl::StrCat("must be a number, is ", KindName(value->kind)));
  };
  if (json.Find("distribution") != nullptr) {
    ASSIGN_OR_RETURN(const std::string name, fields.RequiredText("distribution", kMaxNameBytes));
    if (!IsFloat(tensor.dtype())) {
      return fields.Error("distribution", "is for floating-point inputs only");
    }
    if (name == "cauchy") {
      random->set_distribution(v1::RandomRecipe::CAUCHY);
    } else if (name == "student2") {
      random->set_distribution(v1::RandomRecipe::STUDENT2);
    } else if (name == "uniform") {
      random->set_distribution(v1::RandomRecipe::UNIFORM);
    } else if (name != "normal") {
      return fields.Error(
          "distribution",
          absl::StrCat("must be \"normal\", \"uniform\", \"student2\" or \"cauchy\", is \"", name,
                       "\""));
    }
  }
  if (json.Find("probability") != nullptr) {
    ASSIGN_OR_RETURN(const double value, number(fields, json, "probability"));
    if (tensor.dtype() != v1::DTYPE_BOOL) {
      return fields.Error("probability", "is for bool inputs only");
    }
    if (!(value > 0 && value <= 1)) return fields.Error("probability", "must be in (0, 1]");
    random->set_probability(value);
  }
  if (json.Find("raise") == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const LocatedJson* raise, fields.Required("raise", Kind::kObject));
  const JsonFields of_raise(file_, *raise, fields.Path("raise"));
  for (const auto& [name, value] : raise->members) {
    if (name != "first" && name != "count" && name != "by") {
      return of_raise.Error(name, "is not a setting of raise");
    }
  }
  if (!IsFloat(tensor.dtype()) || tensor.shape().empty()) {
    return fields.Error("raise", "is for floating-point inputs with a dimension only");
  }
  ASSIGN_OR_RETURN(const LocatedJson* first, of_raise.Required("first", Kind::kInteger));
  ASSIGN_OR_RETURN(const LocatedJson* count, of_raise.Required("count", Kind::kInteger));
  ASSIGN_OR_RETURN(const double by, number(of_raise, *raise, "by"));
  const std::string& axis = tensor.shape(tensor.shape_size() - 1);
  const int64_t row = AxisExtent(axis, workload);
  if (first->integer < 0 || count->integer < 1 || first->integer > row ||
      count->integer > row - first->integer) {
    return fields.Error("raise", absl::StrCat("must lie within the ", row, " of '", axis, "'"));
  }
  random->set_raise(by);
  random->set_raise_first(first->integer);
  random->set_raise_count(count->integer);
  return absl::OkStatus();
}

absl::Status WorkloadParser::ParseIntegers(const JsonFields& fields, const LocatedJson& json,
                                           const v1::TensorSpec& tensor, v1::RandomRecipe* random) {
  if (json.Find("least") == nullptr && json.Find("most") == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const LocatedJson* least, fields.Required("least", Kind::kInteger));
  ASSIGN_OR_RETURN(const LocatedJson* most, fields.Required("most", Kind::kInteger));
  ASSIGN_OR_RETURN(const int64_t bytes, ElementBytes(tensor.dtype()));
  if (IsFloat(tensor.dtype()) || tensor.dtype() == v1::DTYPE_BOOL) {
    return fields.Error("least", "is for integer inputs only");
  }
  const int64_t end = std::numeric_limits<int64_t>::max() >> (64 - 8 * bytes);
  for (const auto& [name, value] : {std::pair("least", least), std::pair("most", most)}) {
    if (value->integer < -end - 1 || value->integer > end) {
      return fields.Error(name, absl::StrCat("is no ", DTypeName(tensor.dtype())));
    }
  }
  if (least->integer >= most->integer) return fields.Error("most", "must be above \"least\"");
  if (least->integer == std::numeric_limits<int64_t>::min() &&
      most->integer == std::numeric_limits<int64_t>::max()) {
    return fields.Error("most", "and \"least\" leave nothing out");
  }
  random->set_least(least->integer);
  random->set_most(most->integer);
  return absl::OkStatus();
}

absl::Status WorkloadParser::ParsePlus(const JsonFields& fields, const v1::TensorSpec& tensor,
                                       const v1::Workload& workload, v1::IndptrRecipe* recipe) {
  ASSIGN_OR_RETURN(*recipe->mutable_plus(), fields.RequiredText("plus", kMaxNameBytes));
  const v1::InputRecipe* other = nullptr;
  for (const v1::InputRecipe& each : workload.inputs()) {
    if (each.input() == recipe->plus() && each.has_indptr()) other = &each;
  }
  const v1::TensorSpec* shape = nullptr;
  for (const v1::TensorSpec& each : definition_.inputs()) {
    if (each.name() == recipe->plus()) shape = &each;
  }
  if (other == nullptr || recipe->plus() == tensor.name() || !other->indptr().plus().empty() ||
      AxisExtent(shape->shape(0), workload) != AxisExtent(tensor.shape(0), workload)) {
    return fields.Error("plus",
                        "must name an earlier input with an indptr recipe of as many segments that "
                        "has no \"plus\" itself");
  }
  return absl::OkStatus();
}

absl::Status WorkloadParser::ParseRandom(const JsonFields& fields, const LocatedJson& json,
                                         const v1::TensorSpec& tensor, const v1::Workload& workload,
                                         v1::InputRecipe* recipe) {
  const auto only = [&](std::initializer_list<absl::string_view> known) -> absl::Status {
    for (const auto& [name, value] : json.members) {
      bool found = name == "type" || name == "recipe";
      for (absl::string_view each : known) found = found || each == name;
      if (!found) return fields.Error(name, "is not a setting of this recipe");
    }
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(const std::string kind, fields.OptionalText("recipe", kMaxNameBytes));
  if (kind.empty() && tensor.scalar()) return fields.Error("type", kScalarForm);
  if (kind.empty()) {
    RETURN_IF_ERROR(
        only({"scale", "offset", "distribution", "probability", "raise", "least", "most"}));
    v1::RandomRecipe* random = recipe->mutable_random();
    RETURN_IF_ERROR(ParseShape(fields, json, tensor, workload, random));
    RETURN_IF_ERROR(ParseIntegers(fields, json, tensor, random));
    for (const absl::string_view name : {"scale", "offset"}) {
      const LocatedJson* value = json.Find(name);
      if (value == nullptr) continue;
      if (value->kind != Kind::kFloat && value->kind != Kind::kInteger) {
        return fields.Error(name, absl::StrCat("must be a number, is ", KindName(value->kind)));
      }
      if (!IsFloat(tensor.dtype())) return fields.Error(name, "is for floating-point inputs only");
      if (name == "offset") {
        random->set_offset(value->number);
      } else if (value->number == 0) {
        return fields.Error(name, "must not be 0");
      } else if (value->number != 1) {
        random->set_scale(value->number);
      }
    }
    return absl::OkStatus();
  }
  if (kind == "indptr") {
    RETURN_IF_ERROR(only({"total_axis", "min_length", "plus"}));
    RETURN_IF_ERROR(CheckIndexVector(fields, tensor));
    ASSIGN_OR_RETURN(const auto total, NamedAxis(fields, "total_axis", workload));
    int64_t min_length = 0;
    if (json.Find("min_length") != nullptr) {
      ASSIGN_OR_RETURN(const LocatedJson* value, fields.Required("min_length", Kind::kInteger));
      min_length = value->integer;
    }
    const int64_t segments = AxisExtent(tensor.shape(0), workload) - 1;
    if (segments < 1) {
      return fields.Error("recipe",
                          absl::StrCat("axis '", tensor.shape(0), "' must be at least 2"));
    }
    v1::IndptrRecipe* indptr = recipe->mutable_indptr();
    int64_t free = total.second;
    if (json.Find("plus") != nullptr) {
      RETURN_IF_ERROR(ParsePlus(fields, tensor, workload, indptr));
      for (const v1::InputRecipe& other : workload.inputs()) {
        if (other.input() != indptr->plus()) continue;
        free -= AxisExtent(other.indptr().total_axis(), workload);
      }
    }
    if (free < 0 || min_length < 0 || (min_length > 0 && segments > free / min_length)) {
      return fields.Error("min_length", absl::StrCat(segments, " segments of ", min_length,
                                                     " do not fit into ", free));
    }
    indptr->set_total_axis(total.first);
    indptr->set_min_length(min_length);
    return absl::OkStatus();
  }
  if (kind == "page_indices") {
    RETURN_IF_ERROR(only({"pool_axis", "contiguous"}));
    RETURN_IF_ERROR(CheckIndexVector(fields, tensor));
    ASSIGN_OR_RETURN(const auto pool, NamedAxis(fields, "pool_axis", workload));
    if (AxisExtent(tensor.shape(0), workload) > pool.second) {
      return fields.Error("pool_axis", absl::StrCat("there are more indices than the ", pool.second,
                                                    " pages of '", pool.first, "'"));
    }
    recipe->mutable_page_indices()->set_pool_axis(pool.first);
    if (json.Find("contiguous") != nullptr) {
      ASSIGN_OR_RETURN(const LocatedJson* value, fields.Required("contiguous", Kind::kBool));
      recipe->mutable_page_indices()->set_contiguous(value->boolean);
    }
    return absl::OkStatus();
  }
  if (kind == "make_inputs") {
    recipe->mutable_made();
    return only({});
  }
  return fields.Error("recipe",
                      absl::StrCat("unknown recipe \"", kind,
                                   "\"; known: \"indptr\", \"page_indices\", \"make_inputs\""));
}

absl::Status WorkloadParser::ParseRecipe(const std::string& field, const LocatedJson& json,
                                         const v1::TensorSpec& tensor, const v1::Workload& workload,
                                         v1::InputRecipe* recipe) {
  const JsonFields fields(file_, json, field);
  RETURN_IF_ERROR(fields.CheckObject());
  recipe->set_input(tensor.name());
  ASSIGN_OR_RETURN(const std::string type, fields.RequiredText("type", kMaxNameBytes));
  if (type == "random") return ParseRandom(fields, json, tensor, workload, recipe);
  if (type == "scalar") return ParseScalar(fields, json, tensor, recipe->mutable_scalar());
  if (type == "safetensors") {
    v1::SafetensorsRecipe* blob = recipe->mutable_safetensors();
    ASSIGN_OR_RETURN(*blob->mutable_path(), fields.RequiredText("path", kMaxPathBytes));
    ASSIGN_OR_RETURN(*blob->mutable_tensor_key(), fields.RequiredText("tensor_key", kMaxNameBytes));
    return absl::OkStatus();
  }
  return fields.Error(
      "type", absl::StrCat("must be \"random\", \"scalar\" or \"safetensors\", is \"", type, "\""));
}

absl::StatusOr<v1::Workload> WorkloadParser::ParseLine(absl::string_view line, int line_number) {
  if (static_cast<int64_t>(line.size()) > kMaxWorkloadLineBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ":", line_number, ": longer than ", kMaxWorkloadLineBytes, " bytes"));
  }
  ASSIGN_OR_RETURN(const LocatedJson json, ParseLocatedJson(line, file_, line_number));
  const JsonFields trace(file_, json, "");
  RETURN_IF_ERROR(trace.CheckObject());
  ASSIGN_OR_RETURN(const std::string name, trace.RequiredText("definition", kMaxNameBytes));
  if (name != definition_.name()) {
    return trace.Error("definition",
                       absl::StrCat("is \"", name, "\", but the definition's name is \"",
                                    definition_.name(), "\""));
  }
  for (const absl::string_view field : {"solution", "evaluation"}) {
    const LocatedJson* member = json.Find(field);
    if (member != nullptr && member->kind != Kind::kNull) {
      return trace.Error(field, "must be null: this line is a trace of an evaluation, no workload");
    }
  }
  ASSIGN_OR_RETURN(const LocatedJson* body, trace.Required("workload", Kind::kObject));
  const JsonFields fields(file_, *body, "workload");
  v1::Workload workload;
  ASSIGN_OR_RETURN(*workload.mutable_uuid(), fields.RequiredText("uuid", kMaxNameBytes));
  // Terminals and logs show the uuid.
  if (!std::all_of(workload.uuid().begin(), workload.uuid().end(),
                   [](unsigned char c) { return absl::ascii_isgraph(c); })) {
    return fields.Error("uuid", "must be letters, digits and punctuation of ASCII, without blanks");
  }
  const auto [first, fresh] = line_of_uuid_.emplace(workload.uuid(), line_number);
  if (!fresh) {
    return fields.Error(
        "uuid", absl::StrCat("\"", workload.uuid(), "\" is already that of line ", first->second));
  }
  RETURN_IF_ERROR(ParseAxes(fields, &workload));

  ASSIGN_OR_RETURN(const LocatedJson* inputs, fields.Required("inputs", Kind::kObject));
  const JsonFields input_fields(file_, *inputs, "workload.inputs");
  absl::flat_hash_set<std::string> known;
  for (const v1::TensorSpec& tensor : definition_.inputs()) {
    known.insert(tensor.name());
    const LocatedJson* input = inputs->Find(tensor.name());
    if (input == nullptr && left_out_ == LeftOutInputs::kRandom && !tensor.scalar()) {
      v1::InputRecipe* const drawn = workload.add_inputs();
      drawn->set_input(tensor.name());
      drawn->mutable_random();
      continue;
    }
    if (input == nullptr) {
      return input_fields.Error(tensor.name(), tensor.scalar()
                                                   ? absl::StrCat("is missing: ", kScalarForm)
                                                   : "is missing");
    }
    RETURN_IF_ERROR(ParseRecipe(input_fields.Path(tensor.name()), *input, tensor, workload,
                                workload.add_inputs()));
  }
  for (const auto& [input, value] : inputs->members) {
    if (!known.contains(input)) {
      return input_fields.Error(input, "the definition has no such input");
    }
  }
  return workload;
}

}  // namespace

absl::StatusOr<std::vector<v1::Workload>> ParseWorkloadJsonl(absl::string_view text,
                                                             absl::string_view file,
                                                             const v1::Definition& definition) {
  if (static_cast<int64_t>(text.size()) > kMaxWorkloadsBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ":1: larger than ", kMaxWorkloadsBytes, " bytes"));
  }
  WorkloadParser parser(file, definition);
  std::vector<v1::Workload> workloads;
  for (int line_number = 1; !text.empty(); ++line_number) {
    const size_t end = text.find('\n');
    const absl::string_view line = text.substr(0, end);
    text.remove_prefix(end == absl::string_view::npos ? text.size() : end + 1);
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    RETURN_IF_ERROR(
        Annotate(CheckWorkloadCount(definition.name(), static_cast<int>(workloads.size()) + 1),
                 absl::StrCat(file, ":", line_number)));
    ASSIGN_OR_RETURN(v1::Workload workload, parser.ParseLine(line, line_number));
    workloads.push_back(std::move(workload));
  }
  return workloads;
}

absl::StatusOr<v1::Workload> ParseWorkloadLine(absl::string_view line, absl::string_view file,
                                               int line_number, const v1::Definition& definition,
                                               LeftOutInputs left_out) {
  return WorkloadParser(file, definition, left_out).ParseLine(line, line_number);
}

}  // namespace ksearch
