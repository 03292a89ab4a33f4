// A node without a GPU: a worker that only builds CUDA candidates, and what people get wrong on the
// way to a CUDA worker. Needs nvcc, no GPU.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "proto/result.pb.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kConfigError = 3;
constexpr int kNoCandidate = 7;

class CudaBuildTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!FindOnPath("nvcc").ok() && !FindOnPath("/usr/local/cuda/bin/nvcc").ok()) {
      GTEST_SKIP() << "there is no nvcc";
    }
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = cluster_.folder() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  // A coordinator and a worker with two slots that only builds.
  void StartBuilder() {
    cluster_.StartCoordinator();
    cluster_.StartWorker("builder", {"--config", kBuildConfig, "--slots", "2"});
  }
  CommandOutput Build(const std::string& task, const std::string& path,
                      const std::string& architecture, std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"eval", "--build-only",   "--task",
                                     task,   "--architecture", architecture};
    args.insert(args.end(), more.begin(), more.end());
    args.push_back(path);
    return cluster_.Cli(args);
  }
  // Starts a worker that must refuse to start.
  CommandOutput StartFaulty(const std::string& config) {
    return RunProgram(
        {cluster_.BinaryPath("ksearch-worker"), "--config", Write("faulty.textproto", config),
         "--coordinator", "127.0.0.1:9", "--state-dir", cluster_.folder() + "/faulty"},
        absl::Minutes(2));
  }

  const std::string kBuildConfig = LocalCluster::SourcePath("configs/worker_build.textproto");
  LocalCluster cluster_;
};

struct Order {
  const char* task;
  const char* architecture;
  CommandOutput output;
};

TEST_F(CudaBuildTest, SlotsBuildSideBySideForBothArchitectures) {
  StartBuilder();
  std::vector<Order> orders = {{"rmsnorm_bf16", "sm_90a", {}},
                               {"rmsnorm_bf16", "sm_100a", {}},
                               {"gqa_paged_decode", "sm_90a", {}},
                               {"gqa_paged_decode", "sm_100a", {}}};
  std::vector<std::thread> callers;
  for (Order& order : orders) {
    callers.emplace_back([this, &order] {
      order.output = Build(
          order.task,
          LocalCluster::SourcePath(absl::StrCat("configs/tasks/cuda/", order.task, "/baseline.cu")),
          order.architecture, {"--json"});
    });
  }
  for (std::thread& caller : callers) caller.join();
  std::vector<std::pair<absl::Time, absl::Time>> spans;
  for (const Order& order : orders) {
    SCOPED_TRACE(absl::StrCat(order.task, " for ", order.architecture));
    EXPECT_EQ(order.output.exit.code, 0) << order.output.err;
    const auto result = FromJson<v1::JobResult>(order.output.out);
    EXPECT_EQ(result.outcome(), v1::OUTCOME_PASSED);
    EXPECT_EQ(result.build().architecture(), order.architecture);
    ASSERT_GE(result.build().kernels_size(), 1);
    for (const v1::KernelFacts& kernel : result.build().kernels()) {
      EXPECT_GT(kernel.registers(), 0) << kernel.name();
    }
    const absl::Time end = FromProto(result.finished_at());
    spans.emplace_back(end - FromProto(result.stage_times().total()), end);
  }
  bool overlap = false;
  for (size_t i = 0; i < spans.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      overlap |= spans[i].first < spans[j].second && spans[j].first < spans[i].second;
    }
  }
  EXPECT_TRUE(overlap) << "two slots, but one build after another";
}

