// Needs a GPU; skips without a driver.
#include "gpu_worker/verifier/cuda/cuda_buffer_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/rng.h"
#include "gpu_worker/verifier/cuda/device_outputs.h"
#include "gpu_worker/verifier/tensors/made_inputs.h"
#include "tests/gpu/cuda_buffer_sets_fixture.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;
using CudaBufferSetsTest = CudaBufferSetsFixture;

TEST_F(CudaBufferSetsTest, DrawsWhatTheHostsFormulaSays) {
  Make(EveryType(kOddElements), 2);
  buffers_->Prepare({{0, 7}, {1, 8}}, 1);
  for (int t = 0; t < kTypeCount; ++t) {
    const std::vector<double> values = Values(0, t);
    const std::vector<double> others = Values(1, t);
    const uint64_t key = workload_->generator(t).random()->key;
    const double rounding = RelativeRounding(kTypes[t]);
    double sum = 0, squares = 0;
    int64_t same = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const device::Four block = device::PhiloxBlock(key, i / 4, 7);
      double expected;
      if (IsFloating(kTypes[t])) {
        float normals[4];
        device::FourNormals(block, normals);
        expected = static_cast<double>(normals[i % 4]);
        if (workload_->tensors()[static_cast<size_t>(t)].bytes == kOddElements) {
          expected = std::clamp(expected, -2.0, 2.0);
        }
        // The device's logarithm and sine are the fast ones.
        ASSERT_NEAR(values[i], expected, std::fabs(expected) * 2.1 * rounding + 0.02)
            << "type " << t << " element " << i;
      } else {
        const uint32_t random = block.v[i % 4];
        expected = kTypes[t] == v1::DTYPE_BOOL   ? (random >> 31)
                   : kTypes[t] == v1::DTYPE_INT8 ? static_cast<double>(random >> 24) - 128
                                                 : static_cast<double>(random >> 21) - 1024;
        ASSERT_EQ(values[i], expected) << "type " << t << " element " << i;
      }
      sum += values[i];
      squares += values[i] * values[i];
      same += values[i] == others[i] ? 1 : 0;
    }
    if (kTypes[t] == v1::DTYPE_FLOAT32) {
      EXPECT_NEAR(sum / kOddElements, 0, 0.02);
      EXPECT_NEAR(squares / kOddElements, 1, 0.03);
    }
    EXPECT_LT(same, kOddElements * 6 / 10) << "contents 7 and 8 of type " << t << " are alike";
  }
}

TEST_F(CudaBufferSetsTest, RecipesApply) {
  v1::Task task = EveryType(kOddElements,
                            "random { scale: 0.5 offset: 3 raise: 100 raise_first: 10 raise_count: "
                            "5 probability: 0.25 }");
  Make(task, 1);
  buffers_->Prepare({{0, 0}}, 1);
  const std::vector<double> floats = Values(0, 0);
  double sum = 0;
  for (size_t i = 0; i < floats.size(); ++i) {
    const bool raised = i >= 10 && i < 15;
    EXPECT_NEAR(floats[i], raised ? 103 : 3, 3.5) << i;
    sum += floats[i];
  }
  EXPECT_NEAR(sum / kOddElements, 3, 0.03);
  sum = 0;
  for (const double value : Values(0, kTypeCount - 1)) sum += value;
  EXPECT_NEAR(sum / kOddElements, 0.25, 0.01);
  EXPECT_EQ(buffers_->ChangedInput({0, 0}), std::nullopt);
  Make(EveryType(kOddElements, "random { distribution: CAUCHY }"), 1);
  buffers_->Prepare({{0, 0}}, 1);
  int64_t inner = 0;
  double largest = 0;
  for (const double value : Values(0, 0)) {
    ASSERT_TRUE(std::isfinite(value));
    inner += std::fabs(value) < 1 ? 1 : 0;
    largest = std::max(largest, std::fabs(value));
  }
  EXPECT_NEAR(static_cast<double>(inner) / kOddElements, 0.5, 0.01);
  EXPECT_GT(largest, 1000);
}

