#include "gpu_worker/verifier/tensors/hidden_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "common/identity.h"
#include "common/log.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/host/host_outputs.h"
#include "gpu_worker/verifier/tensors/random_draw.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr char kTask[] = R"(
  name: "task" device: DEVICE_CLASS_CPU
  definition {
    name: "task" op_type: "any"
    axes { name: "rows" } axes { name: "columns" const_value: 16 } axes { name: "pages" }
    inputs { name: "x" shape: "rows" shape: "columns" dtype: DTYPE_FLOAT32 }
    inputs { name: "weight" shape: "columns" dtype: DTYPE_FLOAT32 }
    inputs { name: "mask" shape: "rows" dtype: DTYPE_BOOL }
    inputs { name: "indices" shape: "rows" dtype: DTYPE_INT32 }
    inputs { name: "eps" scalar: true dtype: DTYPE_FLOAT32 }
    outputs { name: "y" shape: "rows" shape: "columns" dtype: DTYPE_FLOAT32 }
  }
  tolerance { atol: 1e-3 rtol: 1e-2 max_rms_error_ratio: 2 rms_yardstick: 1e-3 }
  hidden { scalars { input: "eps" values: 1e-5 values: 1e-3 } }
  workloads {
    uuid: "w" axes { axis: "rows" value: 64 } axes { axis: "pages" value: 100 }
    inputs { input: "x" random { scale: 0.5 } }
    inputs { input: "weight" random { scale: 0.1 offset: 1 } }
    inputs { input: "mask" random {} }
    inputs { input: "indices" page_indices { pool_axis: "pages" } }
    inputs { input: "eps" scalar { float_value: 1e-5 } }
  }
)";

v1::Task TheTask() {
  v1::Task task;
  CHECK_OK(ParseTextproto(kTask, "task", &task));
  return task;
}

std::map<std::string, v1::Workload> CasesOf(const v1::Task& task) {
  Rng rng(7);
  std::map<std::string, v1::Workload> cases;
  for (const HiddenCase& made : HiddenCases(task, task.workloads(0), false, &rng)) {
    cases[made.name] = made.workload;
  }
  return cases;
}

std::vector<std::string> NamesOf(const v1::Task& task) {
  std::vector<std::string> names;
  for (const auto& [name, workload] : CasesOf(task)) names.push_back(name);
  return names;
}

// Input 0 of variant 0, as floats.
std::vector<float> Drawn(const v1::Task& task, const v1::Workload& workload) {
  const auto made = WorkloadCase::Create(task, workload, TaskDigest(task), Seed{1, 2});
  CHECK_OK(made.status());
  const TensorArgument& tensor = (*made)->tensors()[0];
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.bytes));
  (*made)->generator(0).Write(0, bytes.data());
  EXPECT_TRUE((*made)->generator(0).Matches(0, bytes.data()));
  std::vector<float> values(static_cast<size_t>(tensor.elements));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

double Rms(const std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

TEST(HiddenCasesTest, EveryKindThatTheRecipesPermit) {
  // The weight has an offset, so its values become smaller, and only few of them larger.
  EXPECT_THAT(
      NamesOf(TheTask()),
      UnorderedElementsAre("large values of x", "heavy tails of x", "zeros of x", "one column of x",
                           "a large row of x", "large elements of x", "an odd row of x",
                           "rare true of mask", "page order of indices", "page runs of indices",
                           "small values of weight", "large elements of weight", "scalar of eps"));
}

TEST(HiddenCasesTest, TheLargestInputIsAlwaysAmongThem) {
  v1::Task task = TheTask();
  task.mutable_workloads(0)->mutable_inputs(1)->mutable_random()->clear_offset();
  int of_weight_alone = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    std::vector<std::string> names;
    for (const HiddenCase& made : HiddenCases(task, task.workloads(0), true, &rng)) {
      names.push_back(made.name);
    }
    EXPECT_THAT(names, ::testing::IsSupersetOf({"one column of x", "one column of weight",
                                                "zeros of x", "zeros of weight", "scalar of eps"}));
    names.clear();
    for (const HiddenCase& made : HiddenCases(task, task.workloads(0), false, &rng)) {
      names.push_back(made.name);
    }
    const auto count = [&](const char* name) {
      return std::count(names.begin(), names.end(), name);
    };
    EXPECT_EQ(count("one column of x") + count("one column of weight"), 1);
    of_weight_alone += static_cast<int>(count("one column of weight"));
  }
  EXPECT_GT(of_weight_alone, 0);
}

