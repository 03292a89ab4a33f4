#include "gpu_worker/verifier/tensors/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "gpu_worker/verifier/host/host_outputs.h"
#include "gpu_worker/verifier/tensors/suite_verdict.h"
#include "tests/gpu_worker/verifier/matmul_task.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The outputs of workload "small": 32 x 24 floats.
HostOutputs Outputs(const std::vector<std::pair<size_t, float>>& changes) {
  std::vector<float> values(32 * 24, 2.0f);
  for (const auto& [index, value] : changes) values[index] = value;
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return HostOutputs({std::move(bytes)});
}

class CompareTest : public ::testing::Test {
 protected:
  OutputComparison Compare(const HostOutputs& got, const HostOutputs& oracle) {
    const auto workload = *WorkloadCase::Create(task_, task_.workloads(0), "sha", Seed{1, 1});
    return JudgeOutputs(*workload, got.CompareWith(*workload, oracle));
  }
  CompareTest() {
    task_.mutable_tolerance()->set_atol(0.1);
    task_.mutable_tolerance()->set_rtol(0.01);
    task_.mutable_tolerance()->set_max_rms_error_ratio(0);
  }
  v1::Task task_ = MatmulTask();
};

TEST_F(CompareTest, EqualOutputsAreRight) {
  const OutputComparison compared = Compare(Outputs({}), Outputs({}));
  EXPECT_TRUE(compared.right);
  EXPECT_EQ(compared.correctness.matched_ratio(), 1);
  EXPECT_EQ(compared.correctness.max_abs_error(), 0);
}

TEST_F(CompareTest, WrongNeedsBothErrorsBeyondTheirLimits) {
  // 2 -> 2.05: relative 2.5 % beyond, absolute 0.05 within.
  EXPECT_TRUE(Compare(Outputs({{3, 2.05f}}), Outputs({})).right);
  // 100 -> 100.5: absolute 0.5 beyond, relative 0.5 % within.
  EXPECT_TRUE(Compare(Outputs({{3, 100.5f}}), Outputs({{3, 100.0f}})).right);
  const OutputComparison compared = Compare(Outputs({{3, 2.5f}, {9, 3.0f}}), Outputs({}));
  EXPECT_FALSE(compared.right);
  EXPECT_THAT(compared.message,
              HasSubstr("output 'c': 2 of 768 elements wrong; first at flat index 3: got 2.5, "
                        "expected 2"));
  EXPECT_EQ(compared.correctness.first_wrong_index(), 3);
  EXPECT_EQ(compared.correctness.worst_output(), "c");
  EXPECT_DOUBLE_EQ(compared.correctness.max_abs_error(), 1.0);
}

TEST_F(CompareTest, SumOfBoundsIsTheRuleOfTorchAllclose) {
  task_.mutable_tolerance()->set_sum_of_bounds(true);
  // 0.1 + 1 % of 2.
  EXPECT_TRUE(Compare(Outputs({{3, 2.119f}}), Outputs({})).right);
  EXPECT_FALSE(Compare(Outputs({{3, 2.121f}}), Outputs({})).right);
  EXPECT_TRUE(Compare(Outputs({{3, -101.09f}}), Outputs({{3, -100.0f}})).right);
  EXPECT_FALSE(Compare(Outputs({{3, -101.11f}}), Outputs({{3, -100.0f}})).right);
  EXPECT_TRUE(Compare(Outputs({{0, kInf}}), Outputs({{0, kInf}})).right);
  EXPECT_FALSE(Compare(Outputs({{0, kNan}}), Outputs({})).right);
}

