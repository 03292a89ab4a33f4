#include "gpu_worker/verifier/tensors/input_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/tensors/element.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

constexpr Seed kSeed = {1, 2};

std::unique_ptr<InputGenerator> Make(v1::DType dtype, int64_t extent, const char* recipe_text,
                                     const Seed& seed = kSeed, absl::Status* status = nullptr,
                                     const BlobPaths& blobs = {}) {
  v1::Definition definition;
  definition.add_axes()->set_name("n");
  definition.add_axes()->set_name("total");
  v1::Workload workload;
  workload.set_uuid("w");
  const std::pair<const char*, int64_t> axes[] = {{"n", extent}, {"total", 1000}};
  for (const auto& [name, value] : axes) {
    v1::AxisValue* axis = workload.add_axes();
    axis->set_axis(name);
    axis->set_value(value);
  }
  v1::TensorSpec tensor;
  tensor.set_name("x");
  tensor.add_shape("n");
  tensor.set_dtype(dtype);
  v1::InputRecipe recipe;
  CHECK_OK(ParseTextproto(recipe_text, "recipe", &recipe));
  absl::StatusOr<std::unique_ptr<InputGenerator>> made =
      MakeInputGenerator(definition, workload, tensor, recipe, seed, blobs);
  if (status != nullptr) *status = made.status();
  return made.ok() ? *std::move(made) : nullptr;
}

std::vector<double> Values(const InputGenerator& generator, v1::DType dtype, int64_t count,
                           int64_t variant) {
  std::vector<std::byte> bytes(static_cast<size_t>(generator.bytes()));
  generator.Write(variant, bytes.data());
  std::vector<double> values(static_cast<size_t>(count));
  DecodeElements(dtype, bytes.data(), count, values.data());
  return values;
}

TEST(InputGeneratorTest, FloatsAreStandardNormal) {
  const int64_t count = 400'000;  // drawn by several threads
  const auto generator = Make(v1::DTYPE_FLOAT32, count, "random {}");
  const std::vector<double> values = Values(*generator, v1::DTYPE_FLOAT32, count, 0);
  double sum = 0, squares = 0, fourth = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
    fourth += value * value * value * value;
  }
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1, 0.02);
  EXPECT_NEAR(fourth / count, 3, 0.15);
}

// Variant after variant over the same pool; 32 of them, 4096 elements each.
TEST(InputGeneratorTest, MixesKeepTheVarianceOfEveryType) {
  for (const v1::DType dtype : {v1::DTYPE_FLOAT32, v1::DTYPE_FLOAT16, v1::DTYPE_BFLOAT16}) {
    const auto generator = Make(dtype, 4096, "random { scale: 2 }");
    double sum = 0, squares = 0;
    for (int64_t variant = 0; variant < 32; ++variant) {
      for (const double value : Values(*generator, dtype, 4096, variant)) {
        sum += value;
        squares += value * value;
      }
    }
    EXPECT_NEAR(sum / (32 * 4096), 0, 0.06) << v1::DType_Name(dtype);
    EXPECT_NEAR(squares / (32 * 4096), 4, 0.15) << v1::DType_Name(dtype);
  }
}

// The sum of a whole variant cannot be had from sums that were kept of others: neither the same
// elements nor the same signs come again, also where windows lie on each other.
TEST(InputGeneratorTest, VariantsAreNoMovedCopiesOfEachOther) {
  for (const v1::DType dtype : {v1::DTYPE_FLOAT32, v1::DTYPE_INT32, v1::DTYPE_BFLOAT16}) {
    const auto generator = Make(dtype, 64, "random {}");
    const auto run_of = [&](int64_t variant) {
      const std::vector<double> values = Values(*generator, dtype, 64, variant);
      std::set<std::vector<double>> runs;  // of 24 elements, wherever they begin
      for (size_t i = 0; i + 24 <= values.size(); ++i) {
        runs.insert(std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(i),
                                        values.begin() + static_cast<std::ptrdiff_t>(i + 24)));
      }
      return runs;
    };
    std::set<std::vector<double>> seen;
    for (int64_t variant = 0; variant < 1500; ++variant) {
      for (const std::vector<double>& run : run_of(variant)) {
        EXPECT_TRUE(seen.insert(run).second) << v1::DType_Name(dtype) << " variant " << variant;
      }
    }
  }
}