// For a float input runs of 100 are larger, for a wide integer input single elements.
TEST_F(CudaBufferSetsTest, OddPlacesLieWhereTheHostSaysAndIntegersAreAsWide) {
  constexpr int kFloat = 0, kInt64 = 5, kInt32 = 6;
  v1::Task task = EveryType(kOddElements);
  v1::Workload& workload = *task.mutable_workloads(0);
  CHECK_OK(ParseTextproto("random { islands { run: 100 count: 2 first: 50 last: 149 } }", "recipe",
                          workload.mutable_inputs(kFloat)));
  CHECK_OK(ParseTextproto("random { least: -2305843009213693952 most: 2305843009213693951 }",
                          "recipe", workload.mutable_inputs(kInt64)));
  CHECK_OK(ParseTextproto("random { islands { run: 1 count: 3 first: 1e9 last: 1e9 } }", "recipe",
                          workload.mutable_inputs(kInt32)));
  for (const int t : {kFloat, kInt64, kInt32}) {
    workload.mutable_inputs(t)->set_input(absl::StrCat("in", t));
  }
  Make(task, 1);
  for (const uint64_t variant : {0, 9}) {
    buffers_->Prepare({{0, static_cast<int64_t>(variant)}}, 1);
    for (const int t : {kFloat, kInt32}) {
      const device::Islands& islands = workload_->generator(t).random()->islands;
      std::vector<double> expected(kOddElements);
      for (uint64_t which = 0; which < static_cast<uint64_t>(islands.count); ++which) {
        const device::Four block = device::PhiloxBlock(islands.key, which, variant);
        const int64_t begin = device::IslandBegin(islands, block.v[0], block.v[1]);
        for (int64_t i = 0; i < islands.run && begin + i < kOddElements; ++i) {
          expected[static_cast<size_t>(begin + i)] = device::IslandValue(islands, i);
        }
      }
      const std::vector<double> values = Values(0, t);
      for (size_t i = 0; i < values.size(); ++i) {
        if (expected[i] == 0) {
          ASSERT_LE(std::fabs(values[i]), t == kFloat ? 10 : 1024) << t << " element " << i;
        } else {
          ASSERT_NEAR(values[i], expected[i], 1e-4) << t << " element " << i;
        }
      }
    }
    const RandomDraw& draw = *workload_->generator(kInt64).random();
    const IntegerRange range = IntegersOf(v1::DTYPE_INT64, draw.recipe);
    const std::vector<double> wide = Values(0, kInt64);
    for (size_t i = 0; i < wide.size(); ++i) {
      const uint32_t random = device::PhiloxBlock(draw.key, i / 4, variant).v[i % 4];
      ASSERT_EQ(wide[i], static_cast<double>(device::IntegerIn(random, range.least, range.span)));
    }
    EXPECT_EQ(buffers_->ChangedInput({0, static_cast<int64_t>(variant)}), std::nullopt);
  }
}

// A judge reads a call's inputs on the host.
TEST_F(CudaBufferSetsTest, InputsOfACaseWithAJudgeAreTheHosts) {
  v1::Task task = EveryType(kOddElements);
  task.mutable_suite_rule()->set_rule(v1::SuiteRule::SAMPLES);
  task.mutable_tolerance()->set_judged_by_suite_rule(true);
  Make(task, 2);
  buffers_->Prepare({{0, 7}, {1, 8}}, 1);
  for (int t = 0; t < kTypeCount; ++t) {
    const int64_t bytes = Tensor(t).bytes;
    for (const int set : {0, 1}) {
      std::vector<std::byte> written(static_cast<size_t>(bytes));
      workload_->generator(t).Write(7 + set, written.data());
      EXPECT_TRUE(Shared(set, t).Read(0, bytes) == written) << t;
    }
  }
  EXPECT_EQ(buffers_->ChangedInput({0, 7}), std::nullopt);
  EXPECT_EQ(buffers_->ChangedInput({1, 8}), std::nullopt);
  EXPECT_THAT(buffers_->ChangedInput({1, 7}), Optional(std::string("in0")));
}

TEST_F(CudaBufferSetsTest, PreparedSetsAreIntactAndUnwritten) {
  Make(EveryType(kOddElements), 3);
  buffers_->Prepare({{2, 5}, {0, 6}}, 99);
  EXPECT_EQ(buffers_->ChangedInput({2, 5}), std::nullopt);
  EXPECT_EQ(buffers_->ChangedInput({0, 6}), std::nullopt);
  EXPECT_THAT(buffers_->ChangedInput({0, 5}), Optional(std::string("in0")));
  EXPECT_EQ(Findings(2, 99).unwritten, "out0");
  EXPECT_EQ(Findings(2, 99).broken_guard, "");
  // Poison of another salt: what is left to be called unwritten has too few bits to differ.
  EXPECT_NE(Findings(2, 98).unwritten, "out0");
}