// Adds an input "counts" of integers, as large as x.
v1::Task WithIntegers(v1::DType dtype, int64_t least = 0, int64_t most = 0) {
  v1::Task task = TheTask();
  task.mutable_hidden()->add_keep("x");
  v1::TensorSpec* tensor = task.mutable_definition()->add_inputs();
  *tensor = task.definition().inputs(0);
  tensor->set_name("counts");
  tensor->set_dtype(dtype);
  v1::InputRecipe* recipe = task.mutable_workloads(0)->add_inputs();
  recipe->set_input("counts");
  recipe->mutable_random()->set_least(least);
  recipe->mutable_random()->set_most(most);
  return task;
}

TEST(HiddenCasesTest, IntegersThatNobodyLimitedAreTriedWide) {
  const v1::Task task = WithIntegers(v1::DTYPE_INT32);
  const std::map<std::string, v1::Workload> cases = CasesOf(task);
  ASSERT_EQ(cases.count("wide integers of counts"), 1U);
  const v1::RandomRecipe& wide = cases.at("wide integers of counts").inputs(5).random();
  EXPECT_EQ(wide.least(), -(1 << 29));
  EXPECT_EQ(wide.most(), (1 << 29) - 1);
  ASSERT_EQ(cases.count("wider integers of counts"), 1U);
  const v1::RandomRecipe& wider = cases.at("wider integers of counts").inputs(5).random();
  const IntegerRange usual = IntegersOf(v1::DTYPE_INT32, v1::RandomRecipe());
  EXPECT_EQ(wider.least(), 4 * usual.least);
  EXPECT_EQ(wider.most() - wider.least() + 1, static_cast<int64_t>(4 * usual.span));
  ASSERT_EQ(cases.count("large integers of counts"), 1U);
  const v1::Islands& large = cases.at("large integers of counts").inputs(5).random().islands();
  EXPECT_EQ(large.run(), 1);
  EXPECT_GE(std::fabs(large.first()), 1 << 15);
  EXPECT_LE(std::fabs(large.first()), 1 << 29);
  Rng rng(7);
  for (const HiddenCase& made : HiddenCases(task, task.workloads(0), false, &rng)) {
    EXPECT_EQ(made.guessed, made.name.find("integers") != std::string::npos) << made.name;
    if (!made.guessed) continue;
    EXPECT_EQ(made.input, "counts");
    EXPECT_EQ(made.probe.inputs(5).random().least(), -(1 << 29));
    EXPECT_FALSE(made.probe.inputs(5).random().has_islands());
  }
}

TEST(HiddenCasesTest, ADeclaredRangeOfIntegersHolds) {
  const v1::Task task = WithIntegers(v1::DTYPE_INT64, 3, 9);
  bool low = false, high = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    for (const HiddenCase& made : HiddenCases(task, task.workloads(0), false, &rng)) {
      EXPECT_NE(made.name, "wide integers of counts");
      EXPECT_NE(made.name, "wider integers of counts");
      EXPECT_FALSE(made.guessed);
      if (!made.workload.inputs(5).random().has_islands()) continue;  // another input
      const v1::Islands& islands = made.workload.inputs(5).random().islands();
      EXPECT_EQ(islands.factor(), 0);
      for (const double value : {islands.first(), islands.last()}) {
        EXPECT_GE(value, 3);
        EXPECT_LE(value, 9);
        low |= value == 3;
        high |= value == 9;
      }
    }
  }
  EXPECT_TRUE(low && high);
}

// Rather sizes than values.
TEST(HiddenCasesTest, FewIntegersStayAsTheyAre) {
  v1::Task task = WithIntegers(v1::DTYPE_INT32);
  task.mutable_definition()->mutable_inputs(5)->clear_shape();
  task.mutable_definition()->mutable_inputs(5)->add_shape("few");
  v1::Axis* axis = task.mutable_definition()->add_axes();
  axis->set_name("few");
  axis->set_const_value(15);
  EXPECT_EQ(CasesOf(task).count("wide integers of counts"), 0U);
  EXPECT_EQ(CasesOf(task).count("large integers of counts"), 0U);
  EXPECT_EQ(CasesOf(task).count("an odd row of counts"), 1U);
}