// A program that keeps what it computed for each element finds none of them again.
TEST(InputGeneratorTest, ElementsWithManyValuesDoNotComeBack) {
  const std::tuple<v1::DType, const char*, double> recipes[] = {
      {v1::DTYPE_FLOAT32, "random { distribution: UNIFORM }", 0.02},  // 2^24 values
      {v1::DTYPE_FLOAT32, "random { distribution: STUDENT2 }", 0.02},
      {v1::DTYPE_FLOAT32, "random {}", 0.02},
      {v1::DTYPE_FLOAT32, "random { distribution: CAUCHY }", 0.02},
      {v1::DTYPE_INT32, "random { least: 1 most: 2000000000 }", 0.001},
      {v1::DTYPE_INT64, "random { least: 1 most: 4000000000000 }", 0.001}};
  for (const auto& [dtype, recipe, most] : recipes) {
    const auto generator = Make(dtype, 4096, recipe);
    std::set<double> seen;
    for (int64_t variant = 0; variant < 20; ++variant) {
      for (const double value : Values(*generator, dtype, 4096, variant)) seen.insert(value);
    }
    int64_t again = 0;
    for (const double value : Values(*generator, dtype, 4096, 20)) again += seen.contains(value);
    EXPECT_LE(static_cast<double>(again), most * 4096) << v1::DType_Name(dtype) << " " << recipe;
  }
}

// The same for pairs of elements of which there are few.
TEST(InputGeneratorTest, PairsOfElementsDoNotComeBack) {
  const std::pair<v1::DType, const char*> recipes[] = {
      {v1::DTYPE_INT16, "random { least: 1 most: 32000 }"},
      {v1::DTYPE_INT32, "random {}"},
      {v1::DTYPE_BFLOAT16, "random {}"},
      {v1::DTYPE_FLOAT16, "random { distribution: UNIFORM }"}};
  for (const auto& [dtype, recipe] : recipes) {
    const auto generator = Make(dtype, 4100, recipe);
    std::set<std::pair<double, double>> seen;
    for (int64_t variant = 0; variant <= 20; ++variant) {
      const std::vector<double> values = Values(*generator, dtype, 4100, variant);
      int again = 0;
      for (size_t i = 0; i + 1 < values.size(); i += 2) {
        again += seen.insert({values[i], values[i + 1]}).second ? 0 : 1;
      }
      EXPECT_LT(again, 250) << v1::DType_Name(dtype) << " variant " << variant;
    }
  }
}

TEST(InputGeneratorTest, ElementsOfManyVariantsAreDistributedAlike) {
  const auto generator = Make(v1::DTYPE_INT32, 4096, "random { least: -50000 most: 49999 }");
  const auto students = Make(v1::DTYPE_FLOAT32, 4096, "random { distribution: STUDENT2 scale: 2 }");
  int64_t eighths[8] = {}, within = 0;
  for (int64_t variant = 0; variant < 50; ++variant) {
    for (const double value : Values(*generator, v1::DTYPE_INT32, 4096, variant)) {
      ASSERT_GE(value, -50000);
      ASSERT_LE(value, 49999);
      ++eighths[static_cast<size_t>((value + 50000) / 12500)];
    }
    for (const double value : Values(*students, v1::DTYPE_FLOAT32, 4096, variant)) {
      within += std::fabs(value) < 2 * 0.8165 ? 1 : 0;  // its quartiles
    }
  }
  for (const int64_t count : eighths) EXPECT_NEAR(static_cast<double>(count), 25'600, 1'000);
  EXPECT_NEAR(static_cast<double>(within), 102'400, 2'000);
}