TEST_F(CompareTest, SmallAnswersAreNoExcuseForZeros) {
  std::vector<std::pair<size_t, float>> zeros, small, near, noise, fainter;
  for (size_t i = 0; i < 32 * 24; ++i) {
    const float value = i % 2 == 0 ? 0.05f : -0.05f;  // atol is 0.1
    zeros.emplace_back(i, 0.0f);
    small.emplace_back(i, value);
    near.emplace_back(i, 1.15f * value);
    noise.emplace_back(i, 1e-4f * value);
    fainter.emplace_back(i, 0.1f * value);
  }
  EXPECT_THAT(Compare(Outputs(zeros), Outputs(small)).message,
              HasSubstr("output 'c': the RMS of its error is 1 times that of the reference's"));
  EXPECT_TRUE(Compare(Outputs(near), Outputs(small)).right);
  // What is left where large numbers cancel is noise.
  EXPECT_TRUE(Compare(Outputs(zeros), Outputs(noise)).right);
  EXPECT_FALSE(Compare(Outputs(zeros), Outputs(fainter)).right);
  EXPECT_TRUE(Compare(Outputs(small), Outputs(zeros)).right);
  // One element may be far off, as long as that is within the tolerance.
  near[5].second = 0;
  EXPECT_TRUE(Compare(Outputs(near), Outputs(small)).right);
  task_.mutable_tolerance()->set_required_matched_ratio(0.98);
  EXPECT_TRUE(Compare(Outputs(zeros), Outputs(small)).right);
  // torch's own sums in 16 bits leave such noise.
  task_.mutable_tolerance()->clear_required_matched_ratio();
  task_.mutable_definition()->mutable_outputs(0)->set_dtype(v1::DTYPE_BFLOAT16);
  const auto halves = [](uint16_t bits) {
    std::vector<std::byte> bytes(32 * 24 * sizeof bits);
    for (size_t i = 0; i < bytes.size(); i += sizeof bits) {
      std::memcpy(&bytes[i], &bits, sizeof bits);
    }
    return HostOutputs({std::move(bytes)});
  };
  constexpr uint16_t kSmall = 0x3d4d;  // 0.05
  EXPECT_FALSE(Compare(halves(0), halves(kSmall)).right);
  task_.mutable_tolerance()->set_sum_of_bounds(true);
  EXPECT_TRUE(Compare(halves(0), halves(kSmall)).right);
}

TEST_F(CompareTest, JudgedOutputsAreFiniteWhereTheOracleIs) {
  const auto workload = *WorkloadCase::Create(task_, task_.workloads(0), "sha", Seed{1, 1});
  const auto fault = [&](const HostOutputs& got, const HostOutputs& oracle) {
    OutputComparison judged;
    RequireFinite(*workload, got, oracle, &judged);
    return judged.message;
  };
  EXPECT_EQ(fault(Outputs({{0, 7.0f}}), Outputs({})), "");
  OutputComparison doubtful;
  doubtful.doubt = "compares a NaN";
  RequireFinite(*workload, Outputs({{0, 7.0f}}), Outputs({}), &doubtful);
  EXPECT_FALSE(doubtful.right);
  EXPECT_EQ(doubtful.message, "compares a NaN");
  EXPECT_THAT(fault(Outputs({{0, kNan}, {3, kInf}}), Outputs({})), HasSubstr("'c' has 2 infinite"));
  // Other places of the same infinity.
  EXPECT_EQ(fault(Outputs({{0, kInf}}), Outputs({{1, kInf}})), "");
  EXPECT_THAT(fault(Outputs({{0, kNan}, {1, kInf}}), Outputs({{1, kInf}})),
              HasSubstr("1 infinite"));
}

TEST_F(CompareTest, NonFiniteValues) {
  EXPECT_FALSE(Compare(Outputs({{0, kNan}}), Outputs({})).right);
  EXPECT_FALSE(Compare(Outputs({{0, -kInf}}), Outputs({})).right);
  EXPECT_TRUE(Compare(Outputs({{0, -kInf}}), Outputs({{0, -kInf}})).right);
  EXPECT_FALSE(Compare(Outputs({{0, kInf}}), Outputs({{0, -kInf}})).right);
  EXPECT_FALSE(Compare(Outputs({{0, kNan}}), Outputs({{0, kNan}})).right);
  EXPECT_FALSE(Compare(Outputs({{0, -1e30f}}), Outputs({{0, -kInf}})).right);
}