TEST(HiddenCasesTest, FullBytesHaveNoWiderRange) {
  EXPECT_EQ(CasesOf(WithIntegers(v1::DTYPE_INT8)).count("wide integers of counts"), 0U);
  EXPECT_EQ(CasesOf(WithIntegers(v1::DTYPE_INT8)).count("an odd row of counts"), 1U);
}

TEST(HiddenCasesTest, InputsCanBeKept) {
  v1::Task task = TheTask();
  task.mutable_hidden()->add_keep("x");
  task.mutable_hidden()->add_keep("indices");
  EXPECT_THAT(NamesOf(task),
              UnorderedElementsAre("small values of weight", "large elements of weight",
                                   "rare true of mask", "scalar of eps"));
  task.mutable_hidden()->add_keep("weight");
  EXPECT_THAT(NamesOf(task), UnorderedElementsAre("rare true of mask", "scalar of eps"));
}

TEST(HiddenCasesTest, NarrowOutputsAreNotDrivenBeyondTheirRange) {
  v1::Task task = TheTask();
  task.mutable_definition()->mutable_outputs(0)->set_dtype(v1::DTYPE_FLOAT16);
  EXPECT_THAT(
      NamesOf(task),
      UnorderedElementsAre("zeros of x", "one column of x", "an odd row of x", "rare true of mask",
                           "page order of indices", "page runs of indices", "scalar of eps"));
}

TEST(HiddenCasesTest, ConstantMasksAndUnnamedScalarsStay) {
  v1::Task task = TheTask();
  task.mutable_workloads(0)->mutable_inputs(2)->mutable_random()->set_probability(1);
  task.clear_hidden();
  for (const char* input : {"x", "indices", "weight"}) task.mutable_hidden()->add_keep(input);
  EXPECT_THAT(NamesOf(task), IsEmpty());
}

// Weights that a module begins with are one number, and a program must not leave them out.
TEST(HiddenCasesTest, ConstantsVaryTogetherAndInNoOtherWay) {
  v1::Task task = TheTask();
  v1::RandomRecipe* const x = task.mutable_workloads(0)->mutable_inputs(0)->mutable_random();
  v1::RandomRecipe* const weight = task.mutable_workloads(0)->mutable_inputs(1)->mutable_random();
  x->set_scale(1e-300);
  x->set_offset(-2);
  weight->set_scale(1e-300);
  weight->clear_offset();
  EXPECT_THAT(NamesOf(task),
              UnorderedElementsAre("varied constants", "rare true of mask", "page order of indices",
                                   "page runs of indices", "scalar of eps"));
  const v1::Workload varied = CasesOf(task)["varied constants"];
  const std::vector<float> values = Drawn(task, varied);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*least, -3);
  EXPECT_LT(*least, -2.5);
  EXPECT_LE(*most, -1);
  EXPECT_GT(*most, -1.5);
  EXPECT_EQ(varied.inputs(1).random().scale(), 1);
  EXPECT_EQ(varied.inputs(1).random().offset(), -0.5);
  task.mutable_hidden()->add_keep("x");
  EXPECT_EQ(CasesOf(task)["varied constants"].inputs(0).random().offset(), -2);
}

