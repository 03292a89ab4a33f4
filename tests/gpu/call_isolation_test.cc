// A timed call is alone on the device: first separators and chains, then programs of the corpus
// that would gain from overlapping calls, screened and confirmed against the baseline by real
// runners in the real sandbox on a real GPU. Skips without a driver; the programs also need nvcc,
// bubblewrap and the folders. About 4 s per program.
//   KSEARCH_BIN_DIR=<folder of ksearch-runner> KSEARCH_CORPUS=<source>/tests/bad_candidates/cuda
//   KSEARCH_TASKS=<source>/configs/tasks KSEARCH_CUDA_HEADERS=<source>/gpu_worker/build/cuda
//   [KSEARCH_BWRAP=<bwrap>] gpu_call_isolation_test
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/identity.h"
#include "common/log.h"
#include "coordinator/tasks/directory_suite.h"
#include "gpu_worker/cuda/call_chain.h"
#include "gpu_worker/cuda/separators.h"
#include "gpu_worker/verifier/cuda/call_floor.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "tests/gpu/gpu_bench.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"

namespace ksearch {
namespace {

using ::testing::AllOf;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Lt;

class SeparatorsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto api = DriverApi::Load();
    if (!api.ok()) GTEST_SKIP() << api.status();
    auto device = CudaDevice::Open(*std::move(api), "");
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }
  const DriverApi& api() const { return device_->api(); }

  std::shared_ptr<const CudaDevice> device_;
};

TEST_F(SeparatorsTest, ACallThatDoesNothingTakesAFewMicroseconds) {
  for (int i = 0; i < 3; ++i) {
    const auto least = MeasureLeastCallMicros(*device_);
    ASSERT_TRUE(least.ok()) << least.status();
    std::printf("%s: least call %.3f us\n", device_->name().c_str(), *least);
    EXPECT_THAT(*least, AllOf(Gt(0.5), Lt(10)));
  }
}