TEST_F(CudaBuildTest, WhatIsWrongWithACandidateIsItsOutcomeAndTheWorkerStays) {
  StartBuilder();
  const std::string head = "#include \"ksearch_task.h\"\n";
  const std::string entry =
      "extern \"C\" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {";
  const struct {
    std::string source;
    testing::Matcher<std::string> says;
  } cases[] = {
      {head,
       HasSubstr("compile_error: the entry is missing: define extern \"C\" int ksearch_run(")},
      {head + "extern \"C\" int ksearch_run(float* x) { return 0; }\n",
       AllOf(HasSubstr("compile_error: kernel.cu:2: "), HasSubstr("the entry must be: extern"))},
      {std::string(300 << 10, '\n'),
       AllOf(HasSubstr("invalid_source: "), HasSubstr("bytes; at most 262144"))},
      {head + entry + " return nothing; }\n", HasSubstr("compile_error: kernel.cu:2: ")},
  };
  for (const auto& [source, says] : cases) {
    const CommandOutput output = Build("rmsnorm_bf16", Write("kernel.cu", source), "sm_90a");
    EXPECT_EQ(output.exit.code, kNoCandidate) << output.err;
    EXPECT_THAT(output.out, says);
  }
  const CommandOutput output =
      Build("rmsnorm_bf16",
            Write("kernel.cu", head + "__global__ void k(int* p) { p[0] = 1 / 0; }\n" + entry +
                                   "\n  k<<<1, 1, 0, stream>>>(nullptr);\n  return 0;\n}\n"),
            "sm_90a");
  EXPECT_EQ(output.exit.code, 0) << output.err;
  EXPECT_THAT(output.out, AllOf(HasSubstr("kernel.cu:2: warning: division by zero"),
                                HasSubstr("kernels for sm_90a:"), HasSubstr("registers")));
  EXPECT_TRUE(cluster_.Running("builder"));
}

TEST_F(CudaBuildTest, WhatNoWorkerCanDoIsSaid) {
  StartBuilder();
  const std::string baseline =
      LocalCluster::SourcePath("configs/tasks/cuda/rmsnorm_bf16/baseline.cu");
  CommandOutput output = Build("rmsnorm_bf16", baseline, "hopper");
  EXPECT_EQ(output.exit.code, kConfigError);
  EXPECT_THAT(output.err, AllOf(HasSubstr("'hopper'"), HasSubstr("write sm_90a")));
  output = Build("rmsnorm_bf16", baseline, "sm_999");
  EXPECT_EQ(output.exit.code, kConfigError);
  EXPECT_THAT(output.err, HasSubstr("can build cuda candidates for sm_999"));
  output = cluster_.Cli({"eval", "--task", "rmsnorm_bf16", baseline});
  EXPECT_EQ(output.exit.code, kConfigError);
  EXPECT_THAT(output.err, HasSubstr("can judge cuda candidates"));
  EXPECT_TRUE(cluster_.Running("builder"));
}

TEST_F(CudaBuildTest, FaultyConfigurationsEndTheWorkerWithTheReason) {
  const std::string toolchain =
      "compile_only: true\ndevice { device_class: DEVICE_CLASS_CUDA }\n"
      "toolchains { language: LANGUAGE_CUDA ";
  const struct {
    std::string config;
    testing::Matcher<std::string> says;
  } cases[] = {
      {toolchain + "compiler_path: \"/no/such/nvcc\" }",
       AllOf(HasSubstr("compiler_path"), HasSubstr("/no/such/nvcc"))},
      {toolchain + "host_compiler_path: \"/no/such/g++\" }",
       AllOf(HasSubstr("host_compiler_path"), HasSubstr("/no/such/g++"))},
      {toolchain + "host_compiler_path: \"/usr/bin/true\" }",
       HasSubstr("cannot build an empty kernel")},
      {toolchain + "architecture: \"sm_1\" }",
       AllOf(HasSubstr("architecture 'sm_1'"), HasSubstr("it knows"), HasSubstr("sm_90a"))},
  };
  for (const auto& [config, says] : cases) {
    const CommandOutput output = StartFaulty(config);
    EXPECT_EQ(output.exit.code, kConfigError) << config << "\n" << output.err;
    EXPECT_THAT(output.err, says);
  }
}

TEST_F(CudaBuildTest, WithoutADriverAWorkerForGpusSaysWhatToInstall) {
  if (void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY); driver != nullptr) {
    ::dlclose(driver);
    GTEST_SKIP() << "this machine has a driver";
  }
  const CommandOutput output = StartFaulty(
      "device { device_class: DEVICE_CLASS_CUDA gpus: \"all\" }\n"
      "toolchains { language: LANGUAGE_CUDA }\n");
  EXPECT_EQ(output.exit.code, kConfigError);
  EXPECT_THAT(output.err, testing::AnyOf(AllOf(HasSubstr("no NVIDIA driver"), HasSubstr("install"),
                                               HasSubstr("--compile-only")),
                                         HasSubstr("built without CUDA")));
}

}  // namespace
}  // namespace ksearch
