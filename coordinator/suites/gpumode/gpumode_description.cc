#include "coordinator/suites/gpumode/gpumode_description.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/cpp_keyword.h"
#include "common/kernel_header.h"
#include "common/names.h"
#include "common/status_macros.h"
#include "coordinator/suites/held_out_choice.h"

namespace ksearch {
namespace {

using Kind = LocatedJson::Kind;

constexpr int64_t kMaxNameBytes = 200;
constexpr int64_t kMaxErrorBytes = 1000;
constexpr size_t kMaxTensors = 60;
constexpr size_t kMaxRank = 8;
constexpr int64_t kMaxExtent = int64_t{1} << 40;
// Limits the parts that are passed on unchanged.
constexpr int64_t kMaxSpecBytes = 64 << 10;
constexpr char kCaseAxis[] = "case_number";

class Parser {
 public:
  explicit Parser(absl::string_view name) : name_(name) {}

  absl::StatusOr<GpuModeDescription> Parse(const LocatedJson& json, size_t cases) {
    const JsonFields fields(name_, json, "");
    RETURN_IF_ERROR(fields.CheckObject());
    ASSIGN_OR_RETURN(const std::string error, fields.OptionalText("error", kMaxErrorBytes));
    if (!error.empty()) {
      std::string text;
      for (const char c : error) {
        text.push_back(absl::ascii_iscntrl(static_cast<unsigned char>(c)) ? ' ' : c);
      }
      return absl::InvalidArgumentError(absl::StrCat(name_, ": ", text));
    }
    GpuModeDescription found;
    for (const auto& [name, place] : {std::pair("judged", &found.judged),
                                      std::pair("same_non_finite", &found.same_non_finite)}) {
      const LocatedJson* const truth = json.Find(name);
      if (truth == nullptr) continue;
      if (truth->kind != Kind::kBool) return fields.Error(name, "must be a truth value");
      *place = truth->boolean;
    }
    ASSIGN_OR_RETURN(found.atol, Bound(fields, json, "atol"));
    ASSIGN_OR_RETURN(found.rtol, Bound(fields, json, "rtol"));
    ASSIGN_OR_RETURN(const LocatedJson* outputs, List(fields, "outputs"));
    for (size_t i = 0; i < outputs->items.size(); ++i) {
      RETURN_IF_ERROR(ReadTensor(absl::StrCat("outputs[", i, "]"), outputs->items[i], &found));
    }
    if (found.outputs.empty()) return fields.Error("outputs", "there is none");
    ASSIGN_OR_RETURN(const LocatedJson* inputs, List(fields, "inputs"));
    for (size_t i = 0; i < inputs->items.size(); ++i) {
      RETURN_IF_ERROR(ReadData(absl::StrCat("inputs[", i, "]"), inputs->items[i], &found));
    }
    ASSIGN_OR_RETURN(const LocatedJson* numbers, List(fields, "numbers"));
    for (size_t i = 0; i < numbers->items.size(); ++i) {
      RETURN_IF_ERROR(ReadNumber(absl::StrCat("numbers[", i, "]"), numbers->items[i], &found));
    }
    RETURN_IF_ERROR(ReadFunctions(fields, json, &found));
    ASSIGN_OR_RETURN(const LocatedJson* list, fields.Required("cases", Kind::kArray));
    if (list->items.size() != cases) {
      return fields.Error("cases", absl::StrCat("must be ", cases, " entries"));
    }
    for (size_t i = 0; i < cases; ++i) {
      RETURN_IF_ERROR(ReadCase(absl::StrCat("cases[", i, "]"), list->items[i], &found));
    }
    if (std::all_of(found.cases.begin(), found.cases.end(),
                    [](const GpuModeDescription::Case& one) { return one.repeats; })) {
      return fields.Error("cases", "there is none whose tensors depend on the seed");
    }
    found.spec = LocatedJson::Object();
    found.spec.Set("inputs", *inputs);
    found.spec.Set("numbers", *numbers);
    found.spec.Set("outputs", *outputs);
    for (const char* tree : {"data", "result"}) {
      ASSIGN_OR_RETURN(const LocatedJson* value, fields.Required(tree, Kind::kObject));
      found.spec.Set(tree, *value);
    }
    ASSIGN_OR_RETURN(found.modules, fields.OptionalTexts("modules"));
    if (found.modules.size() > kMaxTensors) return fields.Error("modules", "has more than 60");
    for (const std::string& module : found.modules) {
      for (const absl::string_view part : absl::StrSplit(module, '.')) {
        if (!IsIdentifier(part))
          return fields.Error("modules", "has a name that Python cannot import");
      }
    }
    ASSIGN_OR_RETURN(found.classes, fields.OptionalText("classes", kMaxSpecBytes));
    const LocatedJson* const entries = json.Find("entries");
    found.spec.Set("entries", entries == nullptr ? LocatedJson() : *entries);
    if (static_cast<int64_t>(WriteJson(found.spec, -1).size()) > kMaxSpecBytes) {
      return fields.Error("data", "is larger than 64 KiB");
    }
    return found;
  }

