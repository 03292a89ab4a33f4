#include "gpu_worker/verifier/judges/sampling_judge.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gpu_worker/verifier/host/host_outputs.h"
#include "gpu_worker/verifier/judges/token_draws.h"
#include "gpu_worker/verifier/tensors/workload_case.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

constexpr int kRows = 3, kTokens = 16;
constexpr char kTask[] = R"(
  name: "sampling"
  definition {
    name: "top_k_sampling" op_type: "sampling"
    axes { name: "rows" } axes { name: "tokens" }
    inputs { name: "probs" shape: "rows" shape: "tokens" dtype: DTYPE_FLOAT32 }
    inputs { name: "top_k" shape: "rows" dtype: DTYPE_INT32 }
    outputs { name: "samples" shape: "rows" dtype: DTYPE_INT64 }
  }
  tolerance { judged_by_suite_rule: true }
  suite_rule { rule: SAMPLES sampling { by_top_k: true } }
  workloads {
    uuid: "w" axes { axis: "rows" value: 3 } axes { axis: "tokens" value: 16 }
    inputs { input: "probs" random { distribution: UNIFORM } }
    inputs { input: "top_k" random { least: 1 most: 4 } }
  }
)";

v1::Task SamplingTask(v1::DeviceClass device) {
  v1::Task task;
  EXPECT_TRUE(ParseTextproto(kTask, "sampling", &task).ok());
  task.set_device(device);
  return task;
}

std::shared_ptr<const WorkloadCase> CaseOf(const v1::Task& task) {
  auto made = WorkloadCase::Create(task, task.workloads(0), "sha", Seed{5, 6});
  EXPECT_TRUE(made.ok()) << made.status();
  return *made;
}

template <typename Element>
std::vector<Element> InputOf(const WorkloadCase& workload, int tensor, int64_t variant) {
  const auto bytes = static_cast<size_t>(workload.generator(tensor).bytes());
  std::vector<Element> elements(bytes / sizeof(Element));
  workload.generator(tensor).Write(variant, reinterpret_cast<std::byte*>(elements.data()));
  return elements;
}

HostOutputs Tokens(const std::vector<int64_t>& tokens) {
  std::vector<std::byte> bytes(tokens.size() * sizeof tokens[0]);
  std::memcpy(bytes.data(), tokens.data(), bytes.size());
  return HostOutputs({bytes});
}

// The token of every row that is likelier than all but `rank` others.
std::vector<int64_t> Ranked(const std::vector<float>& probabilities,
                            const std::vector<int>& ranks) {
  std::vector<int64_t> tokens;
  for (int row = 0; row < kRows; ++row) {
    const float* const own = probabilities.data() + row * kTokens;
    std::vector<int64_t> order(kTokens);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [own](int64_t a, int64_t b) { return own[a] > own[b]; });
    tokens.push_back(order[static_cast<size_t>(ranks[static_cast<size_t>(row)])]);
  }
  return tokens;
}

TEST(SamplingJudgeTest, GoesByTheInputsOfTheCallAndRefusesTheFirstTokenBeyondTheLimit) {
  for (const v1::DeviceClass device : {v1::DEVICE_CLASS_CPU, v1::DEVICE_CLASS_CUDA}) {
    const auto workload = CaseOf(SamplingTask(device));
    SamplingJudge judge;
    for (int64_t variant = 0; variant < 50; ++variant) {
      // The inputs of a call, also on a GPU.
      ASSERT_FALSE(workload->DrawnOnDevice(0));
      ASSERT_FALSE(workload->DrawnOnDevice(1));
      const auto probabilities = InputOf<float>(*workload, 0, variant);
      const auto top_k = InputOf<int32_t>(*workload, 1, variant);
      std::vector<int> last(top_k.begin(), top_k.end());
      for (int& rank : last) --rank;
      const HostOutputs allowed = Tokens(Ranked(probabilities, last));
      EXPECT_TRUE(judge.Judge(*workload, variant, allowed, allowed).right);
      for (int row = 0; row < kRows; ++row) {
        std::vector<int> ranks = last;
        ++ranks[static_cast<size_t>(row)];
        const HostOutputs beyond = Tokens(Ranked(probabilities, ranks));
        const OutputComparison judged = judge.Judge(*workload, variant, beyond, allowed);
        EXPECT_FALSE(judged.right) << variant;
        EXPECT_THAT(judged.message, HasSubstr("of row " + std::to_string(row) +
                                              " is so unlikely that it may not be drawn"));
      }
    }
  }
}