TEST_F(CompareTest, RuleOfTheSuiteHasAVerdictOfItsOwn) {
  v1::SuiteRule* const rule = task_.mutable_suite_rule();
  rule->set_atol(0.01);
  rule->set_rtol(0.01);
  const auto fault = [&](const HostOutputs& got, const HostOutputs& oracle) {
    const auto workload = *WorkloadCase::Create(task_, task_.workloads(0), "sha", Seed{1, 1});
    return FaultBySuite(*workload, got.CompareWith(*workload, oracle));
  };
  EXPECT_EQ(fault(Outputs({{0, kNan}}), Outputs({})), "");  // it has none yet
  rule->set_rule(v1::SuiteRule::FINITE_AND_MATCHED);
  EXPECT_EQ(fault(Outputs({{0, 2.019f}}), Outputs({})), "");
  EXPECT_EQ(fault(Outputs({{0, 2.021f}, {5, 1.0f}}), Outputs({})),
            "output 'c': 2 of 768 elements wrong (atol 0.01, rtol 0.01)");
  // No element may be infinite, even where the oracle is, whatever share must match.
  rule->set_required_matched_ratio(0.9);
  EXPECT_EQ(fault(Outputs({{0, 7.0f}, {5, 1.0f}}), Outputs({})), "");
  EXPECT_EQ(fault(Outputs({{0, -kInf}}), Outputs({{0, -kInf}})),
            "output 'c': 1 of 768 elements are infinite or NaN");
  // Only FlashInfer-Bench has the share.
  rule->set_rule(v1::SuiteRule::TORCH_ALLCLOSE);
  EXPECT_THAT(fault(Outputs({{0, 7.0f}}), Outputs({})), HasSubstr("1 of 768 elements wrong"));
  EXPECT_EQ(fault(Outputs({{0, -kInf}}), Outputs({{0, -kInf}})), "");
  EXPECT_EQ(fault(Outputs({{0, 2.029f}}), Outputs({})), "");
  rule->set_rule(v1::SuiteRule::SAME_NON_FINITE);
  EXPECT_EQ(fault(Outputs({{0, kNan}}), Outputs({{0, kNan}})), "");
  EXPECT_THAT(fault(Outputs({{0, kNan}}), Outputs({})), HasSubstr("1 of 768 elements wrong"));
}

TEST_F(CompareTest, RequiredMatchedRatioAllowsAFewWrongElements) {
  task_.mutable_tolerance()->set_required_matched_ratio(0.995);  // 3.84 of 768
  EXPECT_TRUE(Compare(Outputs({{0, 9}, {1, 9}, {2, 9}}), Outputs({})).right);
  EXPECT_FALSE(Compare(Outputs({{0, 9}, {1, 9}, {2, 9}, {3, 9}}), Outputs({})).right);
}

TEST_F(CompareTest, ErrorRatioCatchesManySmallErrors) {
  std::vector<std::pair<size_t, float>> off;
  for (size_t i = 0; i < 768; ++i) off.emplace_back(i, 2.002f);  // relative RMS error 1e-3
  EXPECT_TRUE(Compare(Outputs(off), Outputs({})).right);
  task_.mutable_tolerance()->set_rms_yardstick(1e-4);
  task_.mutable_tolerance()->set_max_rms_error_ratio(11);
  EXPECT_TRUE(Compare(Outputs(off), Outputs({})).right);
  task_.mutable_tolerance()->set_max_rms_error_ratio(9);
  const OutputComparison compared = Compare(Outputs(off), Outputs({}));
  EXPECT_FALSE(compared.right);
  EXPECT_NEAR(compared.correctness.rms_error_ratio(), 10, 0.01);
  EXPECT_THAT(compared.message, HasSubstr("relative RMS error"));
}

TEST_F(CompareTest, MergeKeepsTheWorst) {
  v1::Correctness first = Compare(Outputs({}), Outputs({})).correctness;
  MergeCorrectness(Compare(Outputs({{7, 4.0f}}), Outputs({})).correctness, &first);
  MergeCorrectness(Compare(Outputs({}), Outputs({})).correctness, &first);
  EXPECT_LT(first.matched_ratio(), 1);
  EXPECT_EQ(first.first_wrong_index(), 7);
  EXPECT_EQ(first.max_abs_error(), 2);
}

TEST_F(CompareTest, AnOracleWithNanIsNamed) {
  const auto workload = *WorkloadCase::Create(task_, task_.workloads(0), "sha", Seed{1, 1});
  EXPECT_EQ(OutputWithNan(*workload, Outputs({{700, kNan}})), "c");
  EXPECT_EQ(OutputWithNan(*workload, Outputs({{700, kInf}})), "");
}

}  // namespace
}  // namespace ksearch