TEST_F(CudaBufferSetsTest, NobodyFindsAnswersOfOthers) {
  Make(EveryType(kOddElements), 2);
  for (int o = 0; o < kTypeCount; ++o) {
    const auto bytes = static_cast<size_t>(Tensor(kTypeCount + o).bytes);
    const std::vector<std::byte> answer(bytes, std::byte{7});
    const View first = Shared(0, kTypeCount + o), second = Shared(1, kTypeCount + o);
    first.Write(0, answer);
    second.Write(0, answer);
    buffers_->Wipe({{1, 8}});
    EXPECT_EQ(first.Read(0, Tensor(kTypeCount + o).bytes), answer);
    EXPECT_NE(second.Read(0, Tensor(kTypeCount + o).bytes), answer);
    buffers_->Map(2);  // for the next runner
    EXPECT_NE(first.Read(0, Tensor(kTypeCount + o).bytes), answer);
  }
}

TEST_F(CudaBufferSetsTest, ManySetsAreFewPiecesOfMemory) {
  Make(EveryType(100), 192);
  EXPECT_EQ(packets_.size(), 11u);  // 1, 1, 2, 4, 8, 16, and 32 each
  EXPECT_EQ(buffers_->Map(1).size(), 1u);
  EXPECT_EQ(buffers_->Map(3).size(), 3u);
  int set = 0;
  for (const MapPacket& packet : packets_) {
    EXPECT_EQ(packet.fds.size(), 1u);
    EXPECT_EQ(packet.request.append(), set > 0);
    EXPECT_EQ(packet.request.buffers(0).set(), set);
    set += packet.request.buffers_size() / (2 * kTypeCount);
  }
  EXPECT_EQ(set, 192);
  buffers_->Prepare({{0, 3}, {100, 3}, {191, 3}}, 1);
  EXPECT_EQ(Values(0, 0), Values(191, 0));
  EXPECT_EQ(Values(100, 4), Values(191, 4));
  EXPECT_EQ(buffers_->ChangedInput({191, 3}), std::nullopt);
}

TEST_F(CudaBufferSetsTest, ARunnerFindsNoAnswersInSetsThatComeWithItsOwn) {
  Make(EveryType(kOddElements), 4);
  const View output = Shared(3, kTypeCount);
  const std::vector<std::byte> answer(static_cast<size_t>(Tensor(kTypeCount).bytes), std::byte{7});
  output.Write(0, answer);
  buffers_->Map(2);
  EXPECT_EQ(output.Read(0, Tensor(kTypeCount).bytes), answer);  // not seen by that runner
  buffers_->Map(3);                                             // in one piece of memory with set 3
  EXPECT_NE(output.Read(0, Tensor(kTypeCount).bytes), answer);
}

TEST_F(CudaBufferSetsTest, OneUnwrittenElementShows) {
  Make(EveryType(kOddElements), 1);
  constexpr uint64_t kSalt = 5;
  buffers_->Prepare({{0, 0}}, kSalt);
  std::vector<std::vector<std::byte>> poison;
  for (int o = 0; o < kTypeCount; ++o) {
    const View output = Shared(0, kTypeCount + o);
    poison.push_back(output.Read(0, Tensor(kTypeCount + o).bytes));
    output.Write(0, std::vector<std::byte>(poison.back().size(), std::byte{0}));
  }
  EXPECT_EQ(Findings(0, kSalt).unwritten, "");
  for (int o = 0; o < kTypeCount; ++o) {
    const View output = Shared(0, kTypeCount + o);
    const std::vector<std::byte>& old = poison[static_cast<size_t>(o)];
    const int64_t element = static_cast<int64_t>(old.size()) / kOddElements;
    const bool whole = !IsFloating(kTypes[o]) && kTypes[o] != v1::DTYPE_BOOL;
    for (const int64_t index : {int64_t{0}, int64_t{777}, kOddElements - 1}) {
      const auto first = old.begin() + index * element;
      output.Write(index * element, std::vector<std::byte>(first, first + element));
      EXPECT_EQ(Findings(0, kSalt).unwritten, whole ? "" : absl::StrCat("out", o)) << index;
      output.Write(index * element, std::vector<std::byte>(static_cast<size_t>(element)));
    }
    output.Write(0, old);
    EXPECT_EQ(Findings(0, kSalt).unwritten, absl::StrCat("out", o));
    output.Write(0, std::vector<std::byte>(old.size(), std::byte{0}));
  }
}

