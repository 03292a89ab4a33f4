// Tests the steps that only confirmations and profiles have, in the real sandbox on a real GPU:
// hidden cases, compute-sanitizer and ncu, with programs of the corpus and the baselines of all
// tasks. Skips without a driver, nvcc or bubblewrap. About 5 s per program, longer for the large
// tasks; select tests with --gtest_filter.
//   KSEARCH_BIN_DIR=<folder of ksearch-runner> KSEARCH_CORPUS=<source>/tests/bad_candidates/cuda
//   KSEARCH_TASKS=<source>/configs/tasks KSEARCH_CUDA_HEADERS=<source>/gpu_worker/build/cuda
//   [KSEARCH_BWRAP=<bwrap>] gpu_instruments_test
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/textproto.h"
#include "coordinator/tasks/directory_suite.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "tests/gpu/gpu_bench.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"

namespace ksearch {
namespace {

using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

GpuBench& TheBench() {
  static GpuBench* const bench = new GpuBench(GpuBench::Instruments::kThoseThere);
  return *bench;
}

class InstrumentsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"KSEARCH_CORPUS", "KSEARCH_TASKS", "KSEARCH_CUDA_HEADERS"}) {
      if (std::getenv(name) == nullptr) GTEST_SKIP() << name << " is not set";
    }
    if (!TheBench().why_not().empty()) GTEST_SKIP() << TheBench().why_not();
  }

  static v1::Task Load(const std::string& name) {
    auto suite = MakeDirectorySuite({std::getenv("KSEARCH_TASKS")});
    CHECK_OK(suite.status());
    auto task = (*suite)->Load(name);
    CHECK_OK(task.status());
    CHECK_OK(TheBench().UseTask(*task));
    return *std::move(task);
  }
  // The findings on a program of the corpus.
  static std::string TaskOf(const std::string& program) {
    const bool gemm = program.find("gemm") != std::string::npos || program == "honest_split_k";
    return gemm ? "gemm_bf16" : "rmsnorm_bf16";
  }
  static v1::Artifact Build(const std::string& path) {
    auto artifact = TheBench().Build(path);
    CHECK_OK(artifact.status());
    return *std::move(artifact);
  }
  static std::string Corpus(const std::string& program) {
    return absl::StrCat(std::getenv("KSEARCH_CORPUS"), "/", program, ".cu");
  }
  static std::string Trusted(const std::string& task, const std::string& which) {
    return absl::StrCat(std::getenv("KSEARCH_TASKS"), "/cuda/", task, "/", which, ".cu");
  }

  static v1::Verdict Verify(v1::JobKind kind, const v1::Task& task,
                            const std::vector<std::string>& workloads,
                            const v1::Artifact& candidate, const v1::Artifact& reference,
                            const v1::Artifact* delayed = nullptr) {
    v1::VerifierRequest request;
    *request.mutable_task() = task;
    request.set_task_sha256(TaskDigest(task));
    request.mutable_job()->set_kind(kind);
    for (const std::string& uuid : workloads) request.mutable_job()->add_workload_uuids(uuid);
    *request.mutable_candidate() = candidate;
    *request.mutable_reference() = reference;
    if (delayed != nullptr) *request.mutable_delayed() = *delayed;
    JobVerifier verifier(TheBench().bench(), [](const v1::VerifierReply::Progress&) {});
    const absl::Time start = Clock::Real().SteadyNow();
    const auto verdict = verifier.Verify(request);
    CHECK_OK(verdict.status());
    std::printf("%s %s: %s %.2f s, sanitizer %.2f s tools=%d %s; %s\n", task.name().c_str(),
                candidate.id().c_str(), v1::Outcome_Name(verdict->outcome()).c_str(),
                absl::ToDoubleSeconds(Clock::Real().SteadyNow() - start),
                absl::ToDoubleSeconds(FromProto(verdict->sanitizer().time())),
                verdict->sanitizer().tools_size(), verdict->sanitizer().note().c_str(),
                verdict->message().c_str());
    for (const v1::SanitizerFinding& finding : verdict->sanitizer().findings()) {
      std::printf("  %s\n", finding.ShortDebugString().c_str());
    }
    if (verdict->sanitizer().has_delayed_runs()) {
      std::printf("  %s\n", verdict->sanitizer().delayed_runs().ShortDebugString().c_str());
    }
    std::fflush(stdout);
    return *verdict;
  }
  // A confirmation without rivals: the gate, hidden cases and compute-sanitizer; nothing is timed.
  static v1::Verdict Confirm(const std::string& program) {
    const v1::Task task = Load(TaskOf(program));
    const std::vector<std::string> workloads =
        task.name() == "gemm_bf16" ? std::vector<std::string>{"m1", "m16", "m128"}
                                   : std::vector<std::string>{"b1", "b997", "b8192"};
    const auto delayed = TheBench().BuildDelayed(Corpus(program));
    CHECK_OK(delayed.status());
    return Verify(v1::JOB_KIND_CONFIRM, task, workloads, Build(Corpus(program)),
                  Build(Trusted(task.name(), "reference")), &*delayed);
  }
};

