#include "coordinator/suites/problem_description.h"

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/cpp_keyword.h"
#include "common/kernel_header.h"
#include "common/names.h"
#include "common/status_macros.h"
#include "coordinator/tasks/located_json.h"

namespace ksearch {
namespace {

using Kind = LocatedJson::Kind;

constexpr int64_t kMaxNameBytes = 200;
constexpr int64_t kMaxErrorBytes = 1000;
constexpr int64_t kMaxInitBytes = 16 << 10;
constexpr int64_t kMaxHexBytes = 256 << 10;
constexpr size_t kMaxRank = 8;
constexpr int64_t kMaxExtent = int64_t{1} << 40;
constexpr double kMaxNumber = 1e30;
// Values with a smaller scale are 0 in every type, so that only the offset remains.
constexpr double kVanishing = 1e-300;
constexpr char kWorkload[] = "official";

bool IsPath(absl::string_view path) {
  for (const absl::string_view part : absl::StrSplit(path, '.')) {
    if (part.empty()) return false;
    for (const char c : part) {
      if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
    }
  }
  return true;
}

std::string WithoutControl(absl::string_view words) {
  std::string text(words);
  for (char& c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  return text;
}

// A tensor's place within its module, for people and models.
std::string PlaceText(const DescribedTensor& tensor) {
  if (tensor.parts.empty()) return tensor.path;
  std::string text =
      absl::StrCat(tensor.parts.size(), " tensors, each row-major from the element named first:");
  for (const PackedPart& part : tensor.parts) {
    absl::StrAppend(&text, " ", part.first, " ", part.path, " [", absl::StrJoin(part.shape, ", "),
                    "];");
  }
  return text;
}

class Parser {
 public:
  explicit Parser(absl::string_view name) : name_(name) {}

  absl::StatusOr<ProblemDescription> Parse(const LocatedJson& json);

 private:
  absl::Status ParseGroup(const JsonFields& fields, absl::string_view group,
                          std::vector<DescribedTensor>* tensors);
  absl::Status ParseOne(const std::string& field, const LocatedJson& json, absl::string_view group,
                        DescribedTensor* tensor);
  absl::Status ParseNumber(const JsonFields& fields, const LocatedJson& value,
                           DescribedTensor* tensor);
  absl::Status ParseParts(const std::string& field, const LocatedJson& list,
                          DescribedTensor* tensor);
  static absl::Status ParseShape(const JsonFields& fields, std::vector<int64_t>* shape);
  absl::Status ParseRecipe(const std::string& field, const LocatedJson& json,
                           DescribedTensor* tensor);
  // The number in a required member, at most 1e30 in magnitude.
  absl::StatusOr<double> Number(const JsonFields& fields, const LocatedJson& json,
                                absl::string_view member) const;
  absl::Status WriteLiteral(const JsonFields& fields, const LocatedJson& value, std::string* out);

  absl::string_view name_;
  std::set<std::string> names_;
  bool made_ = false;
  size_t parts_ = 0;
};

absl::StatusOr<double> Parser::Number(const JsonFields& fields, const LocatedJson& json,
                                      absl::string_view member) const {
  const LocatedJson* const value = json.Find(member);
  if (value == nullptr || (value->kind != Kind::kFloat && value->kind != Kind::kInteger)) {
    return fields.Error(member, "must be a number");
  }
  const double number =
      value->kind == Kind::kInteger ? static_cast<double>(value->integer) : value->number;
  if (!std::isfinite(number) || std::fabs(number) > kMaxNumber) {
    return fields.Error(member, "is too large");
  }
  return number;
}

absl::Status Parser::WriteLiteral(const JsonFields& fields, const LocatedJson& value,
                                  std::string* out) {
  const auto list = [&](const LocatedJson& items, absl::string_view open,
                        absl::string_view close) -> absl::Status {
    absl::StrAppend(out, open);
    for (const LocatedJson& item : items.items) {
      RETURN_IF_ERROR(WriteLiteral(fields, item, out));
      absl::StrAppend(out, ", ");
    }
    absl::StrAppend(out, close);
    return absl::OkStatus();
  };
  switch (value.kind) {
    case Kind::kNull:
      absl::StrAppend(out, "None");
      break;
    case Kind::kBool:
      absl::StrAppend(out, value.boolean ? "True" : "False");
      break;
    case Kind::kInteger:
      absl::StrAppend(out, value.integer);
      break;
    case Kind::kFloat:
      if (!std::isfinite(value.number)) return fields.Error("init", "holds no finite number");
      absl::StrAppend(out, WriteJson(value, -1));
      break;
    case Kind::kString:
      // Any text in Python's spelling.
      absl::StrAppend(out, "bytes.fromhex('", absl::BytesToHexString(value.text),
                      "').decode('utf-8')");
      break;
    case Kind::kArray:
      return list(value, "[", "]");
    case Kind::kObject: {
      const LocatedJson* const tuple = value.Find("tuple");
      if (value.members.size() != 1 || tuple == nullptr || tuple->kind != Kind::kArray) {
        return fields.Error("init", "holds an object that is not a tuple");
      }
      return list(*tuple, "(", ")");
    }
  }
  if (static_cast<int64_t>(out->size()) > kMaxInitBytes) {
    return fields.Error("init", "is longer than 16 KiB");
  }
  return absl::OkStatus();
}

absl::Status Parser::ParseNumber(const JsonFields& fields, const LocatedJson& value,
                                 DescribedTensor* tensor) {
  tensor->scalar = true;
  v1::ScalarRecipe* const scalar = tensor->recipe.mutable_scalar();
  switch (value.kind) {
    case Kind::kBool:
      tensor->dtype = v1::DTYPE_BOOL;
      scalar->set_bool_value(value.boolean);
      return absl::OkStatus();
    case Kind::kInteger:
      tensor->dtype = v1::DTYPE_INT64;
      scalar->set_int_value(value.integer);
      return absl::OkStatus();
    case Kind::kFloat:
      if (!std::isfinite(value.number)) break;
      tensor->dtype = v1::DTYPE_FLOAT32;
      scalar->set_float_value(value.number);
      return absl::OkStatus();
    default:
      break;
  }
  return fields.Error("value", "must be a finite number or a truth value");
}

absl::Status Parser::ParseRecipe(const std::string& field, const LocatedJson& json,
                                 DescribedTensor* tensor) {
  const JsonFields fields(name_, json, field);
  RETURN_IF_ERROR(fields.CheckObject());
  ASSIGN_OR_RETURN(const std::string kind, fields.RequiredText("kind", kMaxNameBytes));
  const bool floating = tensor->dtype == v1::DTYPE_FLOAT32 || tensor->dtype == v1::DTYPE_FLOAT16 ||
                        tensor->dtype == v1::DTYPE_BFLOAT16;
  if (floating && (kind == "normal" || kind == "uniform" || kind == "constant")) {
    v1::RandomRecipe* const random = tensor->recipe.mutable_random();
    ASSIGN_OR_RETURN(const double offset, Number(fields, json, "offset"));
    double scale = kVanishing;
    if (kind != "constant") {
      ASSIGN_OR_RETURN(scale, Number(fields, json, "scale"));
      if (!(scale > 0)) return fields.Error("scale", "must be above 0");
    }
    if (kind == "uniform") random->set_distribution(v1::RandomRecipe::UNIFORM);
    random->set_offset(offset);
    if (scale != 1) random->set_scale(scale);
    return absl::OkStatus();
  }
  if (kind == "bool" && tensor->dtype == v1::DTYPE_BOOL) {
    ASSIGN_OR_RETURN(const double probability, Number(fields, json, "probability"));
    if (!(probability > 0 && probability <= 1)) {
      return fields.Error("probability", "must be in (0, 1]");
    }
    tensor->recipe.mutable_random()->set_probability(probability);
    return absl::OkStatus();
  }
  if (kind == "recorded" && !floating) {
    ASSIGN_OR_RETURN(const std::string hex, fields.OptionalText("values", kMaxHexBytes));
    for (const char c : hex) {
      if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) {
        return fields.Error("values", "must be hexadecimal digits");
      }
    }
    ASSIGN_OR_RETURN(int64_t bytes, ElementBytes(tensor->dtype));
    for (const int64_t extent : tensor->shape) {
      if (__builtin_mul_overflow(bytes, extent, &bytes)) bytes = -1;
      if (bytes < 0 || bytes > kMaxHexBytes) return fields.Error("values", "are too many");
    }
    if (static_cast<int64_t>(hex.size()) != 2 * bytes) {
      return fields.Error("values", absl::StrCat("must be ", bytes, " bytes"));
    }
    tensor->recipe.mutable_recorded()->set_values(absl::HexStringToBytes(hex));
    return absl::OkStatus();
  }
  return fields.Error("kind",
                      absl::StrCat("\"", kind, "\" does not make ", DTypeName(tensor->dtype)));
}

absl::Status Parser::ParseShape(const JsonFields& fields, std::vector<int64_t>* shape) {
  ASSIGN_OR_RETURN(const LocatedJson* list, fields.Required("shape", Kind::kArray));
  if (list->items.size() > kMaxRank) return fields.Error("shape", "has more than 8 dimensions");
  for (const LocatedJson& item : list->items) {
    if (item.kind != Kind::kInteger || item.integer < 0 || item.integer > kMaxExtent) {
      return fields.Error("shape", "must hold whole numbers from 0 to 2^40");
    }
    shape->push_back(item.integer);
  }
  return absl::OkStatus();
}

absl::Status Parser::ParseParts(const std::string& field, const LocatedJson& list,
                                DescribedTensor* tensor) {
  const JsonFields outer(name_, list, field);
  if (list.kind != Kind::kArray || list.items.empty() || tensor->shape.size() != 1) {
    return outer.Error("parts", "must be a list, of a tensor with one dimension");
  }
  if (!made_) return outer.Error("parts", "are of values that are made only");
  int64_t end = 0;
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (++parts_ > kMaxPackedParts) return outer.Error("parts", "are more than 4096");
    const JsonFields fields(name_, list.items[i], absl::StrCat(field, ".parts[", i, "]"));
    RETURN_IF_ERROR(fields.CheckObject());
    PackedPart part;
    ASSIGN_OR_RETURN(part.path, fields.RequiredText("path", kMaxNameBytes));
    if (!IsPath(part.path)) return fields.Error("path", "is not a path within a module");
    RETURN_IF_ERROR(ParseShape(fields, &part.shape));
    ASSIGN_OR_RETURN(const LocatedJson* first, fields.Required("offset", Kind::kInteger));
    part.first = first->integer;
    int64_t elements = 1;
    for (const int64_t extent : part.shape) {
      if (__builtin_mul_overflow(elements, extent, &elements)) elements = kMaxExtent + 1;
      if (elements > kMaxExtent) return fields.Error("shape", "has too many elements");
    }
    if (part.first < end || part.first > kMaxExtent || part.first + elements > tensor->shape[0]) {
      return fields.Error("offset", "does not lie behind the part before, within the tensor");
    }
    end = part.first + elements;
    tensor->parts.push_back(std::move(part));
  }
  return absl::OkStatus();
}

absl::Status Parser::ParseOne(const std::string& field, const LocatedJson& json,
                              absl::string_view group, DescribedTensor* tensor) {
  const JsonFields fields(name_, json, field);
  RETURN_IF_ERROR(fields.CheckObject());
  ASSIGN_OR_RETURN(tensor->name, fields.RequiredText("name", kMaxNameBytes));
  if (!IsIdentifier(tensor->name)) return fields.Error("name", "is not a name in C and Python");
  // The name becomes an argument of C++ programs, too.
  if (IsCppKeyword(tensor->name)) tensor->name += "_";
  if (!names_.insert(tensor->name).second) return fields.Error("name", "is used twice");
  tensor->recipe.set_input(tensor->name);
  if (const LocatedJson* value = json.Find("value"); value != nullptr && group == "inputs") {
    return ParseNumber(fields, *value, tensor);
  }
  ASSIGN_OR_RETURN(const std::string dtype, fields.RequiredText("dtype", kMaxNameBytes));
  const absl::StatusOr<v1::DType> parsed = DTypeFromName(dtype);
  if (!parsed.ok()) return fields.Error("dtype", parsed.status().message());
  tensor->dtype = *parsed;
  RETURN_IF_ERROR(ParseShape(fields, &tensor->shape));
  if (group == "outputs") return absl::OkStatus();
  if (const LocatedJson* written = json.Find("written"); written != nullptr) {
    if (written->kind != Kind::kBool) return fields.Error("written", "must be a truth value");
    tensor->written = written->boolean;
  }
  const LocatedJson* const parts = json.Find("parts");
  if (parts != nullptr && group != "inputs") {
    RETURN_IF_ERROR(ParseParts(field, *parts, tensor));
  } else if (group != "inputs") {
    ASSIGN_OR_RETURN(tensor->path, fields.RequiredText("path", kMaxNameBytes));
    if (!IsPath(tensor->path)) return fields.Error("path", "is not a path within a module");
  }
  if (made_) {
    tensor->recipe.mutable_made();
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const LocatedJson* recipe, fields.Required("recipe", Kind::kObject));
  return ParseRecipe(absl::StrCat(field, ".recipe"), *recipe, tensor);
}

absl::Status Parser::ParseGroup(const JsonFields& fields, absl::string_view group,
                                std::vector<DescribedTensor>* tensors) {
  ASSIGN_OR_RETURN(const LocatedJson* list, fields.Required(group, Kind::kArray));
  for (size_t i = 0; i < list->items.size() && i <= kMaxDescribedTensors; ++i) {
    DescribedTensor tensor;
    RETURN_IF_ERROR(ParseOne(absl::StrCat(group, "[", i, "]"), list->items[i], group, &tensor));
    tensors->push_back(std::move(tensor));
  }
  return absl::OkStatus();
}

absl::StatusOr<ProblemDescription> Parser::Parse(const LocatedJson& json) {
  const JsonFields fields(name_, json, "");
  RETURN_IF_ERROR(fields.CheckObject());
  ASSIGN_OR_RETURN(const std::string error, fields.OptionalText("error", kMaxErrorBytes));
  if (!error.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(name_, ": ", WithoutControl(error)));
  }
  ProblemDescription problem;
  if (const LocatedJson* made = json.Find("made"); made != nullptr) {
    if (made->kind != Kind::kBool) return fields.Error("made", "must be a truth value");
    problem.made = made_ = made->boolean;
  }
  for (const auto& [member, text] :
       {std::pair("degenerate", &problem.degenerate), std::pair("untested", &problem.untested)}) {
    ASSIGN_OR_RETURN(const std::string words, fields.OptionalText(member, kMaxErrorBytes));
    *text = WithoutControl(words);
  }
  ASSIGN_OR_RETURN(const LocatedJson* init, fields.Required("init", Kind::kArray));
  RETURN_IF_ERROR(WriteLiteral(fields, *init, &problem.init));
  RETURN_IF_ERROR(ParseGroup(fields, "inputs", &problem.inputs));
  RETURN_IF_ERROR(ParseGroup(fields, "parameters", &problem.parameters));
  RETURN_IF_ERROR(ParseGroup(fields, "buffers", &problem.buffers));
  RETURN_IF_ERROR(ParseGroup(fields, "outputs", &problem.outputs));
  const size_t taken = problem.inputs.size() + problem.parameters.size() + problem.buffers.size();
  if (taken > kMaxDescribedTensors || problem.outputs.size() > kMaxDescribedTensors) {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ": has more than ", kMaxDescribedTensors,
                     " inputs, parameters and buffers together, or outputs"));
  }
  if (problem.outputs.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(name_, ": has no output"));
  }
  return problem;
}

}  // namespace

