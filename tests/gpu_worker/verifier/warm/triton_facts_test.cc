// Uses cubins that nvcc makes; skipped without nvcc.
#include "gpu_worker/verifier/warm/triton_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "gpu_worker/build/cuda/cubin_facts.h"
#include "gpu_worker/build/cuda/ptxas_report.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

constexpr char kKernels[] = R"(
extern "C" __global__ void small(float* p) {
  __shared__ float tile[64];
  tile[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = tile[63 - threadIdx.x];
}
extern "C" __global__ void large(float* p, int n) {
  float kept[200];
  for (int i = 0; i < 200; ++i) kept[i] = p[i * n];
  for (int i = 0; i < n; ++i) kept[(i * 7) % 200] *= kept[i % 200];
  for (int i = 0; i < 200; ++i) p[i * n] = kept[i];
}
)";

class TritonFactsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    char name[] = "/tmp/ksearch-cubin.XXXXXX";
    folder_ = ::mkdtemp(name);
    std::ofstream(folder_ + "/k.cu") << kKernels;
    const auto on_path = FindOnPath("nvcc");
    SubprocessOptions options;
    options.argv = {on_path.ok() ? *on_path : "/usr/local/cuda/bin/nvcc",
                    "-cubin",
                    "-arch=sm_90",
                    "-Xptxas=-v",
                    "-o",
                    folder_ + "/k.cubin",
                    folder_ + "/k.cu"};
    options.environment = {{"PATH", "/usr/local/cuda/bin:/usr/bin:/bin"}};
    const auto made = RunCommand(std::move(options), absl::Minutes(2));
    if (!made.ok() || made->exit.code != 0) return;
    ptxas_ = ReadPtxasReport(made->err + made->out);
    cubin_ = ReadFile(folder_ + "/k.cubin", 1 << 20).value_or("");
  }
  static void TearDownTestSuite() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  void SetUp() override {
    if (cubin_.empty()) GTEST_SKIP() << "no nvcc";
  }

  static std::string folder_, cubin_;
  static PtxasReport ptxas_;
};

std::string TritonFactsTest::folder_;
std::string TritonFactsTest::cubin_;
PtxasReport TritonFactsTest::ptxas_;

TEST_F(TritonFactsTest, ACubinSaysWhatPtxasSaid) {
  const std::vector<v1::KernelFacts> read = ReadCubin(cubin_);
  ASSERT_EQ(read.size(), 2u);
  ASSERT_EQ(ptxas_.kernels.size(), 2u);
  for (const v1::KernelFacts& kernel : read) {
    bool found = false;
    for (const PtxasKernel& said : ptxas_.kernels) {
      if (said.facts.name() != kernel.name()) continue;
      found = true;
      EXPECT_EQ(kernel.registers(), said.facts.registers()) << kernel.name();
      EXPECT_EQ(kernel.stack_bytes(), said.facts.stack_bytes()) << kernel.name();
    }
    EXPECT_TRUE(found) << kernel.name();
    EXPECT_GT(kernel.registers(), 0);
    EXPECT_EQ(kernel.stack_bytes() > 0, kernel.name() == "large");
    EXPECT_EQ(kernel.static_shared_bytes() >= 256, kernel.name() == "small");
  }
}

TEST_F(TritonFactsTest, BytesThatAreNoCubinHaveNoKernels) {
  EXPECT_TRUE(ReadCubin("").empty());
  EXPECT_TRUE(ReadCubin("\177ELF").empty());
  for (size_t bytes = 0; bytes < cubin_.size(); bytes += 7) ReadCubin(cubin_.substr(0, bytes));
  std::string broken = cubin_;
  for (size_t i = 16; i < 64; ++i) broken[i] = '\xff';
  EXPECT_TRUE(ReadCubin(broken).empty());
}

TEST_F(TritonFactsTest, WhatLiesBesideACubinTellsOfItsLaunch) {
  const std::string cache = folder_ + "/cache";
  for (const char* key : {"one", "two", "three"}) {
    fs::create_directories(absl::StrCat(cache, "/triton/", key));
    fs::copy_file(folder_ + "/k.cubin", absl::StrCat(cache, "/triton/", key, "/k.cubin"));
  }
  const std::string json = R"({"hash": "x", "num_warps": 8, "num_ctas": 1, "shared": 49152})";
  std::ofstream(cache + "/triton/one/k.json") << json;
  std::ofstream(cache + "/triton/two/k.json") << json;
  std::ofstream(cache + "/triton/three/k.json") << R"({"num_warps": 4000000000000, "shared": -1})";
  fs::create_symlink(cache + "/triton/one/k.cubin", cache + "/triton/link.cubin");
  const std::vector<v1::KernelFacts> facts = TritonFacts(cache);
  // Two kernels: each appears once as in "one" and "two", and once as in "three".
  ASSERT_EQ(facts.size(), 4u);
  int described = 0;
  for (const v1::KernelFacts& kernel : facts) {
    if (kernel.warps() == 0) {
      EXPECT_EQ(kernel.dynamic_shared_bytes(), 0);
      continue;
    }
    ++described;
    EXPECT_EQ(kernel.warps(), 8);
    EXPECT_EQ(kernel.dynamic_shared_bytes(), 49152);
    EXPECT_EQ(kernel.static_shared_bytes(), 0);
  }
  EXPECT_EQ(described, 2);
}

}  // namespace
}  // namespace ksearch