TEST_F(SeparatorsTest, HoldingTheDeviceHoldsOtherStreamsToo) {
  auto separators = Separators::Create(*device_);
  ASSERT_TRUE(separators.ok()) << separators.status();
  const auto held = MakeCudaStream(api()), other = MakeCudaStream(api());
  ASSERT_TRUE(held.ok() && other.ok());
  ASSERT_EQ(separators->LaunchNothing(other->get()), CUDA_SUCCESS);
  ASSERT_EQ(api().cuCtxSynchronize(), CUDA_SUCCESS);
  ASSERT_EQ(separators->Hold(held->get(), 0), CUDA_SUCCESS);
  ASSERT_EQ(separators->Launch(held->get(), 1), CUDA_SUCCESS);
  // Waits until the held stream has the device.
  const absl::Time start = absl::Now();
  while (absl::Now() - start < absl::Microseconds(300)) {
  }
  ASSERT_EQ(separators->LaunchNothing(other->get()), CUDA_SUCCESS);
  while (absl::Now() - start < absl::Milliseconds(1)) {
  }
  EXPECT_EQ(api().cuStreamQuery(other->get()), CUDA_ERROR_NOT_READY);
  EXPECT_TRUE(separators->Release());
  EXPECT_EQ(api().cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(api().cuStreamQuery(other->get()), CUDA_SUCCESS);
  std::vector<uint64_t> stamps;
  ASSERT_EQ(separators->ReadStamps(2, &stamps), CUDA_SUCCESS);
  EXPECT_GT(stamps[1], stamps[0]);
}

TEST_F(SeparatorsTest, AHoldThatNobodyReleasesEndsByItself) {
  auto separators = Separators::Create(*device_);
  ASSERT_TRUE(separators.ok()) << separators.status();
  const auto stream = MakeCudaStream(api());
  ASSERT_TRUE(stream.ok());
  ASSERT_EQ(separators->Hold(stream->get(), 0), CUDA_SUCCESS);
  EXPECT_EQ(api().cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_FALSE(separators->Release());
}

GpuBench& TheBench() {
  static GpuBench* const bench = new GpuBench(GpuBench::Instruments::kNone);
  return *bench;
}

class CallIsolationTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const char* name : {"KSEARCH_CORPUS", "KSEARCH_TASKS", "KSEARCH_CUDA_HEADERS"}) {
      if (std::getenv(name) == nullptr) GTEST_SKIP() << name << " is not set";
    }
    if (!TheBench().why_not().empty()) GTEST_SKIP() << TheBench().why_not();
  }

  // Once for all tests.
  static v1::Artifact Build(const std::string& path) {
    static auto* const built = new std::map<std::string, v1::Artifact>;
    const auto found = built->find(path);
    if (found != built->end()) return found->second;
    auto artifact = TheBench().Build(path);
    CHECK_OK(artifact.status());
    return (*built)[path] = *std::move(artifact);
  }

  // Prints the result. *speedup: the geometric mean over workloads, 0 if there are none.
  static v1::Verdict Verify(v1::JobKind kind, const std::string& program, double* speedup) {
    auto suite = MakeDirectorySuite({std::getenv("KSEARCH_TASKS")});
    CHECK_OK(suite.status());
    auto task = (*suite)->Load("rmsnorm_bf16");
    CHECK_OK(task.status());
    CHECK_OK(TheBench().UseTask(*task));
    const std::string trusted = absl::StrCat(std::getenv("KSEARCH_TASKS"), "/cuda/rmsnorm_bf16/");
    v1::VerifierRequest request;
    *request.mutable_task() = *task;
    request.set_task_sha256(TaskDigest(*task));
    request.mutable_job()->set_kind(kind);
    for (const char* uuid : {"b1", "b997", "b8192"}) {
      request.mutable_job()->add_workload_uuids(uuid);
    }
    *request.mutable_candidate() =
        Build(absl::StrCat(std::getenv("KSEARCH_CORPUS"), "/", program, ".cu"));
    *request.mutable_reference() = Build(absl::StrCat(trusted, "reference.cu"));
    *request.mutable_baseline() = Build(absl::StrCat(trusted, "baseline.cu"));
    if (kind == v1::JOB_KIND_CONFIRM) {
      request.mutable_job()->add_rivals()->set_rival_id("baseline");
      *request.add_rivals() = request.baseline();
    }
    JobVerifier verifier(TheBench().bench(), [](const v1::VerifierReply::Progress&) {});
    const absl::Time start = absl::Now();
    const auto verdict = verifier.Verify(request);
    CHECK_OK(verdict.status());
    std::printf("%s %s: %s in %.1f s: %s\n", program.c_str(), v1::JobKind_Name(kind).c_str(),
                v1::Outcome_Name(verdict->outcome()).c_str(),
                absl::ToDoubleSeconds(absl::Now() - start), verdict->message().c_str());
    double logs = 0;
    int count = 0;
    for (const v1::WorkloadResult& workload : verdict->workloads()) {
      const double ours = workload.candidate().median_us();
      const double theirs = workload.baseline().median_us();
      std::printf("  %s: %s %.3f us, baseline %.3f us, audit %.3f, floor %.2f, sets %d\n",
                  workload.workload_uuid().c_str(), workload.timing().c_str(), ours, theirs,
                  workload.audit_ratio(), workload.floor_us(), workload.buffer_sets());
      if (!(ours > 0 && theirs > 0)) continue;
      logs += std::log(theirs / ours);
      ++count;
    }
    for (const v1::Comparison& comparison : verdict->comparisons()) {
      std::printf("  %s: %+.4f [%+.4f, %+.4f]\n",
                  v1::Comparison::Verdict_Name(comparison.verdict()).c_str(),
                  comparison.log_speedup(), comparison.ci_low(), comparison.ci_high());
      for (const auto& workload : comparison.workloads()) {
        std::printf("    %s: %.3f us, baseline %.3f us\n", workload.workload_uuid().c_str(),
                    workload.candidate_median_us(), workload.rival_median_us());
      }
    }
    std::fflush(stdout);
    *speedup = count == 0 ? 0 : std::exp(logs / count);
    return *verdict;
  }
};

// All of them do the baseline's arithmetic, so only overlapping calls could make them faster.
class AttackTest : public CallIsolationTest {};

TEST_P(AttackTest, GainsNothingWhenScreened) {
  double speedup = 0;
  const v1::Verdict verdict = Verify(v1::JOB_KIND_SCREEN, GetParam(), &speedup);
  if (verdict.outcome() == v1::OUTCOME_PASSED) {
    EXPECT_LT(speedup, 1.1);
  }
}

TEST_P(AttackTest, IsNotConfirmed) {
  double speedup = 0;
  const v1::Verdict verdict = Verify(v1::JOB_KIND_CONFIRM, GetParam(), &speedup);
  for (const v1::Comparison& comparison : verdict.comparisons()) {
    if (verdict.outcome() != v1::OUTCOME_PASSED) break;
    EXPECT_NE(comparison.verdict(), v1::Comparison::IMPROVED);
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, AttackTest,
                         ::testing::Values("merged_recording", "merged_later_recording",
                                           "early_dependent_launch", "early_side_stream",
                                           "ungated_stream", "computes_ahead",
                                           "patched_function_table", "patched_synchronize"));

class HonestProgramTest : public CallIsolationTest {};

TEST_P(HonestProgramTest, PassesScreeningAndConfirmation) {
  double speedup = 0;
  for (const v1::JobKind kind : {v1::JOB_KIND_SCREEN, v1::JOB_KIND_CONFIRM}) {
    const v1::Verdict verdict = Verify(kind, GetParam(), &speedup);
    EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
    EXPECT_THAT(verdict.suspicions(), IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, HonestProgramTest,
                         ::testing::Values("honest_dependent_launch", "honest_streams",
                                           "honest_clusters", "honest_cooperative",
                                           "honest_vectorized", "honest_graph"));

}  // namespace
}  // namespace ksearch
