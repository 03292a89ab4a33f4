#include "gpu_worker/verifier/judges/sampling_judge.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gpu_worker/verifier/host/host_outputs.h"
#include "gpu_worker/verifier/judges/draw_places.h"
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

TEST(DrawPlacesTest, LikelyTokensAloneAreFoundAndHonestOnesAreNot) {
  v1::Task task = SamplingTask(v1::DEVICE_CLASS_CPU);
  const auto workload = CaseOf(task);
  std::mt19937_64 random(7);
  for (const bool greedy : {false, true}) {
    DrawPlaces places;
    Rng rng(3);
    for (int64_t variant = 0; variant < 400; ++variant) {
      const auto probabilities = InputOf<float>(*workload, 0, variant);
      const auto top_k = InputOf<int32_t>(*workload, 1, variant);
      std::vector<int> ranks(kRows, 0);
      for (int row = 0; row < kRows && !greedy; ++row) {
        const float* const own = probabilities.data() + row * kTokens;
        std::vector<float> likely(own, own + kTokens);
        std::sort(likely.rbegin(), likely.rend());
        likely.resize(static_cast<size_t>(top_k[static_cast<size_t>(row)]));
        std::discrete_distribution<int> drawn(likely.begin(), likely.end());
        ranks[static_cast<size_t>(row)] = drawn(random);
      }
      const HostOutputs tokens = Tokens(Ranked(probabilities, ranks));
      ASSERT_TRUE(places.Add(*workload, variant, tokens, 8, &rng).ok());
    }
    EXPECT_EQ(places.Fault(0.2) != "", greedy) << places.Fault(0.2);
  }
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