bool DescribedTensor::IsConstant() const {
  return recipe.has_random() && recipe.random().scale() == kVanishing;
}

absl::StatusOr<ProblemDescription> ParseProblemDescription(absl::string_view json,
                                                           absl::string_view name) {
  ASSIGN_OR_RETURN(const LocatedJson parsed, ParseLocatedJson(json, name));
  return Parser(name).Parse(parsed);
}

void FreezeDescription(const ProblemDescription& problem, v1::Task* task) {
  v1::Definition* const definition = task->mutable_definition();
  v1::Workload* const workload = task->add_workloads();
  workload->set_uuid(kWorkload);
  std::set<std::string> taken;
  for (const auto* group :
       {&problem.inputs, &problem.parameters, &problem.buffers, &problem.outputs}) {
    for (const DescribedTensor& tensor : *group) taken.insert(tensor.name);
  }
  std::map<int64_t, std::string> axis_of;
  const auto axis = [&](int64_t extent) {
    const auto [known, fresh] = axis_of.emplace(extent, absl::StrCat("n", extent));
    if (fresh) {
      while (taken.contains(known->second)) known->second += "_";
      v1::Axis* const added = definition->add_axes();
      added->set_name(known->second);
      added->set_const_value(extent);
    }
    return known->second;
  };
  const auto specify = [&](const DescribedTensor& tensor, v1::TensorSpec* spec) {
    spec->set_name(tensor.name);
    spec->set_dtype(tensor.dtype);
    spec->set_scalar(tensor.scalar);
    for (const int64_t extent : tensor.shape) spec->add_shape(axis(extent));
    spec->set_description(PlaceText(tensor));
  };
  for (const auto* group : {&problem.inputs, &problem.parameters, &problem.buffers}) {
    for (const DescribedTensor& tensor : *group) {
      specify(tensor, definition->add_inputs());
      *workload->add_inputs() = tensor.recipe;
    }
  }
  for (const DescribedTensor& tensor : problem.outputs) specify(tensor, definition->add_outputs());
}

}  // namespace ksearch