class HonestProgramTest : public InstrumentsTest,
                          public ::testing::WithParamInterface<const char*> {};

TEST_P(HonestProgramTest, StandsAConfirmation) {
  const v1::Verdict verdict = Confirm(GetParam());
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  if (!TheBench().bench().sanitizer().ok()) return;
  EXPECT_EQ(verdict.sanitizer().tools_size(), 3);
  EXPECT_THAT(verdict.sanitizer().note(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Corpus, HonestProgramTest,
    ::testing::Values("honest_plain", "honest_bulk_copy", "honest_cp_async", "honest_gemm",
                      "honest_split_k", "honest_graph", "honest_cooperative",
                      "honest_dependent_launch", "honest_persistent", "honest_own_memory",
                      "honest_static_scratch", "honest_streams", "honest_vectorized",
                      "honest_bf16_intermediate", "honest_early_out", "honest_arrive",
                      "honest_bulk_pipeline", "honest_cluster", "honest_copy_groups",
                      "honest_counting_barrier", "honest_half_blocks", "honest_two_buffers",
                      "honest_two_places", "honest_warp_arrivals"));

struct Bad {
  const char* name;
  v1::Outcome outcome;
  const char* message;
};
class BadProgramTest : public InstrumentsTest, public ::testing::WithParamInterface<Bad> {};

TEST_P(BadProgramTest, IsFoundOut) {
  const v1::Verdict verdict = Confirm(GetParam().name);
  EXPECT_EQ(verdict.outcome(), GetParam().outcome);
  EXPECT_THAT(verdict.message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Corpus, BadProgramTest,
    ::testing::Values(
        Bad{"reads_past_the_end", v1::OUTCOME_OUT_OF_BOUNDS, "compute-sanitizer memcheck: Invalid"},
        Bad{"racing_sum", v1::OUTCOME_INCORRECT, "second witness: with random delays"},
        Bad{"racing_cluster", v1::OUTCOME_INCORRECT, "second witness: with random delays"},
        Bad{"racing_half_barrier", v1::OUTCOME_INCORRECT, "second witness: with random delays"},
        Bad{"racing_missing_barrier", v1::OUTCOME_INCORRECT, "second witness: with random delays"},
        Bad{"racing_parity", v1::OUTCOME_INCORRECT, "second witness: with random delays"},
        Bad{"unwritten_scratch", v1::OUTCOME_INCORRECT, "hidden case 'unwritten workspace'"}));

// A false alarm of racecheck, and a race that delays hide.
TEST_F(InstrumentsTest, AToolAloneRefusesNothing) {
  if (!TheBench().bench().sanitizer().ok()) GTEST_SKIP() << "there is no compute-sanitizer";
  for (const char* program : {"honest_arrive", "racing_copy"}) {
    const v1::Verdict verdict = Confirm(program);
    EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
    EXPECT_EQ(verdict.sanitizer().delayed_runs().label(), "race_reported") << program;
  }
}

class BaselineTest : public InstrumentsTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(BaselineTest, StandsAConfirmationOnEveryWorkload) {
  const v1::Task task = Load(GetParam());
  std::vector<std::string> workloads;
  for (const v1::Workload& workload : task.workloads()) workloads.push_back(workload.uuid());
  const v1::Verdict verdict =
      Verify(v1::JOB_KIND_CONFIRM, task, workloads, Build(Trusted(task.name(), "baseline")),
             Build(Trusted(task.name(), "reference")));
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
}

INSTANTIATE_TEST_SUITE_P(Tasks, BaselineTest,
                         ::testing::Values("rmsnorm_bf16", "gemm_bf16", "gqa_paged_decode",
                                           "mla_paged_decode", "mla_paged_prefill", "trimul",
                                           "trimul_upstream", "moe_fp8_block_scale"));

TEST_F(InstrumentsTest, AProfileOfOneCall) {
  if (!TheBench().bench().profiler().ok()) {
    GTEST_SKIP() << TheBench().bench().profiler().status();
  }
  for (const char* name : {"honest_plain", "honest_gemm"}) {
    const v1::Task task = Load(TaskOf(name));
    const v1::Artifact program = Build(Corpus(name));
    const v1::Verdict verdict =
        Verify(v1::JOB_KIND_PROFILE, task, {TaskOf(name) == "gemm_bf16" ? "m128" : "b64"}, program,
               program);
    const v1::Profile& profile = verdict.profile();
    std::printf("%s\n", profile.DebugString().substr(0, 2500).c_str());
    EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED);
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