TEST(InputGeneratorTest, ScaleAndOffsetApply) {
  const auto generator = Make(v1::DTYPE_FLOAT32, 10'000, "random { scale: 0.5 offset: 100 }");
  double sum = 0;
  for (const double value : Values(*generator, v1::DTYPE_FLOAT32, 10'000, 3)) {
    EXPECT_LT(std::fabs(value - 100), 3.5);
    sum += value;
  }
  EXPECT_NEAR(sum / 10'000, 100, 0.05);
}

TEST(InputGeneratorTest, RangesByType) {
  for (const double value : Values(*Make(v1::DTYPE_FLOAT8_E4M3FN, 5000, "random {}"),
                                   v1::DTYPE_FLOAT8_E4M3FN, 5000, 0)) {
    EXPECT_LE(std::fabs(value), 2);
  }
  std::set<double> small, wide, truth;
  for (const double v :
       Values(*Make(v1::DTYPE_INT8, 20'000, "random {}"), v1::DTYPE_INT8, 20'000, 0)) {
    small.insert(v);
  }
  EXPECT_EQ(small.size(), 256u);
  for (const double v :
       Values(*Make(v1::DTYPE_INT64, 50'000, "random {}"), v1::DTYPE_INT64, 50'000, 0)) {
    wide.insert(v);
  }
  EXPECT_EQ(*wide.begin(), -1024);
  EXPECT_EQ(*wide.rbegin(), 1023);
  for (const double v : Values(*Make(v1::DTYPE_BOOL, 100, "random {}"), v1::DTYPE_BOOL, 100, 0)) {
    truth.insert(v);
  }
  EXPECT_EQ(truth, (std::set<double>{0, 1}));
}

TEST(InputGeneratorTest, IntegersKeepToADeclaredRange) {
  for (const v1::DType dtype :
       {v1::DTYPE_INT8, v1::DTYPE_INT16, v1::DTYPE_INT32, v1::DTYPE_INT64}) {
    const auto generator = Make(dtype, 5000, "random { least: -3 most: 4 }");
    std::set<double> seen;
    for (const double value : Values(*generator, dtype, 5000, 1)) seen.insert(value);
    EXPECT_EQ(seen, (std::set<double>{-3, -2, -1, 0, 1, 2, 3, 4}));
  }
}

// The values from before ranges existed.
TEST(InputGeneratorTest, IntegersWithoutARangeAreTheTopBits) {
  Rng rng(3);
  for (int i = 0; i < 1000; ++i) {
    const auto random = static_cast<uint32_t>(rng.Next());
    const IntegerRange small = IntegersOf(v1::DTYPE_INT8, v1::RandomRecipe());
    EXPECT_EQ(device::IntegerIn(random, small.least, small.span),
              static_cast<int64_t>(random >> 24) - 128);
    const IntegerRange usual = IntegersOf(v1::DTYPE_INT32, v1::RandomRecipe());
    EXPECT_EQ(device::IntegerIn(random, usual.least, usual.span),
              static_cast<int64_t>(random >> 21) - 1024);
  }
  // The whole width but one value.
  EXPECT_GT(device::IntegerIn(~0u, INT64_MIN, ~uint64_t{0}), INT64_MAX - (int64_t{1} << 33));
  EXPECT_EQ(device::IntegerIn(0, INT64_MIN, ~uint64_t{0}), INT64_MIN);
}

TEST(InputGeneratorTest, WideIntegersFillTheirRange) {
  const auto generator = Make(v1::DTYPE_INT64, 20'000,
                              "random { least: -2305843009213693952 most: 2305843009213693951 }");
  double sum = 0, least = 0, most = 0;
  for (const double value : Values(*generator, v1::DTYPE_INT64, 20'000, 0)) {
    sum += value * 0x1.0p-61;
    least = std::min(least, value * 0x1.0p-61);
    most = std::max(most, value * 0x1.0p-61);
  }
  EXPECT_NEAR(sum / 20'000, 0, 0.02);
  EXPECT_LT(least, -0.99);
  EXPECT_GE(least, -1);
  EXPECT_GT(most, 0.99);
  EXPECT_LE(most, 1);
}

// 10 elements are places for two islands of four and one of two.
TEST(InputGeneratorTest, IslandsReplaceWhatWasDrawn) {
  const auto generator =
      Make(v1::DTYPE_FLOAT16, 10, "random { islands { run: 4 count: 1 first: 100 last: 130 } }");
  std::set<int64_t> begins;
  for (int64_t variant = 0; variant < 50; ++variant) {
    const std::vector<double> values = Values(*generator, v1::DTYPE_FLOAT16, 10, variant);
    int64_t begin = 0;
    while (begin < 10 && values[static_cast<size_t>(begin)] < 50) ++begin;
    ASSERT_EQ(begin % 4, 0);
    for (int64_t i = 0; i < 10; ++i) {
      if (i < begin || i >= begin + 4) {
        EXPECT_LT(values[static_cast<size_t>(i)], 50);
      } else {
        EXPECT_EQ(values[static_cast<size_t>(i)], 100 + 10 * static_cast<double>(i - begin));
      }
    }
    begins.insert(begin);
  }
  EXPECT_EQ(begins, (std::set<int64_t>{0, 4, 8}));
  const auto integers =
      Make(v1::DTYPE_INT16, 100, "random { islands { run: 1 count: 4 first: 30000 last: 30000 } }");
  const std::vector<double> values = Values(*integers, v1::DTYPE_INT16, 100, 0);
  const auto large = std::count(values.begin(), values.end(), 30000);
  EXPECT_GE(large, 1);
  EXPECT_LE(large, 4);
}

TEST(InputGeneratorTest, RangesAndIslandsThatCannotBeAreRefused) {
  const std::pair<v1::DType, const char*> recipes[] = {
      {v1::DTYPE_INT8, "random { least: 0 most: 128 }"},
      {v1::DTYPE_INT32, "random { least: 5 most: 4 }"},
      {v1::DTYPE_INT64, "random { least: -9223372036854775808 most: 9223372036854775807 }"},
      {v1::DTYPE_FLOAT32, "random { least: 1 most: 2 }"},
      {v1::DTYPE_FLOAT32, "random { islands { run: 0 count: 1 } }"},
      {v1::DTYPE_FLOAT32, "random { islands { run: 11 count: 1 } }"},
      {v1::DTYPE_FLOAT32, "random { islands { run: 1 count: 5 } }"},
      {v1::DTYPE_BOOL, "random { islands { run: 1 count: 1 } }"},
  };
  for (const auto& [dtype, recipe] : recipes) {
    absl::Status status;
    Make(dtype, 10, recipe, kSeed, &status);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << recipe;
    EXPECT_THAT(std::string(status.message()), HasSubstr("input 'x'")) << recipe;
  }
}

TEST(InputGeneratorTest, VariantsDifferAndRepeatExactly) {
  const auto generator = Make(v1::DTYPE_FLOAT32, 64, "random {}");
  std::set<std::vector<double>> variants;
  for (int64_t variant = 0; variant < 2000; ++variant) {
    variants.insert(Values(*generator, v1::DTYPE_FLOAT32, 64, variant));
  }
  EXPECT_EQ(variants.size(), 2000u);
  const auto same = Make(v1::DTYPE_FLOAT32, 64, "random {}");
  const auto other = Make(v1::DTYPE_FLOAT32, 64, "random {}", Seed{1, 3});
  EXPECT_EQ(Values(*generator, v1::DTYPE_FLOAT32, 64, 5), Values(*same, v1::DTYPE_FLOAT32, 64, 5));
  EXPECT_NE(Values(*generator, v1::DTYPE_FLOAT32, 64, 5), Values(*other, v1::DTYPE_FLOAT32, 64, 5));
}

TEST(InputGeneratorTest, MatchesSeesOneChangedBit) {
  for (const char* recipe :
       {"random {}", "indptr { total_axis: 'total' }", "page_indices { pool_axis: 'total' }"}) {
    const auto generator = Make(v1::DTYPE_INT32, 9, recipe);
    std::vector<std::byte> bytes(static_cast<size_t>(generator->bytes()));
    generator->Write(7, bytes.data());
    EXPECT_TRUE(generator->Matches(7, bytes.data()));
    bytes[17] ^= std::byte{1};
    EXPECT_FALSE(generator->Matches(7, bytes.data())) << recipe;
  }
}

TEST(InputGeneratorTest, MatchesSeesAChangeAnywhere) {
  for (const auto& [dtype, elements] :
       {std::pair{v1::DTYPE_FLOAT32, 1500}, std::pair{v1::DTYPE_BFLOAT16, 1025},
        std::pair{v1::DTYPE_BOOL, 513}, std::pair{v1::DTYPE_INT64, 512}}) {
    const bool wide = dtype == v1::DTYPE_INT64;
    const auto generator =
        Make(dtype, elements, wide ? "random { least: 0 most: 1000000000000 }" : "random {}");
    std::vector<std::byte> bytes(static_cast<size_t>(generator->bytes()));
    generator->Write(3, bytes.data());
    EXPECT_TRUE(generator->Matches(3, bytes.data()));
    EXPECT_FALSE(generator->Matches(4, bytes.data()));
    for (const size_t at : {size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
      bytes[at] ^= std::byte{1};
      EXPECT_FALSE(generator->Matches(3, bytes.data())) << v1::DType_Name(dtype) << " at " << at;
      bytes[at] ^= std::byte{1};
    }
  }
}

TEST(InputGeneratorTest, IndptrCoversTheTotalWithMinimumLengths) {
  const auto generator = Make(v1::DTYPE_INT32, 17, "indptr { total_axis: 'total' min_length: 20 }");
  for (int64_t variant = 0; variant < 50; ++variant) {
    const std::vector<double> values = Values(*generator, v1::DTYPE_INT32, 17, variant);
    EXPECT_EQ(values.front(), 0);
    EXPECT_EQ(values.back(), 1000);
    for (size_t i = 1; i < values.size(); ++i) EXPECT_GE(values[i] - values[i - 1], 20);
  }
  EXPECT_NE(Values(*generator, v1::DTYPE_INT32, 17, 0), Values(*generator, v1::DTYPE_INT32, 17, 1));
}

TEST(InputGeneratorTest, ALopsidedIndptrHasOneLongSegment) {
  const auto generator =
      Make(v1::DTYPE_INT32, 17, "indptr { total_axis: 'total' min_length: 20 lopsided: true }");
  std::set<size_t> places;
  for (int64_t variant = 0; variant < 50; ++variant) {
    const std::vector<double> values = Values(*generator, v1::DTYPE_INT32, 17, variant);
    EXPECT_EQ(values.front(), 0);
    EXPECT_EQ(values.back(), 1000);
    int longest = 0;
    for (size_t i = 1; i < values.size(); ++i) {
      const double length = values[i] - values[i - 1];
      EXPECT_THAT(length, testing::AnyOf(20, 1000 - 15 * 20));
      if (length == 20) continue;
      places.insert(i);
      ++longest;
    }
    EXPECT_EQ(longest, 1);
  }
  EXPECT_GT(places.size(), 8u);
}

TEST(InputGeneratorTest, PagesInRunsAreDistinctAndMostlyNeighbors) {
  const auto generator = Make(v1::DTYPE_INT32, 100, "page_indices { pool_axis: 'total' run: 10 }");
  for (int64_t variant = 0; variant < 20; ++variant) {
    const std::vector<double> values = Values(*generator, v1::DTYPE_INT32, 100, variant);
    EXPECT_EQ(std::set<double>(values.begin(), values.end()).size(), 100u);
    int neighbors = 0;
    for (size_t i = 1; i < values.size(); ++i) neighbors += values[i] == values[i - 1] + 1 ? 1 : 0;
    EXPECT_GE(neighbors, 85);
    EXPECT_LT(neighbors, 97);
  }
}

TEST(InputGeneratorTest, IndptrOfKeysIsNowhereShorterThanThatOfQueries) {
  v1::Definition definition;
  v1::Workload workload;
  workload.set_uuid("w");
  const std::pair<const char*, int64_t> axes[] = {{"len", 30}, {"queries", 100}, {"keys", 160}};
  for (const auto& [name, value] : axes) {
    definition.add_axes()->set_name(name);
    v1::AxisValue* axis = workload.add_axes();
    axis->set_axis(name);
    axis->set_value(value);
  }
  const char* const recipes[] = {
      "input: 'q_indptr' indptr { total_axis: 'queries' }",
      "input: 'k_indptr' indptr { total_axis: 'keys' min_length: 1 plus: 'q_indptr' }"};
  std::vector<std::vector<double>> bounds;
  for (const char* text : recipes) {
    CHECK_OK(ParseTextproto(text, "recipe", workload.add_inputs()));
  }
  for (const v1::InputRecipe& recipe : workload.inputs()) {
    v1::TensorSpec tensor;
    tensor.set_name(recipe.input());
    tensor.add_shape("len");
    tensor.set_dtype(v1::DTYPE_INT32);
    const auto generator = MakeInputGenerator(definition, workload, tensor, recipe, kSeed);
    ASSERT_TRUE(generator.ok()) << generator.status();
    bounds.push_back(Values(**generator, v1::DTYPE_INT32, 30, 7));
  }
  EXPECT_EQ(bounds[0][29], 100);
  EXPECT_EQ(bounds[1][0], 0);
  EXPECT_EQ(bounds[1][29], 160);
  for (size_t i = 1; i < 30; ++i) {
    EXPECT_GE(bounds[1][i] - bounds[1][i - 1], bounds[0][i] - bounds[0][i - 1] + 1);
  }
}

TEST(InputGeneratorTest, RecordedValuesMayLieInAFile) {
  const std::string path = testing::TempDir() + "/ksearch-recorded-values";
  CHECK_OK(WriteFileAtomically(path, std::string("\1\0\0\0\2\0\0\0", 8)));
  const BlobPaths blobs = {{"aa", path}};
  const char* const recipe = "recorded { sha256: 'aa' bytes: 8 }";
  const auto generator = Make(v1::DTYPE_INT32, 2, recipe, kSeed, nullptr, blobs);
  ASSERT_NE(generator, nullptr);
  EXPECT_EQ(Values(*generator, v1::DTYPE_INT32, 2, 5), (std::vector<double>{1, 2}));
  EXPECT_TRUE(generator->repeats());
  const std::byte other[8] = {};
  EXPECT_FALSE(generator->Matches(5, other));
  absl::Status status;
  EXPECT_EQ(Make(v1::DTYPE_INT32, 3, recipe, kSeed, &status, blobs), nullptr);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(Make(v1::DTYPE_INT32, 2, recipe, kSeed, &status), nullptr);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  CHECK_OK(WriteFileAtomically(path, "short"));
  EXPECT_EQ(Make(v1::DTYPE_INT32, 2, recipe, kSeed, &status, blobs), nullptr);
  EXPECT_THAT(std::string(status.message()), HasSubstr("5 bytes"));
}

TEST(InputGeneratorTest, RaisedColumnsStayInEveryVariant) {
  for (const char* distribution : {"", "distribution: UNIFORM"}) {
    const auto generator =
        Make(v1::DTYPE_FLOAT32, 8,
             absl::StrCat("random { scale: 0.01 raise: 5 raise_first: 2 raise_count: 3 ",
                          distribution, "}")
                 .c_str());
    for (int64_t variant = 0; variant < 50; ++variant) {
      const std::vector<double> values = Values(*generator, v1::DTYPE_FLOAT32, 8, variant);
      for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(values[i], i >= 2 && i < 5 ? 5 : 0, 0.1);
    }
  }
}

TEST(InputGeneratorTest, CauchyHasHeavyTailsAndQuartilesAtItsScale) {
  const int64_t count = 100'000;
  const auto generator =
      Make(v1::DTYPE_FLOAT32, count, "random { distribution: CAUCHY scale: 2 offset: 1 }");
  int64_t within = 0, far = 0;
  for (const double value : Values(*generator, v1::DTYPE_FLOAT32, count, 0)) {
    ASSERT_TRUE(std::isfinite(value));
    within += std::fabs(value - 1) < 2 ? 1 : 0;
    far += std::fabs(value - 1) > 200 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(within) / count, 0.5, 0.01);
  EXPECT_NEAR(static_cast<double>(far) / count, 2 / (3.14159 * 100), 0.002);
}

TEST(InputGeneratorTest, UniformIsEvenBetweenItsBounds) {
  const int64_t count = 100'000;
  for (const v1::DType dtype : {v1::DTYPE_FLOAT32, v1::DTYPE_FLOAT16}) {
    const auto generator =
        Make(dtype, count, "random { distribution: UNIFORM scale: 4 offset: -1 }");
    const std::vector<double> values = Values(*generator, dtype, count, 3);
    int64_t below = 0;
    for (const double value : values) {
      ASSERT_GE(value, -1);
      ASSERT_LE(value, 3);  // float16 may round up to it
      below += value < 0 ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(below) / count, 0.25, 0.01);
    EXPECT_NE(values, Values(*generator, dtype, count, 4));
  }
}

TEST(InputGeneratorTest, RecordedValuesAreTheSameInEveryVariant) {
  const auto generator =
      Make(v1::DTYPE_INT32, 2, R"(recorded { values: "\x01\0\0\0\xff\xff\xff\xff" })");
  ASSERT_NE(generator, nullptr);
  for (int64_t variant = 0; variant < 3; ++variant) {
    EXPECT_EQ(Values(*generator, v1::DTYPE_INT32, 2, variant), (std::vector<double>{1, -1}));
  }
  EXPECT_TRUE(generator->repeats());
  std::vector<std::byte> memory(8);
  generator->Write(0, memory.data());
  EXPECT_TRUE(generator->Matches(7, memory.data()));
  memory[5] ^= std::byte{1};
  EXPECT_FALSE(generator->Matches(7, memory.data()));
}

TEST(InputGeneratorTest, BoolsAreTrueAsOftenAsAsked) {
  for (const auto& [recipe, share] :
       {std::pair{"random {}", 0.5}, std::pair{"random { probability: 1 }", 1.0},
        std::pair{"random { probability: 0.9 }", 0.9}}) {
    const auto generator = Make(v1::DTYPE_BOOL, 50'000, recipe);
    double sum = 0;
    for (const double value : Values(*generator, v1::DTYPE_BOOL, 50'000, 1)) sum += value;
    EXPECT_NEAR(sum / 50'000, share, share == 1 ? 0 : 0.01) << recipe;
  }
}

TEST(InputGeneratorTest, PageIndicesAreDistinct) {
  const auto generator = Make(v1::DTYPE_INT64, 900, "page_indices { pool_axis: 'total' }");
  for (int64_t variant = 0; variant < 20; ++variant) {
    const std::vector<double> values = Values(*generator, v1::DTYPE_INT64, 900, variant);
    const std::set<double> distinct(values.begin(), values.end());
    EXPECT_EQ(distinct.size(), 900u);
    EXPECT_GE(*distinct.begin(), 0);
    EXPECT_LT(*distinct.rbegin(), 1000);
  }
  // Neither all pages in another order, nor the same order from another page on.
  EXPECT_NE(Values(*generator, v1::DTYPE_INT64, 900, 0),
            Values(*generator, v1::DTYPE_INT64, 900, 1));
  const auto contiguous =
      Make(v1::DTYPE_INT32, 5, "page_indices { pool_axis: 'total' contiguous: true }");
  EXPECT_EQ(Values(*contiguous, v1::DTYPE_INT32, 5, 11), (std::vector<double>{0, 1, 2, 3, 4}));
}

TEST(InputGeneratorTest, RecipesThatCannotBeDoneNameTheInput) {
  const std::pair<const char*, const char*> cases[] = {
      {"indptr { total_axis: 'total' min_length: 500 }", "cannot cut 1000"},
      {"indptr { total_axis: 'nowhere' }", "'nowhere'"},
      {"page_indices { pool_axis: 'n' } ", ""},
      {"safetensors { path: 'a.st' tensor_key: 'k' }", "a.st"},
      {"recorded { values: 'abcd' }", "4 bytes are recorded, the tensor has 36"},
      {"scalar { int_value: 1 }", "needs a random"},
  };
  for (const auto& [recipe, message] : cases) {
    absl::Status status;
    const auto made = Make(v1::DTYPE_INT32, 9, recipe, kSeed, &status);
    if (*message == '\0') {
      EXPECT_TRUE(status.ok()) << status;
      continue;
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << recipe;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
    EXPECT_THAT(std::string(status.message()), HasSubstr("workload w input 'x'"));
  }
}

}  // namespace
}  // namespace ksearch
