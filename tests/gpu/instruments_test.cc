// compute-sanitizer and ncu around real runners in the real sandbox on a real GPU, with programs of
// tests/bad_candidates/cuda. Skips without a driver, nvcc, bubblewrap or the tool; about a minute.
//   KSEARCH_BIN_DIR=<folder of ksearch-runner> KSEARCH_MUSEUM=<source>/tests/bad_candidates/cuda
//   KSEARCH_CUDA_HEADERS=<source>/gpu_worker/build/cuda [KSEARCH_BWRAP=<bwrap>]
//   gpu_instruments_test
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/measure_defaults.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/instruments/instrumented_run.h"
#include "gpu_worker/verifier/instruments/memory_check.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "tests/gpu/gpu_bench.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"

namespace ksearch {
namespace {

using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// What the programs of the museum expect; workloads of its first and of a small one.
constexpr char kRmsNorm[] = R"(
  name: "rmsnorm_bf16" device: DEVICE_CLASS_CUDA
  definition {
    name: "rmsnorm_bf16" op_type: "rmsnorm"
    axes { name: "batch_size" } axes { name: "hidden_size" const_value: 4096 }
    inputs { name: "hidden_states" shape: "batch_size" shape: "hidden_size" dtype: DTYPE_BFLOAT16 }
    inputs { name: "weight" shape: "hidden_size" dtype: DTYPE_BFLOAT16 }
    outputs { name: "output" shape: "batch_size" shape: "hidden_size" dtype: DTYPE_BFLOAT16 }
  }
  tolerance { atol: 1e-2 rtol: 1e-2 }
  workloads {
    uuid: "b7" axes { axis: "batch_size" value: 7 }
    inputs { input: "hidden_states" random {} } inputs { input: "weight" random {} }
  }
)";
constexpr char kGemm[] = R"(
  name: "gemm_bf16" device: DEVICE_CLASS_CUDA
  definition {
    name: "gemm_bf16" op_type: "gemm"
    axes { name: "M" } axes { name: "N" const_value: 4096 } axes { name: "K" const_value: 4096 }
    inputs { name: "A" shape: "M" shape: "K" dtype: DTYPE_BFLOAT16 }
    inputs { name: "B" shape: "N" shape: "K" dtype: DTYPE_BFLOAT16 }
    outputs { name: "C" shape: "M" shape: "N" dtype: DTYPE_BFLOAT16 }
  }
  tolerance { atol: 1e-2 rtol: 1e-2 }
  workloads {
    uuid: "m16" axes { axis: "M" value: 16 }
    inputs { input: "A" random {} } inputs { input: "B" random { scale: 0.015625 } }
  }
)";

class InstrumentsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("KSEARCH_MUSEUM") == nullptr) GTEST_SKIP() << "KSEARCH_MUSEUM is not set";
    if (!GpuBench::Get().why_not().empty()) GTEST_SKIP() << GpuBench::Get().why_not();
  }

  static v1::Task TaskOf(const std::string& name) {
    v1::Task task;
    const bool gemm = name.find("gemm") != std::string::npos || name == "honest_split_k";
    CHECK_OK(ParseTextproto(gemm ? kGemm : kRmsNorm, "task", &task));
    return task;
  }

  // Of a program of the museum.
  static MemoryCheck CheckOne(const std::string& name) {
    GpuBench& gpu = GpuBench::Get();
    const v1::Task task = TaskOf(name);
    CHECK_OK(gpu.UseTask(task));
    const auto artifact = gpu.Build(absl::StrCat(std::getenv("KSEARCH_MUSEUM"), "/", name, ".cu"));
    CHECK_OK(artifact.status());
    const auto image = ProgramImage::Open(*artifact);
    CHECK_OK(image.status());
    const auto workload =
        WorkloadCase::Create(task, task.workloads(0), TaskDigest(task), Seed::Fresh());
    CHECK_OK(workload.status());
    const auto check = CheckMemory(gpu.bench(), *gpu.bench().sanitizer(), *image, *workload,
                                   WithDefaults(v1::Limits()));
    CHECK_OK(check.status());
    std::printf("CHECK %s: %s %.2f s tools=%d note=%s %s\n", name.c_str(),
                v1::Outcome_Name(check->ending.outcome).c_str(),
                absl::ToDoubleSeconds(FromProto(check->report.time())), check->report.tools_size(),
                check->report.note().c_str(), check->ending.message.c_str());
    for (const v1::SanitizerFinding& finding : check->report.findings()) {
      std::printf("  %s\n", finding.ShortDebugString().c_str());
    }
    std::fflush(stdout);
    return *check;
  }
};