TEST_F(CudaBufferSetsTest, InputsThatComeLateAreCompleteInTheEnd) {
  Make(EveryType(kOddElements), 2);
  Rng rng(7);
  for (int64_t variant = 100; variant < 120; ++variant) {
    buffers_->Prepare({{1, variant}}, 3);
    const std::unique_ptr<LateInputs> late = buffers_->Withhold({1, variant}, &rng);
    ASSERT_NE(late, nullptr);
    EXPECT_TRUE(buffers_->ChangedInput({1, variant}).has_value());
    EXPECT_TRUE(buffers_->IsPending(1, 3));
    const auto start = std::chrono::steady_clock::now();
    late->Deliver();
    if (variant == 119) std::printf("delivered in %.3f ms\n", Milliseconds(start));
    EXPECT_EQ(buffers_->ChangedInput({1, variant}), std::nullopt);
    EXPECT_EQ(Findings(1, 3).broken_guard, "");
  }
}

TEST_F(CudaBufferSetsTest, ACallIsPendingUntilItsOutputsAreComplete) {
  Make(EveryType(kOddElements), 1);
  constexpr uint64_t kSalt = 5;
  buffers_->Prepare({{0, 0}}, kSalt);
  for (int o = 0; o < kTypeCount; ++o) {
    EXPECT_TRUE(buffers_->IsPending(0, kSalt)) << o;
    Shared(0, kTypeCount + o)
        .Write(0, std::vector<std::byte>(static_cast<size_t>(Tensor(kTypeCount + o).bytes)));
  }
  EXPECT_FALSE(buffers_->IsPending(0, kSalt));
}

TEST_F(CudaBufferSetsTest, WritesOutsideATensorShow) {
  Make(EveryType(kOddElements), 2);
  buffers_->Prepare({{0, 0}, {1, 1}}, 1);
  for (const int tensor : {0, 3, kTypeCount + 2, kTypeCount + 9}) {
    const View view = Shared(1, tensor);
    const TensorArgument& argument = Tensor(tensor);
    const int64_t last = view.area_bytes() - CudaBufferSets::kGuardBytes - 1;
    const std::pair<int64_t, std::string> places[] = {
        {-1, absl::StrCat("wrote 1 bytes before '", argument.name)},
        {-4096, absl::StrCat("wrote 4096 bytes before '", argument.name)},
        {argument.bytes, absl::StrCat("wrote 0 bytes past the end of '", argument.name)},
        {argument.bytes + 777, absl::StrCat("wrote 777 bytes past the end of '", argument.name)},
        {last, absl::StrCat("past the end of '", argument.name)}};
    for (const auto& [place, sentence] : places) {
      view.Flip(place);
      const std::vector<CallFindings> findings = buffers_->Collect({{0, 0}, {1, 1}}, 1);
      EXPECT_EQ(findings[0].broken_guard, "");
      EXPECT_THAT(findings[1].broken_guard, HasSubstr(sentence)) << place;
      view.Flip(place);
    }
  }
  Shared(1, 3).Flip(-9);
  buffers_->Map(2);  // the next runner starts with whole guards
  EXPECT_EQ(Findings(1, 1).broken_guard, "");
  EXPECT_EQ(buffers_->ChangedInput({1, 1}), std::nullopt);
}