// Of inputs that the task's own program makes, nobody else knows what may vary.
TEST(HiddenCasesTest, MadeInputsAreUnusualWhereTheTaskNamesSuchSeeds) {
  v1::Task task = TheTask();
  for (v1::InputRecipe& recipe : *task.mutable_workloads(0)->mutable_inputs()) {
    if (recipe.input() != "eps") recipe.mutable_made();
  }
  task.mutable_hidden()->add_keep("weight");
  EXPECT_THAT(NamesOf(task), ElementsAre("scalar of eps"));
  v1::HiddenSettings::FreeScalar* const seeds = task.mutable_hidden()->add_scalars();
  seeds->set_input("seed");
  seeds->add_values(0x1p32);
  seeds->add_values(0x1p33);
  EXPECT_THAT(NamesOf(task),
              UnorderedElementsAre("scalar of eps", "unusual inputs 1", "unusual inputs 2"));
  const v1::Workload unusual = CasesOf(task)["unusual inputs 1"];
  const v1::Workload other = CasesOf(task)["unusual inputs 2"];
  const auto seed_of = [&](const v1::Workload& workload, int64_t variant) {
    const auto maker = WorkloadCase::ForMaker(task, workload, TaskDigest(task), Seed{1, 2});
    CHECK_OK(maker.status());
    int64_t seed = 0;
    (*maker)->generator(0).Write(variant, reinterpret_cast<std::byte*>(&seed));
    return seed;
  };
  for (int64_t variant = 0; variant < 20; ++variant) {
    EXPECT_EQ(seed_of(task.workloads(0), variant) >> 32, 0);
    EXPECT_EQ(seed_of(unusual, variant) >> 32, 1);
    EXPECT_EQ(seed_of(other, variant) >> 32, 2);
  }
}

TEST(HiddenCasesTest, VariantsAreOfTheirKind) {
  const v1::Task task = TheTask();
  const std::map<std::string, v1::Workload> cases = CasesOf(task);
  EXPECT_NEAR(Rms(Drawn(task, task.workloads(0))), 0.5, 0.05);
  EXPECT_NEAR(Rms(Drawn(task, cases.at("large values of x"))), 4, 0.4);
  EXPECT_EQ(Rms(Drawn(task, cases.at("zeros of x"))), 0);
  const std::vector<float> tails = Drawn(task, cases.at("heavy tails of x"));
  // One in 15,000 draws of a normal variate is 4 times its scale away; here it is 6 in 100.
  EXPECT_GT(std::count_if(tails.begin(), tails.end(), [](float x) { return std::fabs(x) > 2; }),
            20);
  EXPECT_LT(std::fabs(*std::max_element(tails.begin(), tails.end())), 2897.0F);
  const std::vector<float> column = Drawn(task, cases.at("one column of x"));
  std::vector<size_t> columns;
  for (size_t i = 0; i < column.size(); ++i) {
    if (column[i] == 0) continue;
    EXPECT_EQ(column[i], 2);
    if (columns.empty() || columns.back() != i % 16) columns.push_back(i % 16);
  }
  ASSERT_THAT(columns, ::testing::SizeIs(1));
  EXPECT_EQ(std::count(column.begin(), column.end(), 2.0F), 64);
  EXPECT_TRUE(cases.at("page order of indices").inputs(3).page_indices().contiguous());
  const v1::PageIndicesRecipe& runs = cases.at("page runs of indices").inputs(3).page_indices();
  EXPECT_FALSE(runs.contiguous());
  EXPECT_GE(runs.run(), 2);
  EXPECT_LE(runs.run(), 64 / 4 + 1);
  const v1::RandomRecipe& small = cases.at("small values of weight").inputs(1).random();
  EXPECT_DOUBLE_EQ(small.scale(), 0.1 / 64);
  EXPECT_DOUBLE_EQ(small.offset(), 1.0 / 64);
  EXPECT_EQ(cases.at("scalar of eps").inputs(4).scalar().float_value(), 1e-3);
  EXPECT_EQ(cases.at("rare true of mask").inputs(2).random().probability(), 0.05);
}

TEST(HiddenCasesTest, OneSegmentOfSeveralCanBeLong) {
  v1::Task task = TheTask();
  v1::InputRecipe* recipe = task.mutable_workloads(0)->mutable_inputs(3);
  recipe->mutable_indptr()->set_total_axis("pages");
  EXPECT_TRUE(CasesOf(task).at("long segment of indices").inputs(3).indptr().lopsided());
  task.mutable_workloads(0)->mutable_axes(0)->set_value(2);
  EXPECT_THAT(NamesOf(task), ::testing::Not(::testing::Contains("long segment of indices")));
}

