#include "gpu_worker/verifier/tensors/hidden_cases.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gpu_worker/verifier/tensors/element.h"

namespace ksearch {
namespace {

constexpr double kLarge = 8;
constexpr double kRare = 0.05;
// Nothing of a normal number is left of it in any type.
constexpr double kVanishing = 1e-300;
// Beside a column of zeros everywhere else; about what the largest of a row is.
constexpr double kColumn = 4;
// A case's limits over the workload's own. An honest bfloat16 program that prescales its queries
// loses up to 5 times as much where logits are 8 times as large; programs that assume a variance,
// drop the maximum of a softmax or sample a row are wrong by 30 % and more.
constexpr double kSlack = 8;
constexpr double kSlackOfMatched = 0.02;

bool WideRange(v1::DType dtype) {
  return dtype != v1::DTYPE_FLOAT16 && dtype != v1::DTYPE_FLOAT8_E4M3FN &&
         dtype != v1::DTYPE_FLOAT8_E5M2 && dtype != v1::DTYPE_FLOAT4_E2M1;
}

// What a kind does to one input.
struct Subject {
  const v1::TensorSpec& tensor;
  int64_t columns;  // of the last dimension
  bool outputs_are_wide;
  const v1::HiddenSettings& settings;
  Rng* rng;
};

bool IsPlainFloat(const v1::InputRecipe& recipe, const Subject& subject) {
  return recipe.has_random() && !subject.tensor.scalar() && IsFloating(subject.tensor.dtype()) &&
         recipe.random().offset() == 0 && recipe.random().raise_count() == 0;
}

double ScaleOf(const v1::RandomRecipe& recipe) { return recipe.scale() == 0 ? 1 : recipe.scale(); }

bool LargeValues(const Subject& subject, v1::InputRecipe* recipe) {
  if (!IsPlainFloat(*recipe, subject) || !subject.outputs_are_wide) return false;
  v1::RandomRecipe* random = recipe->mutable_random();
  random->set_scale(ScaleOf(*random) * kLarge);
  return true;
}

bool HeavyTails(const Subject& subject, v1::InputRecipe* recipe) {
  if (!IsPlainFloat(*recipe, subject) || !subject.outputs_are_wide ||
      !WideRange(subject.tensor.dtype()) ||
      recipe->random().distribution() != v1::RandomRecipe::NORMAL) {
    return false;
  }
  recipe->mutable_random()->set_distribution(v1::RandomRecipe::STUDENT2);
  return true;
}

bool Zeros(const Subject& subject, v1::InputRecipe* recipe) {
  if (!IsPlainFloat(*recipe, subject)) return false;
  recipe->mutable_random()->Clear();
  recipe->mutable_random()->set_scale(kVanishing);
  return true;
}

bool OneColumn(const Subject& subject, v1::InputRecipe* recipe) {
  if (!IsPlainFloat(*recipe, subject) || subject.columns < 2) return false;
  const double scale = ScaleOf(recipe->random());
  v1::RandomRecipe* random = recipe->mutable_random();
  random->Clear();
  random->set_scale(kVanishing);
  random->set_raise(kColumn * scale);
  random->set_raise_first(
      static_cast<int64_t>(subject.rng->NextBelow(static_cast<uint64_t>(subject.columns))));
  random->set_raise_count(1);
  return true;
}

bool RareTrue(const Subject& subject, v1::InputRecipe* recipe) {
  if (!recipe->has_random() || subject.tensor.dtype() != v1::DTYPE_BOOL ||
      recipe->random().probability() == 1) {
    return false;
  }
  recipe->mutable_random()->set_probability(kRare);
  return true;
}

bool PageOrder(const Subject&, v1::InputRecipe* recipe) {
  if (!recipe->has_page_indices()) return false;
  recipe->mutable_page_indices()->set_contiguous(!recipe->page_indices().contiguous());
  return true;
}

bool Scalar(const Subject& subject, v1::InputRecipe* recipe) {
  if (!recipe->has_scalar() || recipe->scalar().value_case() != v1::ScalarRecipe::kFloatValue) {
    return false;
  }
  std::vector<double> others;
  for (const v1::HiddenSettings::FreeScalar& scalar : subject.settings.scalars()) {
    if (scalar.input() != recipe->input()) continue;
    std::copy_if(scalar.values().begin(), scalar.values().end(), std::back_inserter(others),
                 [&](double value) { return value != recipe->scalar().float_value(); });
  }
  if (others.empty()) return false;
  recipe->mutable_scalar()->set_float_value(others[subject.rng->NextBelow(others.size())]);
  return true;
}

struct Kind {
  const char* name;
  bool (*apply)(const Subject& subject, v1::InputRecipe* recipe);
};
constexpr Kind kKinds[] = {
    {"large values", LargeValues},
    {"heavy tails", HeavyTails},
    {"zeros", Zeros},
    {"one column", OneColumn},
    {"rare true", RareTrue},
    {"page order", PageOrder},
    {"scalar", Scalar},
};

int64_t LastExtent(const v1::Definition& definition, const v1::Workload& workload,
                   const v1::TensorSpec& tensor) {
  if (tensor.shape().empty()) return 1;
  const std::string& name = *tensor.shape().rbegin();
  for (const v1::Axis& axis : definition.axes()) {
    if (axis.name() == name && axis.has_const_value()) return axis.const_value();
  }
  for (const v1::AxisValue& axis : workload.axes()) {
    if (axis.axis() == name) return axis.value();
  }
  return 1;
}

}  // namespace

std::vector<HiddenCase> HiddenCases(const v1::Task& task, const v1::Workload& workload, Rng* rng) {
  const v1::Definition& definition = task.definition();
  const auto& outputs = definition.outputs();
  const bool outputs_are_wide =
      std::all_of(outputs.begin(), outputs.end(),
                  [](const v1::TensorSpec& output) { return WideRange(output.dtype()); });
  const auto kept = [&](const std::string& input) {
    const auto& names = task.hidden().keep();
    return std::find(names.begin(), names.end(), input) != names.end();
  };
  std::vector<HiddenCase> cases;
  for (const Kind& kind : kKinds) {
    // Every input that it can be done to; one of them is taken.
    std::vector<HiddenCase> possible;
    for (int i = 0; i < workload.inputs_size(); ++i) {
      const std::string& name = workload.inputs(i).input();
      const auto tensor =
          std::find_if(definition.inputs().begin(), definition.inputs().end(),
                       [&](const v1::TensorSpec& input) { return input.name() == name; });
      if (kept(name) || tensor == definition.inputs().end()) continue;
      const Subject subject = {*tensor, LastExtent(definition, workload, *tensor), outputs_are_wide,
                               task.hidden(), rng};
      HiddenCase made = {absl::StrCat(kind.name, " of ", name), workload};
      if (kind.apply(subject, made.workload.mutable_inputs(i))) possible.push_back(std::move(made));
    }
    if (possible.empty()) continue;
    cases.push_back(std::move(possible[rng->NextBelow(possible.size())]));
  }
  return cases;
}

v1::Tolerance HiddenTolerance(const v1::Tolerance& tolerance, double growth, bool all_zero) {
  v1::Tolerance wide = tolerance;
  wide.set_atol(tolerance.atol() * kSlack * std::max(1.0, growth));
  wide.set_rtol(tolerance.rtol() * kSlack);
  const double required =
      tolerance.required_matched_ratio() == 0 ? 1 : tolerance.required_matched_ratio();
  wide.set_required_matched_ratio(std::max(required - kSlackOfMatched, 0.5));
  wide.set_max_rms_error_ratio(all_zero ? 0 : tolerance.max_rms_error_ratio() * kSlack);
  return wide;
}

}  // namespace ksearch