// What a row's token is: its rank among the likeliest tokens, of which there are `shares.size()`.
using Program = std::function<int(const std::vector<float>& shares, const std::vector<int>& tokens,
                                  std::mt19937_64* random)>;

int Honest(const std::vector<float>& shares, const std::vector<int>&, std::mt19937_64* random) {
  return std::discrete_distribution<int>(shares.begin(), shares.end())(*random);
}

// Draws only tokens whose index has this bit, if there are any.
int WithBit(int bit, const std::vector<float>& shares, const std::vector<int>& tokens,
            std::mt19937_64* random) {
  std::vector<float> left = shares;
  for (size_t i = 0; i < left.size(); ++i) {
    if ((tokens[i] >> bit & 1) == 0) left[i] = 0;
  }
  const bool any = *std::max_element(left.begin(), left.end()) > 0;
  return Honest(any ? left : shares, tokens, random);
}

std::string FaultOf(const Program& program) {
  const auto workload = CaseOf(SamplingTask(v1::DEVICE_CLASS_CPU));
  std::mt19937_64 random(7);
  TokenDraws draws;
  Rng rng(3);
  for (int64_t variant = 0; variant < 2000; ++variant) {
    const auto probabilities = InputOf<float>(*workload, 0, variant);
    const auto top_k = InputOf<int32_t>(*workload, 1, variant);
    std::vector<int> ranks;
    for (size_t row = 0; row < kRows; ++row) {
      std::vector<float> shares;
      std::vector<int> tokens;
      for (int rank = 0; rank < top_k[row]; ++rank) {
        const auto token =
            static_cast<size_t>(Ranked(probabilities, std::vector<int>(kRows, rank))[row]);
        tokens.push_back(static_cast<int>(token));
        shares.push_back(probabilities[row * kTokens + token]);
      }
      ranks.push_back(program(shares, tokens, &random));
    }
    EXPECT_TRUE(draws.Add(*workload, variant, Tokens(Ranked(probabilities, ranks)), 8, &rng).ok());
  }
  return draws.Fault(0.2);
}

TEST(TokenDrawsTest, FindsThoseThatAreNotDrawnByTheirProbabilities) {
  EXPECT_EQ(FaultOf(Honest), "");
  EXPECT_THAT(FaultOf([](const auto&, const auto&, auto*) { return 0; }),
              HasSubstr("the places of"));
  for (const int bit : {0, 3}) {
    EXPECT_THAT(FaultOf([bit](const auto& shares, const auto& tokens, auto* random) {
                  return WithBit(bit, shares, tokens, random);
                }),
                HasSubstr(absl::StrCat("bit ", bit, " of the token's index is set in")));
  }
  // Misses the only token that may be drawn, in seven of eight such rows.
  EXPECT_THAT(FaultOf([](const auto& shares, const auto& tokens, auto* random) {
                const bool misses = shares.size() == 1 && (*random)() % 8 != 0;
                return misses ? 1 : Honest(shares, tokens, random);
              }),
              HasSubstr("a token with at least half of its row's probability comes in"));
}

TEST(SamplingJudgeTest, OnlyInputsThatNoJudgeReadsAreDrawnOnTheDevice) {
  v1::Task task = SamplingTask(v1::DEVICE_CLASS_CUDA);
  const auto judged = CaseOf(task);
  EXPECT_FALSE(judged->DrawnOnDevice(0));
  EXPECT_GT(judged->pool_bytes(), 0);
  task.mutable_tolerance()->set_judged_by_suite_rule(false);
  const auto compared = CaseOf(task);
  EXPECT_TRUE(compared->DrawnOnDevice(0));
  EXPECT_TRUE(compared->DrawnOnDevice(1));
  EXPECT_EQ(compared->pool_bytes(), 0);
  EXPECT_FALSE(judged->WithTolerance(task.tolerance())->DrawnOnDevice(1));
  // A judge that is a program reads them, too.
  task.mutable_tolerance()->set_judged_by_program(true);
  SamplingJudge program;
  const auto made =
      WorkloadCase::Create(task, task.workloads(0), "sha", Seed{5, 6}, nullptr, &program);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_FALSE((*made)->DrawnOnDevice(1));
}

}  // namespace
}  // namespace ksearch