// 64 rows of 16.
TEST(HiddenCasesTest, OddPlacesMoveFromVariantToVariant) {
  const v1::Task task = TheTask();
  const std::map<std::string, v1::Workload> cases = CasesOf(task);
  const auto made = WorkloadCase::Create(task, cases.at("a large row of x"), "task", Seed{1, 2});
  const auto usual = WorkloadCase::Create(task, task.workloads(0), "task", Seed{1, 2});
  ASSERT_TRUE(made.ok() && usual.ok());
  std::set<size_t> rows;
  for (int64_t variant = 0; variant < 20; ++variant) {
    std::vector<float> odd(1024), plain(1024);
    (*made)->generator(0).Write(variant, reinterpret_cast<std::byte*>(odd.data()));
    (*usual)->generator(0).Write(variant, reinterpret_cast<std::byte*>(plain.data()));
    EXPECT_TRUE((*made)->generator(0).Matches(variant, reinterpret_cast<std::byte*>(odd.data())));
    std::set<size_t> changed;
    for (size_t i = 0; i < odd.size(); ++i) {
      if (odd[i] == plain[i]) continue;
      EXPECT_EQ(odd[i], 8 * plain[i]);
      changed.insert(i / 16);
    }
    EXPECT_EQ(changed.size(), 1U);
    rows.insert(changed.begin(), changed.end());
  }
  EXPECT_GT(rows.size(), 10U);
}

TEST(HiddenCasesTest, LargeElementsAreFarFromAllOthers) {
  const v1::Task task = TheTask();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    for (const HiddenCase& made : HiddenCases(task, task.workloads(0), false, &rng)) {
      if (made.name != "large elements of x") continue;
      const std::vector<float> values = Drawn(task, made.workload);
      const auto far = std::count_if(values.begin(), values.end(),
                                     [](float x) { return std::fabs(x) >= 32 && x < 128.1F; });
      EXPECT_GE(far, 1);
      EXPECT_LE(far, 3);
    }
  }
}

// Below what float32's exponential can take. A reference that has no answer to a lower row has
// only a few bits of the one to this.
TEST(HiddenCasesTest, ARowCanBeFarBelowZero) {
  v1::Task task = TheTask();
  v1::RandomRecipe* const x = task.mutable_workloads(0)->mutable_inputs(0)->mutable_random();
  x->clear_scale();
  task.mutable_hidden()->add_keep("weight");
  const auto low_rows = [&] {
    std::vector<HiddenCase> found;
    for (uint64_t seed = 0; seed < 10; ++seed) {
      Rng rng(seed);
      for (HiddenCase& made : HiddenCases(task, task.workloads(0), false, &rng)) {
        if (made.name == "a low row of x") found.push_back(std::move(made));
      }
    }
    return found;
  };
  const std::vector<HiddenCase> found = low_rows();
  ASSERT_THAT(found, ::testing::SizeIs(10));
  for (const HiddenCase& made : found) {
    EXPECT_TRUE(made.sparse && made.guessed);
    const auto below = [&](const v1::Workload& workload, float most) {
      const std::vector<float> values = Drawn(task, workload);
      return std::count_if(values.begin(), values.end(), [most](float v) { return v <= most; });
    };
    EXPECT_EQ(below(made.workload, -101), 16);
    EXPECT_EQ(below(made.workload, -128), 0);
    EXPECT_EQ(below(made.probe, -137), 16);
    // Honest programs may subtract the square of the mean from the mean of squares.
    EXPECT_GE(below(made.workload, -126), 1);
    EXPECT_LE(below(made.workload, -102), 15);
  }
  // Sums of small numbers hardly notice them beside such a row.
  x->set_scale(0.1);
  EXPECT_THAT(low_rows(), IsEmpty());
  x->set_scale(1);
  x->set_distribution(v1::RandomRecipe::UNIFORM);
  EXPECT_THAT(low_rows(), IsEmpty());
  x->clear_distribution();
  task.mutable_definition()->mutable_inputs(0)->set_dtype(v1::DTYPE_BFLOAT16);
  EXPECT_THAT(low_rows(), IsEmpty());
}