 private:
  static absl::StatusOr<double> Bound(const JsonFields& fields, const LocatedJson& json,
                                      absl::string_view member) {
    const LocatedJson* const value = json.Find(member);
    if (value == nullptr || (value->kind != Kind::kFloat && value->kind != Kind::kInteger)) {
      return fields.Error(member, "must be a number");
    }
    const double bound =
        value->kind == Kind::kInteger ? static_cast<double>(value->integer) : value->number;
    if (!(bound >= 0 && bound < 1e6)) return fields.Error(member, "must be from 0 to 1e6");
    return bound;
  }

  static absl::StatusOr<const LocatedJson*> List(const JsonFields& fields,
                                                 absl::string_view member) {
    ASSIGN_OR_RETURN(const LocatedJson* list, fields.Required(member, Kind::kArray));
    if (list->items.size() > kMaxTensors) return fields.Error(member, "has more than 60 entries");
    return list;
  }

  absl::Status ReadFunctions(const JsonFields& fields, const LocatedJson& json,
                             GpuModeDescription* found) {
    const LocatedJson* const entries = json.Find("entries");
    if (entries == nullptr || entries->kind == Kind::kNull) {
      found->functions = {"custom_kernel"};
      return absl::OkStatus();
    }
    if (entries->kind != Kind::kObject) return fields.Error("entries", "must be an object");
    const LocatedJson* const calls = entries->Find("calls");
    if (calls == nullptr || calls->kind != Kind::kArray || calls->items.empty() ||
        calls->items.size() > kMaxTensors) {
      return fields.Error("entries", "must have 1 to 60 calls");
    }
    own_entries_ = true;
    for (const LocatedJson& call : calls->items) {
      const LocatedJson* const name =
          call.kind == Kind::kObject ? call.Find("submission") : nullptr;
      if (name == nullptr || name->kind != Kind::kString || !IsIdentifier(name->text)) {
        return fields.Error("entries", "has a call without the name of a function");
      }
      found->functions.push_back(name->text);
    }
    return absl::OkStatus();
  }

  static absl::StatusOr<std::string> ReadName(const JsonFields& fields) {
    ASSIGN_OR_RETURN(std::string name, fields.RequiredText("name", kMaxNameBytes));
    if (!IsIdentifier(name)) return fields.Error("name", "is not a name in C and Python");
    if (IsCppKeyword(name)) return fields.Error("name", "is a keyword of C++");
    return name;
  }

  static absl::StatusOr<v1::DType> ReadType(const JsonFields& fields) {
    ASSIGN_OR_RETURN(const std::string dtype, fields.RequiredText("dtype", kMaxNameBytes));
    const absl::StatusOr<v1::DType> parsed = DTypeFromName(dtype);
    if (!parsed.ok()) return fields.Error("dtype", parsed.status().message());
    return *parsed;
  }

  absl::Status ReadTensor(const std::string& field, const LocatedJson& json,
                          GpuModeDescription* found) {
    const JsonFields fields(name_, json, field);
    RETURN_IF_ERROR(fields.CheckObject());
    GpuModeTensor tensor;
    ASSIGN_OR_RETURN(tensor.name, ReadName(fields));
    ASSIGN_OR_RETURN(tensor.dtype, ReadType(fields));
    if (!names_.insert(tensor.name).second) return fields.Error("name", "is used twice");
    found->outputs.push_back(std::move(tensor));
    return absl::OkStatus();
  }