class HonestProgramTest : public InstrumentsTest,
                          public ::testing::WithParamInterface<const char*> {};

TEST_P(HonestProgramTest, IsLeftAlone) {
  if (!GpuBench::Get().bench().sanitizer().ok()) {
    GTEST_SKIP() << GpuBench::Get().bench().sanitizer().status();
  }
  const MemoryCheck check = CheckOne(GetParam());
  EXPECT_TRUE(check.ending.passed()) << check.ending.message;
  EXPECT_EQ(check.report.tools_size(), 3);
  EXPECT_THAT(check.report.note(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Museum, HonestProgramTest,
                         ::testing::Values("honest_plain", "honest_bulk_copy", "honest_cp_async",
                                           "honest_gemm", "honest_split_k", "honest_graph",
                                           "honest_cooperative", "honest_dependent_launch",
                                           "honest_persistent", "honest_own_memory",
                                           "honest_static_scratch", "honest_streams",
                                           "honest_vectorized", "honest_bf16_intermediate",
                                           "honest_early_out"));

struct Bad {
  const char* name;
  v1::Outcome outcome;
};
class BadProgramTest : public InstrumentsTest, public ::testing::WithParamInterface<Bad> {};

TEST_P(BadProgramTest, IsFoundOut) {
  if (!GpuBench::Get().bench().sanitizer().ok()) {
    GTEST_SKIP() << GpuBench::Get().bench().sanitizer().status();
  }
  EXPECT_EQ(CheckOne(GetParam().name).ending.outcome, GetParam().outcome);
}

INSTANTIATE_TEST_SUITE_P(Museum, BadProgramTest,
                         ::testing::Values(Bad{"reads_past_the_end", v1::OUTCOME_OUT_OF_BOUNDS},
                                           Bad{"racing_sum", v1::OUTCOME_INCORRECT}));

TEST_F(InstrumentsTest, AProfileOfOneCall) {
  GpuBench& gpu = GpuBench::Get();
  if (!gpu.bench().profiler().ok()) GTEST_SKIP() << gpu.bench().profiler().status();
  for (const char* name : {"honest_plain", "honest_gemm"}) {
    const v1::Task task = TaskOf(name);
    CHECK_OK(gpu.UseTask(task));
    const auto artifact = gpu.Build(absl::StrCat(std::getenv("KSEARCH_MUSEUM"), "/", name, ".cu"));
    CHECK_OK(artifact.status());
    v1::VerifierRequest request;
    *request.mutable_task() = task;
    request.set_task_sha256(TaskDigest(task));
    request.mutable_job()->set_kind(v1::JOB_KIND_PROFILE);
    request.mutable_job()->add_workload_uuids(task.workloads(0).uuid());
    *request.mutable_candidate() = *artifact;
    JobVerifier verifier(gpu.bench(), [](const v1::VerifierReply::Progress&) {});
    const absl::Time start = Clock::Real().SteadyNow();
    const auto verdict = verifier.Verify(request);
    CHECK_OK(verdict.status());
    const v1::Profile& profile = verdict->profile();
    std::printf("PROFILE %s %.2f s: %s\n", name,
                absl::ToDoubleSeconds(Clock::Real().SteadyNow() - start),
                profile.DebugString().substr(0, 2500).c_str());
    EXPECT_EQ(verdict->outcome(), v1::OUTCOME_PASSED);
    if (profile.absence() == v1::Profile::NOT_PERMITTED) {
      EXPECT_THAT(profile.note(), Not(IsEmpty()));
      continue;
    }
    ASSERT_THAT(profile.kernels(), SizeIs(1)) << profile.note();
    EXPECT_THAT(profile.kernels(0).duration_us(), Gt(0.5));
  }
}

}  // namespace
}  // namespace ksearch