// Its logits are low in attention, whose other hidden cases have some around 0.
TEST(HiddenCasesTest, ProductsOfTwoInputsCanBeFarBelowZero) {
  v1::Task task = TheTask();
  EXPECT_EQ(CasesOf(task).count("opposed columns"), 0U);  // the weight has an offset
  v1::RandomRecipe* const weight = task.mutable_workloads(0)->mutable_inputs(1)->mutable_random();
  weight->clear_offset();
  const auto raises = [&] {
    const v1::Workload opposed = CasesOf(task).at("opposed columns");
    return std::pair(opposed.inputs(0).random(), opposed.inputs(1).random());
  };
  const auto [x, lowered] = raises();
  EXPECT_DOUBLE_EQ(x.raise(), 36 * 0.5);
  EXPECT_DOUBLE_EQ(lowered.raise(), -36 * 0.1);
  EXPECT_EQ(x.raise_count(), 1);
  EXPECT_EQ(lowered.raise_count(), 1);
  EXPECT_EQ(x.raise_first(), lowered.raise_first());
  EXPECT_LT(x.raise_first(), 16);
  EXPECT_DOUBLE_EQ(lowered.scale(), 0.1);
  // Matrix units of GPUs round float32, if the task does not mind.
  task.set_device(v1::DEVICE_CLASS_CUDA);
  EXPECT_EQ(CasesOf(task).count("opposed columns"), 0U);
  task.mutable_tolerance()->set_rms_yardstick(1e-6);
  EXPECT_EQ(CasesOf(task).count("opposed columns"), 1U);
  task.mutable_definition()->mutable_inputs(1)->set_dtype(v1::DTYPE_BFLOAT16);
  EXPECT_EQ(CasesOf(task).count("opposed columns"), 0U);
}

// Outputs like a sum of integers that wrapped around.
TEST(HiddenCasesTest, OutputsNearTheEndOfTheirTypeMayHaveOverflowed) {
  v1::Task task = TheTask();
  task.mutable_definition()->mutable_outputs(0)->set_dtype(v1::DTYPE_INT32);
  const auto made = WorkloadCase::Create(task, task.workloads(0), "task", Seed{1, 2});
  ASSERT_TRUE(made.ok()) << made.status();
  std::vector<int32_t> values(1024, (1 << 30));
  const auto overflowed = [&] {
    std::vector<std::byte> bytes(values.size() * 4);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return MayHaveOverflowed(**made, HostOutputs({bytes})).value();
  };
  EXPECT_FALSE(overflowed());
  values[77] = -(1 << 30) - 1;
  EXPECT_TRUE(overflowed());
}

TEST(HiddenCasesTest, AFewOddPlacesExcuseNoOthers) {
  v1::Tolerance tolerance = SparseTolerance(TheTask().tolerance(), 10, false, 0.01);
  EXPECT_DOUBLE_EQ(tolerance.atol(), 0.08);
  EXPECT_DOUBLE_EQ(tolerance.required_matched_ratio(), 0.995);
  EXPECT_DOUBLE_EQ(SparseTolerance(TheTask().tolerance(), 1, false, 0).required_matched_ratio(), 1);
  EXPECT_DOUBLE_EQ(SparseTolerance(TheTask().tolerance(), 1, false, 1).required_matched_ratio(),
                   0.98);
  tolerance = TheTask().tolerance();
  tolerance.set_required_matched_ratio(0.95);
  EXPECT_DOUBLE_EQ(SparseTolerance(tolerance, 1, false, 0.02).required_matched_ratio(), 0.94);
}

TEST(HiddenCasesTest, ToleranceIsWiderAndFollowsTheOutputs) {
  const v1::Tolerance wide = HiddenTolerance(TheTask().tolerance(), 10, false);
  EXPECT_DOUBLE_EQ(wide.atol(), 0.08);
  EXPECT_DOUBLE_EQ(wide.rtol(), 0.08);
  EXPECT_DOUBLE_EQ(wide.max_rms_error_ratio(), 16);
  EXPECT_DOUBLE_EQ(wide.required_matched_ratio(), 0.98);
  EXPECT_DOUBLE_EQ(HiddenTolerance(TheTask().tolerance(), 0.1, false).atol(), 8e-3);
  EXPECT_EQ(HiddenTolerance(TheTask().tolerance(), 1, true).max_rms_error_ratio(), 0);
}

}  // namespace
}  // namespace ksearch