  absl::Status ReadData(const std::string& field, const LocatedJson& json,
                        GpuModeDescription* found) {
    const JsonFields fields(name_, json, field);
    RETURN_IF_ERROR(fields.CheckObject());
    GpuModeTensor tensor;
    ASSIGN_OR_RETURN(tensor.name, ReadName(fields));
    ASSIGN_OR_RETURN(tensor.dtype, ReadType(fields));
    ASSIGN_OR_RETURN(const LocatedJson* output, fields.Required("output", Kind::kInteger));
    tensor.output = output->integer;
    if (tensor.output < -1 || tensor.output >= static_cast<int64_t>(found->outputs.size())) {
      return fields.Error("output", "is not a result");
    }
    if (tensor.output >= 0) {
      if (!places_.insert(tensor.output).second) {
        return fields.Error("output", "has two places");
      }
      const GpuModeTensor& result = found->outputs[static_cast<size_t>(tensor.output)];
      if (result.name != tensor.name) return fields.Error("name", "is not that of its result");
      if (result.dtype != tensor.dtype) return fields.Error("dtype", "is not that of its result");
    } else if (!names_.insert(tensor.name).second) {
      return fields.Error("name", "is used twice");
    }
    found->data.push_back(std::move(tensor));
    return absl::OkStatus();
  }

  absl::Status ReadNumber(const std::string& field, const LocatedJson& json,
                          GpuModeDescription* found) {
    const JsonFields fields(name_, json, field);
    RETURN_IF_ERROR(fields.CheckObject());
    GpuModeNumber number;
    ASSIGN_OR_RETURN(number.name, ReadName(fields));
    if (!names_.insert(number.name).second) return fields.Error("name", "is used twice");
    ASSIGN_OR_RETURN(const std::string kind, fields.RequiredText("kind", kMaxNameBytes));
    if (kind == "bool") {
      number.dtype = v1::DTYPE_BOOL;
    } else if (kind == "int") {
      number.dtype = v1::DTYPE_INT64;
    } else if (kind == "float") {
      number.dtype = v1::DTYPE_FLOAT32;
    } else {
      return fields.Error("kind", "must be \"bool\", \"int\" or \"float\"");
    }
    found->numbers.push_back(std::move(number));
    return absl::OkStatus();
  }

