// The rules of suites, element by element, on numbers computed by hand from their formulas.
#include "gpu_worker/verifier/tensors/suite_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ksearch {
namespace device {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool Wrong(Rule rule, double got, double oracle, double tolerance = 1e-2,
           Arithmetic arithmetic = Arithmetic::kFloat32) {
  const auto bound = static_cast<float>(tolerance);
  return IsWrongBy({rule, arithmetic, bound, bound}, got, oracle);
}

// |d| > atol and |d| / (|oracle| + 1e-8) > rtol.
TEST(SuiteRulesTest, FlashInferBenchNeedsBothBoundsExceeded) {
  constexpr Rule kRule = Rule::kFiniteAndMatched;
  EXPECT_FALSE(Wrong(kRule, 0.0099, 0));    // whatever the relative error
  EXPECT_TRUE(Wrong(kRule, 0.0101, 0));     // 0.0101 / 1e-8
  EXPECT_FALSE(Wrong(kRule, 100.99, 100));  // 0.99 %
  EXPECT_TRUE(Wrong(kRule, 101.01, 100));
  EXPECT_TRUE(Wrong(kRule, 1.0102, 1));
  // Within the bounds of torch.allclose, 0.01 + 0.01, but beyond both of these.
  EXPECT_TRUE(Wrong(kRule, 1.015, 1));
  EXPECT_FALSE(Wrong(Rule::kTorchAllclose, 1.015, 1));
  // Comparisons with NaN are false. A separate rule requires finite candidate outputs.
  EXPECT_FALSE(Wrong(kRule, 7, kInf));
  EXPECT_FALSE(Wrong(kRule, 7, -kInf));
  EXPECT_FALSE(Wrong(kRule, 7, kNan));
}

TEST(SuiteRulesTest, TorchAllclose) {
  constexpr Rule kRule = Rule::kTorchAllclose;
  EXPECT_FALSE(Wrong(kRule, 1.00019, 1, 1e-4));
  EXPECT_TRUE(Wrong(kRule, 1.00021, 1, 1e-4));
  EXPECT_FALSE(Wrong(kRule, -100.0100, -100, 1e-4));  // 1e-4 + 1e-2
  EXPECT_TRUE(Wrong(kRule, -100.0102, -100, 1e-4));
  EXPECT_FALSE(Wrong(kRule, kInf, kInf));
  EXPECT_TRUE(Wrong(kRule, kInf, -kInf));
  EXPECT_TRUE(Wrong(kRule, 1, kInf));  // an infinite bound allows no infinite error
  EXPECT_TRUE(Wrong(kRule, kInf, 1));
  EXPECT_TRUE(Wrong(kRule, kNan, kNan));
  EXPECT_TRUE(Wrong(kRule, kNan, 1));
  // Without bounds: equality.
  EXPECT_FALSE(Wrong(kRule, 3, 3, 0));
  EXPECT_TRUE(Wrong(kRule, 3, std::nextafter(3, 4), 0));
}

// Bounds and errors are rounded to the output's own type, as torch computes them.
TEST(SuiteRulesTest, TorchAllcloseComputesInTheOutputsOwnType) {
  // bfloat16, which has 8 bits: 0.01171875 * 1.6640625 is 0.01953125 there, and 0.01171875 more is
  // 0.03125, the error of 1.6953125. In float32 the bound is 0.0312195.
  constexpr double kBound = 0.01171875;
  EXPECT_FALSE(Wrong(Rule::kTorchAllclose, 1.6953125, 1.6640625, kBound, Arithmetic::kBfloat16));
  EXPECT_TRUE(Wrong(Rule::kTorchAllclose, 1.6953125, 1.6640625, kBound));
  // 1e-2 * 300 = 3 and 3.01 is 3.015625 there: just enough for a neighbor at a distance of 2, not
  // for one at 4.
  EXPECT_FALSE(Wrong(Rule::kTorchAllclose, 302, 300, 1e-2, Arithmetic::kBfloat16));
  EXPECT_TRUE(Wrong(Rule::kTorchAllclose, 304, 300, 1e-2, Arithmetic::kBfloat16));
  // float16: the largest finite numbers are 131008 apart, which is infinite there.
  EXPECT_TRUE(Wrong(Rule::kTorchAllclose, 65504, -65504, 1e3, Arithmetic::kFloat16));
  EXPECT_FALSE(Wrong(Rule::kTorchAllclose, 65504, -65504, 1e3));
}

TEST(SuiteRulesTest, GpuModeTakesWhatTheReferenceHasThere) {
  constexpr Rule kRule = Rule::kSameNonFinite;
  EXPECT_FALSE(Wrong(kRule, 1.039, 1, 2e-2));  // 0.02 + 0.02
  EXPECT_TRUE(Wrong(kRule, 1.041, 1, 2e-2));
  EXPECT_FALSE(Wrong(kRule, kNan, kNan));
  EXPECT_TRUE(Wrong(kRule, kNan, 1));
  EXPECT_TRUE(Wrong(kRule, 1, kNan));
  EXPECT_FALSE(Wrong(kRule, kInf, kInf));
  EXPECT_TRUE(Wrong(kRule, kInf, -kInf));
  EXPECT_TRUE(Wrong(kRule, 1, kInf));
  // The check for equality makes no such exception.
  EXPECT_TRUE(Wrong(kRule, kNan, kNan, 0));
  EXPECT_FALSE(Wrong(kRule, 5, 5, 0));
  EXPECT_TRUE(Wrong(kRule, 5, 6, 0));
}

TEST(SuiteRulesTest, WithoutARuleNothingIsWrong) { EXPECT_FALSE(Wrong(Rule::kNone, kNan, 1)); }

}  // namespace
}  // namespace device
}  // namespace ksearch
