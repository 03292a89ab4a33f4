#include "gpu_worker/verifier/tensors/hidden_cases.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/kernel_header.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/tensors/element.h"
#include "gpu_worker/verifier/tensors/made_inputs.h"

namespace ksearch {
namespace {

constexpr double kLarge = 8;
constexpr double kRare = 0.05;
// Nothing of a normal number is left of it in any type.
constexpr double kVanishing = 1e-300;
constexpr double kLeastScale = 1e-200;  // below, an input is its offset everywhere
// Of values around an offset: near to 0, but of the same sign. Whoever takes the offset for granted
// is off by it; where it is some ten, exponentials tell.
constexpr double kSmall = 1.0 / 64;
// Every other column is zero; about the largest value of a row.
constexpr double kColumn = 4;
// A case's limits over the workload's own. An honest bfloat16 program that prescales its queries
// loses up to 5 times as much where logits are 8 times as large; programs that assume a variance,
// drop the maximum of a softmax or sample a row are wrong by 30 % and more.
constexpr double kSlack = 8;
constexpr double kSlackOfMatched = 0.02;
// As a share of the elements that the unusual places of a sparse case change.
constexpr double kSlackOfAffected = 0.5;
constexpr double kLeastRatio = 0.5;
// Elements far outside of all others are so many times the scale: beyond what float32's exponential
// can take, below what heavy tails give a large tensor.
constexpr double kLeastFar = 64;
constexpr double kMostFar = 256;
constexpr int kMostFarElements = 3;
// A low row's values. float32's exponential leaves a few bits of the largest, and nothing of those
// that a reference is tried with first: one that does not subtract the largest value has no answer
// then. They are so far apart that a variance by the mean of squares is right to 5e-5 (sums of 8
// lanes over 4096 elements; 2e-2 if they are within 2 of their mean).
constexpr double kLow = -114;
constexpr double kLowRange = 13;
constexpr double kLowest = -150;
// As a multiple of the scale, beyond which such a row is too far from the others: nothing but its
// offset is left of it after sums.
constexpr double kMostLow = 128;
// One column of each input is raised by so many scales, of every other one lowered: a product of
// two rows, even over 16, is lower than a low row, and float32 leaves most of what it is beside it.
constexpr double kOpposed = 36;
constexpr int64_t kLeastOpposed = 8;  // columns
// A limit of the relative RMS error that products of factors of 11 bits, with 2e-4, exceed.
constexpr double kMostOfFloat32 = 1e-4;
constexpr int64_t kLeastPagesOfRuns = 8;
// An input of one dimension has no rows: this part of it is taken for one.
constexpr int64_t kRowsOfVector = 8;
// Large integers have at least so many bits.
constexpr int kLeastLargeBits = 16;
constexpr int kLeastOpenBits = 32;
constexpr int64_t kLeastOpenElements = 16;
// Integers that are drawn as wide as possible leave so many bits of their type free, the sign's
// included: a sum of two still has one left.
constexpr int kFreeBits = 3;
// Little enough that the ends of the usual range still occur.
constexpr double kWider = 4;

bool WideRange(v1::DType dtype) {
  return dtype != v1::DTYPE_FLOAT16 && dtype != v1::DTYPE_FLOAT8_E4M3FN &&
         dtype != v1::DTYPE_FLOAT8_E5M2 && dtype != v1::DTYPE_FLOAT4_E2M1;
}

// The effect of a kind on one input.
struct Subject {
  const v1::TensorSpec& tensor;
  const std::vector<int64_t>& extents;
  int64_t elements;
  bool outputs_are_wide;
  bool precise;  // honest programs compute in float32 at least
  const v1::HiddenSettings& settings;
  Rng* rng;
  int changed = 0;         // inputs that the kind has changed before, if it is done to all together
  uint64_t in_common = 0;  // random, the same for all of these
};

double ScaleOf(const v1::RandomRecipe& recipe) { return recipe.scale() == 0 ? 1 : recipe.scale(); }

bool IsFloatTensor(const v1::InputRecipe& recipe, const Subject& subject) {
  return recipe.has_random() && !subject.tensor.scalar() && IsFloating(subject.tensor.dtype()) &&
         recipe.random().raise_count() == 0;
}

bool IsConstant(const v1::RandomRecipe& recipe) { return std::fabs(ScaleOf(recipe)) < kLeastScale; }

bool IsPlainFloat(const v1::InputRecipe& recipe, const Subject& subject) {
  return IsFloatTensor(recipe, subject) && recipe.random().offset() == 0 &&
         !IsConstant(recipe.random());
}

bool VariedConstant(const Subject& subject, v1::InputRecipe* recipe) {
  if (!IsFloatTensor(*recipe, subject) || !IsConstant(recipe->random())) return false;
  v1::RandomRecipe* random = recipe->mutable_random();
  const double value = random->offset();
  random->set_distribution(v1::RandomRecipe::UNIFORM);
  const double width = value == 0 ? 1 : std::fabs(value);
  random->set_scale(width);
  random->set_offset(value - width / 2);
  return true;
}

bool LargeValues(const Subject& subject, v1::InputRecipe* recipe) {
  if (!IsPlainFloat(*recipe, subject) || !subject.outputs_are_wide) return false;
  v1::RandomRecipe* random = recipe->mutable_random();
  random->set_scale(ScaleOf(*random) * kLarge);
  return true;
}

bool IsAroundOffset(const v1::InputRecipe& recipe, const Subject& subject) {
  return IsFloatTensor(recipe, subject) && recipe.random().offset() != 0 &&
         !IsConstant(recipe.random()) && subject.outputs_are_wide;
}

bool SmallValues(const Subject& subject, v1::InputRecipe* recipe) {
  if (!IsAroundOffset(*recipe, subject)) return false;
  v1::RandomRecipe* random = recipe->mutable_random();
  random->set_scale(ScaleOf(*random) * kSmall);
  random->set_offset(random->offset() * kSmall);
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
  const int64_t columns = subject.extents.empty() ? 1 : subject.extents.back();
  if (!IsPlainFloat(*recipe, subject) || columns < 2) return false;
  const double scale = ScaleOf(recipe->random());
  v1::RandomRecipe* random = recipe->mutable_random();
  random->Clear();
  random->set_scale(kVanishing);
  random->set_raise(kColumn * scale);
  random->set_raise_first(
      static_cast<int64_t>(subject.rng->NextBelow(static_cast<uint64_t>(columns))));
  random->set_raise_count(1);
  return true;
}

// Not where honest programs may round more, which loses what is added to such large numbers.
bool MayBeLow(const Subject& subject, const v1::InputRecipe& recipe) {
  return IsPlainFloat(recipe, subject) && subject.tensor.dtype() == v1::DTYPE_FLOAT32 &&
         subject.outputs_are_wide && subject.precise &&
         recipe.random().distribution() != v1::RandomRecipe::UNIFORM;
}

bool OpposedColumns(const Subject& subject, v1::InputRecipe* recipe) {
  const int64_t columns = subject.extents.empty() ? 1 : subject.extents.back();
  if (!MayBeLow(subject, *recipe) || columns < kLeastOpposed) return false;
  v1::RandomRecipe* random = recipe->mutable_random();
  random->set_raise((subject.changed % 2 == 0 ? kOpposed : -kOpposed) * ScaleOf(*random));
  random->set_raise_first(static_cast<int64_t>(subject.in_common % kLeastOpposed));
  random->set_raise_count(1);
  return true;
}

int DrawBelow(int bound, Rng* rng) {
  return static_cast<int>(rng->NextBelow(static_cast<uint64_t>(bound)));
}

double DrawBetween(double low, double high, Rng* rng) {
  return low + (high - low) * rng->NextDouble();
}

// Elements of a row, of a dimension that is drawn; 0 if the tensor is too small to have one.
int64_t RowOf(const Subject& subject) {
  if (subject.elements < 2) return 0;
  std::vector<int64_t> runs;
  int64_t run = 1;
  for (size_t i = subject.extents.size(); i > 1; --i) {
    run *= subject.extents[i - 1];
    if (run < subject.elements && (runs.empty() || run > runs.back())) runs.push_back(run);
  }
  if (runs.empty()) return std::max<int64_t>(1, subject.elements / kRowsOfVector);
  return runs[subject.rng->NextBelow(runs.size())];
}

v1::Islands* AddIslands(int64_t run, int count, v1::InputRecipe* recipe) {
  v1::Islands* islands = recipe->mutable_random()->mutable_islands();
  islands->set_run(run);
  islands->set_count(count);
  return islands;
}

bool LargeRow(const Subject& subject, v1::InputRecipe* recipe) {
  const int64_t row = RowOf(subject);
  if (!IsPlainFloat(*recipe, subject) || !subject.outputs_are_wide || row == 0) return false;
  AddIslands(row, 1, recipe)->set_factor(kLarge);
  return true;
}

bool LargeElements(const Subject& subject, v1::InputRecipe* recipe) {
  if (!IsPlainFloat(*recipe, subject) || !subject.outputs_are_wide || subject.elements < 2) {
    return false;
  }
  const v1::RandomRecipe::Distribution distribution = recipe->random().distribution();
  double value = kLarge;
  if (distribution != v1::RandomRecipe::UNIFORM && WideRange(subject.tensor.dtype())) {
    value = std::exp2(DrawBetween(std::log2(kLeastFar), std::log2(kMostFar), subject.rng));
  }
  // Uniform values have a sign. Fewer programs are wrong below 0.
  if (distribution != v1::RandomRecipe::UNIFORM && DrawBelow(4, subject.rng) == 0) value = -value;
  value *= ScaleOf(recipe->random());
  v1::Islands* islands = AddIslands(1, 1 + DrawBelow(kMostFarElements, subject.rng), recipe);
  islands->set_first(value);
  islands->set_last(value);
  return true;
}

bool LargeAroundOffset(const Subject& subject, v1::InputRecipe* recipe) {
  if (!IsAroundOffset(*recipe, subject) || subject.elements < 2) return false;
  AddIslands(1, 1 + DrawBelow(kMostFarElements, subject.rng), recipe)->set_factor(kLarge);
  return true;
}

void FillRow(int64_t row, double middle, v1::InputRecipe* recipe) {
  v1::Islands* islands = AddIslands(row, 1, recipe);
  islands->set_first(middle - kLowRange);
  islands->set_last(middle + kLowRange);
}

bool LowRow(const Subject& subject, v1::InputRecipe* recipe) {
  if (!MayBeLow(subject, *recipe) ||
      std::fabs(kLow) > kMostLow * std::fabs(ScaleOf(recipe->random()))) {
    return false;
  }
  const int64_t row = RowOf(subject);
  if (row < 2) return false;
  FillRow(row, kLow, recipe);
  return true;
}

void LowestRow(const Subject&, v1::InputRecipe* recipe) {
  FillRow(recipe->random().islands().run(), kLowest, recipe);
}

int Bits(v1::DType dtype) {
  switch (dtype) {
    case v1::DTYPE_INT64:
      return 64;
    case v1::DTYPE_INT32:
      return 32;
    case v1::DTYPE_INT16:
      return 16;
    case v1::DTYPE_INT8:
      return 8;
    default:
      return 0;
  }
}

bool IsInteger(const v1::InputRecipe& recipe, const Subject& subject) {
  return recipe.has_random() && !subject.tensor.scalar() && Bits(subject.tensor.dtype()) > 0;
}

bool IsDeclared(const v1::RandomRecipe& recipe) {
  return recipe.least() != 0 || recipe.most() != 0;
}

// The ends of the range of an input of integers.
std::pair<double, double> EndsOf(const v1::RandomRecipe& recipe, const Subject& subject) {
  const IntegerRange range = IntegersOf(subject.tensor.dtype(), recipe);
  const auto least = static_cast<double>(range.least);
  return {least, least + static_cast<double>(range.span - 1)};
}

bool OddRow(const Subject& subject, v1::InputRecipe* recipe) {
  const int64_t row = RowOf(subject);
  if (row == 0) return false;
  double low = 0, high = 0;
  if (IsPlainFloat(*recipe, subject)) {
    const double scale = ScaleOf(recipe->random());
    const bool uniform = recipe->random().distribution() == v1::RandomRecipe::UNIFORM;
    low = uniform ? std::min(0.0, scale) : -2 * std::fabs(scale);
    high = uniform ? std::max(0.0, scale) : 2 * std::fabs(scale);
  } else if (IsInteger(*recipe, subject)) {
    std::tie(low, high) = EndsOf(recipe->random(), subject);
  } else {
    return false;
  }
  v1::Islands* islands = AddIslands(row, 1, recipe);
  const int kind = DrawBelow(4, subject.rng);
  if (kind < 2) {
    islands->set_first(kind == 0 ? low : high);
    islands->set_last(kind == 0 ? high : low);
    return true;
  }
  double value = std::clamp(0.0, low, high);
  if (kind == 3) value = DrawBetween(low, high, subject.rng);
  islands->set_first(value);
  islands->set_last(value);
  return true;
}

// Returns true if they may be tried wider than anybody said: not few, which are rather sizes than
// values, and not of a type whose integers would all be near if they meant places.
bool IsOpen(const v1::InputRecipe& recipe, const Subject& subject) {
  return IsInteger(recipe, subject) && !IsDeclared(recipe.random()) &&
         Bits(subject.tensor.dtype()) >= kLeastOpenBits && subject.elements >= kLeastOpenElements;
}

void Widen(v1::DType dtype, v1::RandomRecipe* recipe) {
  const int64_t end = int64_t{1} << (Bits(dtype) - kFreeBits);
  recipe->clear_islands();
  recipe->set_least(-end);
  recipe->set_most(end - 1);
}

void WidenProbe(const Subject& subject, v1::InputRecipe* recipe) {
  Widen(subject.tensor.dtype(), recipe->mutable_random());
}

bool WideIntegers(const Subject& subject, v1::InputRecipe* recipe) {
  if (!IsOpen(*recipe, subject) || !subject.outputs_are_wide) return false;
  Widen(subject.tensor.dtype(), recipe->mutable_random());
  return true;
}

bool WiderIntegers(const Subject& subject, v1::InputRecipe* recipe) {
  if (!IsOpen(*recipe, subject) || !subject.outputs_are_wide) return false;
  const auto [low, high] = EndsOf(recipe->random(), subject);
  v1::RandomRecipe* random = recipe->mutable_random();
  random->clear_islands();
  random->set_least(static_cast<int64_t>(kWider * low));
  random->set_most(static_cast<int64_t>(kWider * (high + 1)) - 1);
  return true;
}

bool LargeIntegers(const Subject& subject, v1::InputRecipe* recipe) {
  if (!IsInteger(*recipe, subject) || !subject.outputs_are_wide || subject.elements < 2) {
    return false;
  }
  const bool second = DrawBelow(2, subject.rng) == 0;
  double value = 0;
  if (IsDeclared(recipe->random())) {
    const auto [low, high] = EndsOf(recipe->random(), subject);
    value = second ? low : high;
  } else {
    if (!IsOpen(*recipe, subject)) return false;
    const int most = Bits(subject.tensor.dtype()) - kFreeBits;
    value = std::floor(std::exp2(DrawBetween(kLeastLargeBits - 1, most, subject.rng)));
    if (second) value = -value;
  }
  v1::Islands* islands = AddIslands(1, 1 + DrawBelow(kMostFarElements, subject.rng), recipe);
  islands->set_first(value);
  islands->set_last(value);
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

bool PageRuns(const Subject& subject, v1::InputRecipe* recipe) {
  if (!recipe->has_page_indices() || subject.elements < kLeastPagesOfRuns) return false;
  v1::PageIndicesRecipe* pages = recipe->mutable_page_indices();
  pages->set_contiguous(false);
  pages->set_run(2 + static_cast<int64_t>(
                         subject.rng->NextBelow(static_cast<uint64_t>(subject.elements / 4))));
  return true;
}

// A few drawn cuts hardly ever leave one segment as long as it can be.
bool LongSegment(const Subject& subject, v1::InputRecipe* recipe) {
  if (!recipe->has_indptr() || subject.elements < 3) return false;
  recipe->mutable_indptr()->set_lopsided(true);
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

using Probe = void (*)(const Subject& subject, v1::InputRecipe* recipe);
struct Kind {
  const char* name;
  bool (*apply)(const Subject& subject, v1::InputRecipe* recipe);
  bool sparse = false;
  Probe probe = nullptr;  // of a guess: makes of the case what the reference is tried with first
  bool remaps = false;
  int together = 0;  // done to all inputs that it can be done to, if they are so many; 0: to one
};
constexpr Kind kKinds[] = {
    {"large values", LargeValues},
    {"small values", SmallValues},
    {"heavy tails", HeavyTails},
    {"zeros", Zeros},
    {"one column", OneColumn},
    {"opposed columns", OpposedColumns, false, nullptr, false, 2},
    {"a large row", LargeRow, true},
    {"large elements", LargeElements, true},
    {"large elements", LargeAroundOffset, true},
    {"an odd row", OddRow, true},
    {"a low row", LowRow, true, LowestRow},
    {"wide integers", WideIntegers, false, WidenProbe},
    {"wider integers", WiderIntegers, false, WidenProbe},
    {"large integers", LargeIntegers, true, WidenProbe},
    {"rare true", RareTrue},
    {"page order", PageOrder},
    {"page runs", PageRuns},
    {"long segment", LongSegment},
    {"scalar", Scalar, false, nullptr, true},
    {"varied constants", VariedConstant, false, nullptr, false, 1},
};

// On a GPU, programs may use its matrix units for float32, which round factors to 11 bits, unless
// the task's own limit refuses that.
bool IsPrecise(const v1::Task& task) {
  const double limit =
      task.tolerance().max_rms_error_ratio() *
      std::max(task.tolerance().rms_yardstick(), RelativeRounding(v1::DTYPE_FLOAT32));
  return task.device() == v1::DEVICE_CLASS_CPU || (limit > 0 && limit < kMostOfFloat32);
}

// The extents of a tensor whose workload has been checked before.
std::vector<int64_t> ExtentsOf(const v1::Definition& definition, const v1::Workload& workload,
                               const v1::TensorSpec& tensor) {
  if (tensor.scalar()) return {};
  return TensorShape(definition, workload, tensor).value_or(std::vector<int64_t>());
}

// One for each kind of seeds that the task names.
std::vector<HiddenCase> UnusualInputs(const v1::Task& task, const v1::Workload& workload) {
  const auto is_seed = [](const auto& input) { return input == kSeedArgument; };
  const auto& inputs = task.definition().inputs();
  const bool made = absl::c_any_of(workload.inputs(),
                                   [](const v1::InputRecipe& recipe) { return recipe.has_made(); });
  const auto seeds = absl::c_find_if(task.hidden().scalars(),
                                     [&](const auto& scalar) { return is_seed(scalar.input()); });
  if (!made || seeds == task.hidden().scalars().end() ||
      absl::c_any_of(inputs, [&](const auto& input) { return is_seed(input.name()); })) {
    return {};
  }
  std::vector<HiddenCase> cases;
  for (const double first : seeds->values()) {
    HiddenCase& unusual = cases.emplace_back();
    unusual.name = absl::StrCat("unusual inputs ", cases.size());
    unusual.workload = workload;
    v1::InputRecipe* const recipe = unusual.workload.add_inputs();
    recipe->set_input(kSeedArgument.data(), kSeedArgument.size());
    recipe->mutable_scalar()->set_int_value(static_cast<int64_t>(first));
  }
  return cases;
}

}  // namespace

std::vector<HiddenCase> HiddenCases(const v1::Task& task, const v1::Workload& workload,
                                    bool largest_too, Rng* rng) {
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
    // Every input that it can be done to.
    std::vector<HiddenCase> possible;
    size_t largest = 0;
    int64_t most_elements = 0;
    int changed = 0;
    const uint64_t in_common = kind.together > 0 ? rng->Next() : 0;
    for (int i = 0; i < workload.inputs_size(); ++i) {
      const std::string& name = workload.inputs(i).input();
      const auto tensor =
          std::find_if(definition.inputs().begin(), definition.inputs().end(),
                       [&](const v1::TensorSpec& input) { return input.name() == name; });
      if (kept(name) || tensor == definition.inputs().end()) continue;
      const std::vector<int64_t> extents = ExtentsOf(definition, workload, *tensor);
      const int64_t elements =
          std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
      const Subject subject = {*tensor,       extents, elements, outputs_are_wide, IsPrecise(task),
                               task.hidden(), rng,     changed,  in_common};
      if (kind.together > 0 && !possible.empty()) {
        changed += kind.apply(subject, possible.front().workload.mutable_inputs(i)) ? 1 : 0;
        continue;
      }
      HiddenCase made = {kind.together > 0 ? kind.name : absl::StrCat(kind.name, " of ", name),
                         workload,
                         kind.sparse,
                         kind.probe != nullptr && !IsDeclared(workload.inputs(i).random()),
                         kind.remaps,
                         "",
                         {}};
      if (!kind.apply(subject, made.workload.mutable_inputs(i))) continue;
      ++changed;
      if (made.guessed) {
        made.input = name;
        made.probe = made.workload;
        kind.probe(subject, made.probe.mutable_inputs(i));
      }
      if (elements > most_elements) {
        largest = possible.size();
        most_elements = elements;
      }
      possible.push_back(std::move(made));
    }
    if (possible.empty() || changed < kind.together) continue;
    if (largest_too && possible.size() > 1) {
      cases.push_back(std::move(possible[largest]));
      possible.erase(possible.begin() + static_cast<std::ptrdiff_t>(largest));
    }
    cases.push_back(std::move(possible[rng->NextBelow(possible.size())]));
  }
  for (HiddenCase& unusual : UnusualInputs(task, workload)) cases.push_back(std::move(unusual));
  return cases;
}

v1::Tolerance HiddenTolerance(const v1::Tolerance& tolerance, double growth, bool all_zero) {
  v1::Tolerance wide = tolerance;
  wide.set_atol(tolerance.atol() * kSlack * std::max(1.0, growth));
  wide.set_rtol(tolerance.rtol() * kSlack);
  const double required =
      tolerance.required_matched_ratio() == 0 ? 1 : tolerance.required_matched_ratio();
  wide.set_required_matched_ratio(std::max(required - kSlackOfMatched, kLeastRatio));
  wide.set_max_rms_error_ratio(all_zero ? 0 : tolerance.max_rms_error_ratio() * kSlack);
  return wide;
}

v1::Tolerance SparseTolerance(const v1::Tolerance& tolerance, double growth, bool all_zero,
                              double affected) {
  v1::Tolerance wide = HiddenTolerance(tolerance, growth, all_zero);
  const double required =
      tolerance.required_matched_ratio() == 0 ? 1 : tolerance.required_matched_ratio();
  const double slack = std::min(kSlackOfAffected * affected, kSlackOfMatched);
  wide.set_required_matched_ratio(std::max(required - slack, kLeastRatio));
  return wide;
}

absl::StatusOr<bool> MayHaveOverflowed(const WorkloadCase& workload, const SavedOutputs& outputs) {
  std::optional<std::vector<std::vector<std::byte>>> bytes;
  for (size_t i = 0; i < static_cast<size_t>(workload.outputs()); ++i) {
    const TensorArgument& tensor = workload.tensors()[static_cast<size_t>(workload.inputs()) + i];
    const int bits = Bits(tensor.dtype);
    if (bits <= 8 || tensor.elements == 0) continue;
    if (!bytes.has_value()) {
      ASSIGN_OR_RETURN(bytes, outputs.ToHost());
    }
    std::vector<double> values(static_cast<size_t>(tensor.elements));
    DecodeElements(tensor.dtype, (*bytes)[i].data(), tensor.elements, values.data());
    const double most = std::exp2(bits - kFreeBits + 1);
    if (std::any_of(values.begin(), values.end(),
                    [most](double value) { return std::fabs(value) > most; })) {
      return true;
    }
  }
  return false;
}

}  // namespace ksearch