TEST_F(CudaBufferSetsTest, AChangedInputShows) {
  Make(EveryType(kOddElements), 1);
  buffers_->Prepare({{0, 4}}, 1);
  for (int t = 0; t < kTypeCount; ++t) {
    const View view = Shared(0, t);
    for (const int64_t place : {int64_t{0}, int64_t{50'001}, Tensor(t).bytes - 1}) {
      view.Flip(place);
      EXPECT_THAT(buffers_->ChangedInput({0, 4}), Optional(absl::StrCat("in", t))) << place;
      view.Flip(place);
    }
  }
  EXPECT_EQ(buffers_->ChangedInput({0, 4}), std::nullopt);
}

TEST_F(CudaBufferSetsTest, InputsWithStructureAreDrawnOnTheHost) {
  v1::Task task;
  CHECK_OK(ParseTextproto(
      R"(name: "paged" device: DEVICE_CLASS_CUDA
         definition {
           name: "paged"
           axes { name: "len" } axes { name: "pages" } axes { name: "used" }
           inputs { name: "indptr" shape: "len" dtype: DTYPE_INT32 }
           inputs { name: "indices" shape: "used" dtype: DTYPE_INT32 }
           inputs { name: "x" shape: "used" dtype: DTYPE_BFLOAT16 }
           outputs { name: "y" shape: "len" dtype: DTYPE_FLOAT32 }
         }
         workloads {
           uuid: "w"
           axes { axis: "len" value: 65 } axes { axis: "pages" value: 200000 }
           axes { axis: "used" value: 145422 }
           inputs { input: "indptr" indptr { total_axis: "used" min_length: 1 } }
           inputs { input: "indices" page_indices { pool_axis: "pages" } }
           inputs { input: "x" random {} }
         })",
      "task", &task));
  Make(task, 2);
  buffers_->Prepare({{0, 3}, {1, 4}}, 1);
  for (int t = 0; t < 2; ++t) {
    EXPECT_TRUE(workload_->generator(t).Matches(3, Shared(0, t).Read(0, Tensor(t).bytes).data()));
    EXPECT_TRUE(workload_->generator(t).Matches(4, Shared(1, t).Read(0, Tensor(t).bytes).data()));
  }
  EXPECT_EQ(buffers_->ChangedInput({0, 3}), std::nullopt);
  Shared(0, 1).Flip(4 * 145'421);
  EXPECT_THAT(buffers_->ChangedInput({0, 3}), Optional(std::string("indices")));
}

// Tensors that a program of the task would make on the device: their bytes identify the variant.
class MadeThere final : public MadeInputs {
 public:
  explicit MadeThere(std::shared_ptr<VerifierDevice> device) : device_(std::move(device)) {}
  absl::StatusOr<std::shared_ptr<MadeVariants>> Open(
      std::shared_ptr<const WorkloadCase> maker) override {
    return std::make_shared<Variants>(device_, std::move(maker));
  }

 private:
  class Variants final : public MadeVariants {
   public:
    Variants(std::shared_ptr<VerifierDevice> device, std::shared_ptr<const WorkloadCase> maker)
        : device_(std::move(device)), maker_(std::move(maker)) {}
    std::shared_ptr<const MadeVariant> Get(int64_t variant) override {
      const OutputLayout layout(*maker_);
      const CudaBlock block = *AllocateCudaBlock(device_->api(), layout.bytes);
      CHECK_OK(CudaStatus(
          device_->api(),
          device_->api().cuMemsetD8Async(block.get(), static_cast<unsigned char>(variant),
                                         static_cast<size_t>(layout.bytes), device_->stream()),
          "fill"));
      return *DeviceOutputs::Copy(device_, *maker_, block.get());
    }

   private:
    const std::shared_ptr<VerifierDevice> device_;
    const std::shared_ptr<const WorkloadCase> maker_;
  };

  const std::shared_ptr<VerifierDevice> device_;
};

TEST_F(CudaBufferSetsTest, WhatAProgramMadeOnTheDeviceIsCopiedThere) {
  v1::Task task = EveryType(kOddElements);
  for (v1::InputRecipe& input : *task.mutable_workloads(0)->mutable_inputs()) input.mutable_made();
  MadeThere made(gpu_);
  workload_ = *WorkloadCase::Create(task, task.workloads(0), "sha", Seed{1, 2}, &made);
  buffers_ = *CudaBufferSets::Create(gpu_, workload_, 2);
  packets_ = buffers_->Map(2);
  buffers_->Prepare({{0, 3}, {1, 4}}, 1);
  for (int t = 0; t < kTypeCount; ++t) {
    for (const int set : {0, 1}) {
      EXPECT_THAT(Shared(set, t).Read(0, Tensor(t).bytes),
                  ::testing::Each(static_cast<std::byte>(3 + set)));
      EXPECT_NE(workload_->generator(t).MadeOnDevice(3).address, 0u);
    }
    const View view = Shared(0, t);
    for (const int64_t place : {int64_t{0}, int64_t{50'001}, Tensor(t).bytes - 1}) {
      view.Flip(place);
      EXPECT_THAT(buffers_->ChangedInput({0, 3}), Optional(absl::StrCat("in", t))) << place;
      view.Flip(place);
    }
    EXPECT_TRUE(workload_->generator(t).Matches(4, Shared(1, t).Read(0, Tensor(t).bytes).data()));
    EXPECT_FALSE(workload_->generator(t).Matches(3, Shared(1, t).Read(0, Tensor(t).bytes).data()));
  }
  EXPECT_EQ(buffers_->ChangedInput({0, 3}), std::nullopt);
}

TEST_F(CudaBufferSetsTest, TooLittleMemoryIsSaidAndSurvived) {
  const auto made = CudaBufferSets::Create(gpu_, CaseOf(EveryType(int64_t{1} << 36)), 1);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kResourceExhausted) << made.status();
  EXPECT_TRUE(gpu_->health().ok());
  Make(EveryType(1000), 1);
}

TEST_F(CudaBufferSetsTest, UnknownGpuIsNamed) {
  const auto made = VerifierDevice::Open("GPU-00000000-0000-0000-0000-000000000000");
  ASSERT_EQ(made.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr(gpu_->device().uuid()));
}

}  // namespace
}  // namespace ksearch
