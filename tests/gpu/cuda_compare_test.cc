// Comparing on a GPU, and how long it and the rest take; skips without a driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>

#include "common/rng.h"
#include "gpu_worker/verifier/host/host_outputs.h"
#include "gpu_worker/verifier/tensors/compare.h"
#include "tests/gpu/cuda_buffer_sets_fixture.h"

namespace ksearch {
namespace {

using CudaCompareTest = CudaBufferSetsFixture;

std::vector<std::byte> RandomElements(v1::DType dtype, const std::vector<std::byte>* near,
                                      Rng* rng) {
  const int64_t bytes = near == nullptr ? 0 : static_cast<int64_t>(near->size()) / kOddElements;
  std::vector<std::byte> out;
  for (int64_t i = 0; i < kOddElements; ++i) {
    double value = IsFloating(dtype) ? rng->NextDouble() * 8 - 4
                                     : static_cast<double>(rng->NextBelow(100)) - 50;
    if (near != nullptr && rng->NextBelow(100) != 0) {
      value = DecodeElement(dtype, near->data() + i * bytes) * (1 + 0.04 * rng->NextDouble());
    }
    if (IsFloating(dtype) && rng->NextBelow(500) == 0) {
      constexpr double kOdd[] = {std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN(), 0.0};
      value = kOdd[rng->NextBelow(4)];
    }
    std::byte element[8] = {};
    EncodeElement(dtype, value, element);
    const int64_t width =
        dtype == v1::DTYPE_INT64                                                                ? 8
        : dtype == v1::DTYPE_FLOAT32 || dtype == v1::DTYPE_INT32                                ? 4
        : dtype == v1::DTYPE_FLOAT16 || dtype == v1::DTYPE_BFLOAT16 || dtype == v1::DTYPE_INT16 ? 2
                                                                                                : 1;
    out.insert(out.end(), element, element + width);
  }
  return out;
}

TEST_F(CudaCompareTest, ComparesAsTheHostDoes) {
  Make(EveryType(kOddElements), 2);
  Rng rng(11);
  std::vector<std::vector<std::byte>> oracle, got;
  for (int o = 0; o < kTypeCount; ++o) {
    oracle.push_back(RandomElements(kTypes[o], nullptr, &rng));
    got.push_back(RandomElements(kTypes[o], &oracle.back(), &rng));
    Shared(0, kTypeCount + o).Write(0, oracle.back());
    Shared(1, kTypeCount + o).Write(0, got.back());
  }
  const std::vector<CallFindings> findings = buffers_->Collect({{0, 0}, {1, 1}}, 1);
  EXPECT_NE(findings[0].fingerprint, findings[1].fingerprint);
  const std::shared_ptr<const SavedOutputs> saved = *buffers_->Save(0);
  const std::shared_ptr<const SavedOutputs> other = *buffers_->Save(1);
  // Values written after the calls were collected do not count.
  for (int o = 0; o < kTypeCount; ++o) {
    Shared(1, kTypeCount + o).Write(0, std::vector<std::byte>(got[static_cast<size_t>(o)].size()));
  }
  const HostOutputs host_oracle(oracle), host_got(got);
  const std::vector<TensorComparison> expected = host_got.CompareWith(*workload_, host_oracle);
  for (const auto& compared :
       {buffers_->Compare(1, *saved), other->CompareWith(*workload_, *saved)}) {
    ASSERT_EQ(compared.size(), expected.size());
    for (size_t o = 0; o < expected.size(); ++o) {
      SCOPED_TRACE(absl::StrCat("type ", o));
      EXPECT_GT(expected[o].wrong, 0);
      EXPECT_EQ(compared[o].wrong, expected[o].wrong);
      EXPECT_EQ(compared[o].first_wrong, expected[o].first_wrong);
      EXPECT_EQ(compared[o].wrong_non_finite, expected[o].wrong_non_finite);
      const auto same = [](double a, double b) {
        return a == b || (std::isnan(a) && std::isnan(b));
      };
      EXPECT_TRUE(same(compared[o].first_got, expected[o].first_got));
      EXPECT_TRUE(same(compared[o].first_expected, expected[o].first_expected));
      EXPECT_EQ(compared[o].max_abs, expected[o].max_abs);
      EXPECT_EQ(compared[o].max_rel, expected[o].max_rel);
      EXPECT_NEAR(compared[o].error_squares, expected[o].error_squares,
                  1e-9 * expected[o].error_squares);
      EXPECT_NEAR(compared[o].oracle_squares, expected[o].oracle_squares,
                  1e-9 * expected[o].oracle_squares);
    }
  }
  EXPECT_EQ(OutputWithNan(*workload_, *saved), OutputWithNan(*workload_, host_oracle));
  EXPECT_EQ(JudgeOutputs(*workload_, buffers_->Compare(1, *saved)).message,
            JudgeOutputs(*workload_, expected).message);
  EXPECT_TRUE(JudgeOutputs(*workload_, saved->CompareWith(*workload_, *other)).right == false);
}

TEST_F(CudaCompareTest, SpeedOnALargeWorkload) {
  const absl::StatusOr<double> bandwidth = gpu_->MeasureCopyBandwidth();
  ASSERT_TRUE(bandwidth.ok()) << bandwidth.status();
  std::printf("%s %s: copy bandwidth %.0f GB/s\n", gpu_->device().name().c_str(),
              gpu_->device().architecture().c_str(), *bandwidth / 1e9);
  // K and V of GQA decode at 145422 tokens: 2 x 149 MB of bf16, with q and the output.
  v1::Task task;
  CHECK_OK(ParseTextproto(
      R"(name: "decode" device: DEVICE_CLASS_CUDA
         definition {
           name: "decode"
           axes { name: "kv" } axes { name: "q" }
           inputs { name: "k" shape: "kv" dtype: DTYPE_BFLOAT16 }
           inputs { name: "v" shape: "kv" dtype: DTYPE_BFLOAT16 }
           inputs { name: "x" shape: "q" dtype: DTYPE_BFLOAT16 }
           outputs { name: "y" shape: "q" dtype: DTYPE_BFLOAT16 }
         }
         workloads {
           uuid: "w"
           axes { axis: "kv" value: 74456064 } axes { axis: "q" value: 262144 }
           inputs { input: "k" random {} }
           inputs { input: "v" random {} }
           inputs { input: "x" random {} }
         })",
      "task", &task));
  auto start = std::chrono::steady_clock::now();
  Make(task, 2);
  std::printf("300 MB, 2 sets: allocate and map %.2f ms\n", Milliseconds(start));
  for (int round = 0; round < 3; ++round) {
    start = std::chrono::steady_clock::now();
    buffers_->Prepare({{0, round}}, 1);
    const double prepare = Milliseconds(start);
    start = std::chrono::steady_clock::now();
    buffers_->Collect({{0, round}}, 1);
    const double collect = Milliseconds(start);
    start = std::chrono::steady_clock::now();
    EXPECT_EQ(buffers_->ChangedInput({0, round}), std::nullopt);
    const double changed = Milliseconds(start);
    start = std::chrono::steady_clock::now();
    const std::shared_ptr<const SavedOutputs> saved = *buffers_->Save(0);
    const double save = Milliseconds(start);
    start = std::chrono::steady_clock::now();
    buffers_->Compare(0, *saved);
    std::printf(
        "300 MB, 1 call: prepare %.3f ms, collect %.3f ms, inputs checked %.3f ms, outputs saved "
        "%.3f ms, compared %.3f ms\n",
        prepare, collect, changed, save, Milliseconds(start));
    if (round > 0) {
      EXPECT_LT(prepare, 20);
    }
  }
  start = std::chrono::steady_clock::now();
  Make(EveryType(kOddElements), 64);
  std::printf("64 sets of 20 tensors: allocate and map %.2f ms\n", Milliseconds(start));
  std::vector<FilledSet> calls;
  for (int set = 0; set < 64; ++set) calls.push_back({set, set});
  for (int round = 0; round < 3; ++round) {
    start = std::chrono::steady_clock::now();
    buffers_->Prepare(calls, 1);
    const double prepare = Milliseconds(start);
    start = std::chrono::steady_clock::now();
    buffers_->Collect(calls, 1);
    std::printf("64 calls of 20 tensors: prepare %.3f ms, collect %.3f ms\n", prepare,
                Milliseconds(start));
  }
  // 1.6 GB of float32, as one output of a large pair-wise task.
  Make(EveryType(100), 1);
  const absl::StatusOr<CudaBlock> large = AllocateCudaBlock(gpu_->api(), int64_t{3} << 30);
  ASSERT_TRUE(large.ok()) << large.status();
  CHECK_OK(
      CudaStatus(gpu_->api(), gpu_->api().cuMemsetD8(large->get(), 1, size_t{3} << 30), "fill"));
  for (int round = 0; round < 2; ++round) {
    start = std::chrono::steady_clock::now();
    const TensorComparison compared =
        gpu_->Compare(v1::DTYPE_FLOAT32, large->get(), large->get() + (CUdeviceptr{3} << 29),
                      int64_t{3} << 27, workload_->tolerance(), workload_->suite_rule());
    EXPECT_EQ(compared.wrong, 0);
    std::printf("1.6 GB of float32 compared in %.3f ms\n", Milliseconds(start));
  }
}

}  // namespace
}  // namespace ksearch