  static absl::Status ReadShapes(const JsonFields& fields, absl::string_view member, size_t count,
                                 std::vector<std::vector<int64_t>>* shapes) {
    ASSIGN_OR_RETURN(const LocatedJson* list, fields.Required(member, Kind::kArray));
    if (list->items.size() != count) {
      return fields.Error(member, absl::StrCat("must be ", count, " shapes"));
    }
    for (const LocatedJson& item : list->items) {
      std::vector<int64_t>& shape = shapes->emplace_back();
      if (item.kind != Kind::kArray || item.items.size() > kMaxRank) {
        return fields.Error(member, "must hold lists of at most 8 extents");
      }
      for (const LocatedJson& extent : item.items) {
        if (extent.kind != Kind::kInteger || extent.integer < 0 || extent.integer > kMaxExtent) {
          return fields.Error(member, "must hold whole numbers from 0 to 2^40");
        }
        shape.push_back(extent.integer);
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadCase(const std::string& field, const LocatedJson& json,
                        GpuModeDescription* found) {
    const JsonFields fields(name_, json, field);
    RETURN_IF_ERROR(fields.CheckObject());
    GpuModeDescription::Case one;
    if (const LocatedJson* const repeats = json.Find("repeats"); repeats != nullptr) {
      if (repeats->kind != Kind::kBool) return fields.Error("repeats", "must be a truth value");
      one.repeats = repeats->boolean;
    }
    if (own_entries_) {
      ASSIGN_OR_RETURN(const LocatedJson* arguments, fields.Required("arguments", Kind::kObject));
      one.arguments = *arguments;
    }
    RETURN_IF_ERROR(ReadShapes(fields, "shapes", found->data.size(), &one.data_shapes));
    RETURN_IF_ERROR(ReadShapes(fields, "results", found->outputs.size(), &one.output_shapes));
    ASSIGN_OR_RETURN(const LocatedJson* numbers, fields.Required("numbers", Kind::kArray));
    if (numbers->items.size() != found->numbers.size()) {
      return fields.Error("numbers", "has another number of entries");
    }
    for (size_t i = 0; i < numbers->items.size(); ++i) {
      const LocatedJson& item = numbers->items[i];
      const v1::DType dtype = found->numbers[i].dtype;
      v1::ScalarRecipe& scalar = one.numbers.emplace_back();
      if (dtype == v1::DTYPE_BOOL && item.kind == Kind::kBool) {
        scalar.set_bool_value(item.boolean);
      } else if (dtype == v1::DTYPE_INT64 && item.kind == Kind::kInteger) {
        scalar.set_int_value(item.integer);
      } else if (dtype == v1::DTYPE_FLOAT32 && item.kind == Kind::kFloat &&
                 std::isfinite(item.number)) {
        scalar.set_float_value(item.number);
      } else {
        return fields.Error("numbers", absl::StrCat("'", found->numbers[i].name,
                                                    "' is of another kind than in other cases"));
      }
    }
    // A place and its result share one shape.
    for (size_t i = 0; i < found->data.size(); ++i) {
      const int64_t output = found->data[i].output;
      if (output >= 0 &&
          one.data_shapes[i].size() != one.output_shapes[static_cast<size_t>(output)].size()) {
        return fields.Error("results", "has other dimensions than its place");
      }
    }
    if (!found->cases.empty()) {
      const GpuModeDescription::Case& first = found->cases.front();
      const auto same_rank = [](const auto& a, const auto& b) { return a.size() == b.size(); };
      if (!std::equal(one.data_shapes.begin(), one.data_shapes.end(), first.data_shapes.begin(),
                      same_rank) ||
          !std::equal(one.output_shapes.begin(), one.output_shapes.end(),
                      first.output_shapes.begin(), same_rank)) {
        return fields.Error("shapes", "has tensors of other dimensions than in other cases");
      }
    }
    found->cases.push_back(std::move(one));
    return absl::OkStatus();
  }

  absl::string_view name_;
  std::set<std::string> names_;
  std::set<int64_t> places_;
  bool own_entries_ = false;
};

// Names the axes of a definition.
class Axes {
 public:
  Axes(const std::vector<GpuModeCase>& cases, std::set<std::string> taken, v1::Task* task)
      : cases_(cases), taken_(std::move(taken)), task_(*task) {}

  // The axis with these extents, one for each case.
  std::string Of(const std::vector<int64_t>& extents) {
    const auto [known, fresh] = names_.emplace(extents, "");
    if (fresh) {
      const bool constant =
          std::all_of(extents.begin(), extents.end(), [&](int64_t e) { return e == extents[0]; });
      known->second = Unused(constant ? absl::StrCat("n", extents[0]) : NameFor(extents));
      Add(known->second, extents, constant);
    }
    return known->second;
  }

  void Add(const std::string& name, const std::vector<int64_t>& extents, bool constant) {
    v1::Axis* const axis = task_.mutable_definition()->add_axes();
    axis->set_name(name);
    if (constant) {
      axis->set_const_value(extents[0]);
      return;
    }
    for (size_t i = 0; i < extents.size(); ++i) {
      v1::AxisValue* const value = task_.mutable_workloads(static_cast<int>(i))->add_axes();
      value->set_axis(name);
      value->set_value(extents[i]);
    }
  }

  std::string Unused(std::string name) {
    while (IsCppKeyword(name) || !taken_.insert(name).second) name += "_";
    return name;
  }

 private:
  std::string NameFor(const std::vector<int64_t>& extents) const {
    for (const LocatedJson::Member& argument : cases_[0].arguments.members) {
      bool equal = argument.name != "seed";
      for (size_t i = 0; i < extents.size() && equal; ++i) {
        const LocatedJson* const value = cases_[i].arguments.Find(argument.name);
        equal = value != nullptr && value->kind == Kind::kInteger && value->integer == extents[i];
      }
      if (equal) return argument.name;
    }
    return absl::StrCat("d", names_.size() - 1);
  }

  const std::vector<GpuModeCase>& cases_;
  std::set<std::string> taken_;
  v1::Task& task_;
  std::map<std::vector<int64_t>, std::string> names_;
};

}  // namespace

absl::StatusOr<GpuModeDescription> ParseGpuModeDescription(absl::string_view json,
                                                           absl::string_view name, size_t cases) {
  ASSIGN_OR_RETURN(const LocatedJson parsed, ParseLocatedJson(json, name));
  return Parser(name).Parse(parsed, cases);
}

absl::StatusOr<GpuModeDescription> ParseUpstreamsDescription(absl::string_view json,
                                                             absl::string_view name, size_t cases) {
  ASSIGN_OR_RETURN(const LocatedJson parsed, ParseLocatedJson(json, name));
  const JsonFields fields(name, parsed, "");
  RETURN_IF_ERROR(fields.CheckObject());
  ASSIGN_OR_RETURN(const LocatedJson* upstream, fields.Required("upstream", Kind::kObject));
  return Parser(name).Parse(*upstream, cases);
}

void TakeArguments(const GpuModeDescription& description, GpuModeProblem* problem) {
  for (size_t i = 0; i < problem->cases.size(); ++i) {
    const std::optional<LocatedJson>& arguments = description.cases[i].arguments;
    if (arguments.has_value()) problem->cases[i].arguments = *arguments;
  }
}

void LeaveOutRepeating(GpuModeDescription* description, GpuModeProblem* problem) {
  std::vector<GpuModeDescription::Case> described;
  std::vector<GpuModeCase> cases;
  for (size_t i = 0; i < description->cases.size(); ++i) {
    if (description->cases[i].repeats) {
      problem->left_out.push_back(
          absl::StrCat(problem->cases[i].uuid, ": has the same tensors for every seed"));
      continue;
    }
    described.push_back(description->cases[i]);
    cases.push_back(problem->cases[i]);
  }
  description->cases = std::move(described);
  problem->cases = std::move(cases);
}

void FreezeGpuMode(const GpuModeDescription& description, const std::vector<GpuModeCase>& cases,
                   v1::Task* task) {
  v1::Definition* const definition = task->mutable_definition();
  bool any_test = false, any_benchmark = false;
  std::vector<int64_t> numbers;
  for (const GpuModeCase& each : cases) {
    v1::Workload* const workload = task->add_workloads();
    workload->set_uuid(each.uuid);
    (each.benchmark ? any_benchmark : any_test) = true;
    numbers.push_back(static_cast<int64_t>(numbers.size()));
  }
  std::set<std::string> taken = {kCaseAxis};
  for (const GpuModeTensor& tensor : description.data) taken.insert(tensor.name);
  for (const GpuModeTensor& tensor : description.outputs) taken.insert(tensor.name);
  for (const GpuModeNumber& number : description.numbers) taken.insert(number.name);
  Axes axes(cases, taken, task);
  axes.Add(kCaseAxis, numbers, /*constant=*/false);
  definition->mutable_axes(0)->set_description("which case of the problem; not of use to programs");
  const auto specify = [&](const GpuModeTensor& tensor, size_t index, auto shapes_of,
                           v1::TensorSpec* spec) {
    spec->set_name(tensor.name);
    spec->set_dtype(tensor.dtype);
    for (size_t k = 0; k < (description.cases[0].*shapes_of)[index].size(); ++k) {
      std::vector<int64_t> extents;
      for (const auto& each : description.cases) extents.push_back((each.*shapes_of)[index][k]);
      spec->add_shape(axes.Of(extents));
    }
  };
  using Case = GpuModeDescription::Case;
  for (size_t i = 0; i < description.data.size(); ++i) {
    if (description.data[i].output >= 0) continue;
    specify(description.data[i], i, &Case::data_shapes, definition->add_inputs());
    for (v1::Workload& workload : *task->mutable_workloads()) {
      v1::InputRecipe* const recipe = workload.add_inputs();
      recipe->set_input(description.data[i].name);
      recipe->mutable_made();
    }
  }
  for (size_t i = 0; i < description.numbers.size(); ++i) {
    v1::TensorSpec* const spec = definition->add_inputs();
    spec->set_name(description.numbers[i].name);
    spec->set_dtype(description.numbers[i].dtype);
    spec->set_scalar(true);
    for (int k = 0; k < task->workloads_size(); ++k) {
      v1::InputRecipe* const recipe = task->mutable_workloads(k)->add_inputs();
      recipe->set_input(description.numbers[i].name);
      *recipe->mutable_scalar() = description.cases[static_cast<size_t>(k)].numbers[i];
    }
  }
  for (size_t i = 0; i < description.outputs.size(); ++i) {
    specify(description.outputs[i], i, &Case::output_shapes, definition->add_outputs());
  }
  task->mutable_tolerance()->set_atol(description.atol);
  task->mutable_tolerance()->set_rtol(description.rtol);
  task->mutable_tolerance()->set_sum_of_bounds(true);
  task->mutable_tolerance()->set_judged_by_program(description.judged);
  v1::SuiteRule* const rule = task->mutable_suite_rule();
  rule->set_rule(description.judged            ? v1::SuiteRule::CHECKER
                 : description.same_non_finite ? v1::SuiteRule::SAME_NON_FINITE
                                               : v1::SuiteRule::TORCH_ALLCLOSE);
  rule->set_atol(description.atol);
  rule->set_rtol(description.rtol);
  rule->set_trials(1);
  if (!any_test || !any_benchmark) {
    ChooseHeldOut(task);
    return;
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    task->mutable_workloads(static_cast<int>(i))->set_held_out(!cases[i].benchmark);
  }
}

}  // namespace ksearch
