// Traces the system calls that the honest programs of the corpus, and the driver on their behalf,
// make under the tight filter in the real sandbox on a real GPU. Started by
// tests/gpu/trace_system_calls.sh. Fails if a program does not pass; calls that a list would refuse
// are recorded in the file and do not fail the test.
//   KSEARCH_CALLS=<file to append to> KSEARCH_BIN_DIR=<folder of ksearch-runner and
//   ksearch-system-call-tracer> KSEARCH_CORPUS=<source>/tests/bad_candidates/cuda
//   KSEARCH_TASKS=<source>/configs/tasks KSEARCH_CUDA_HEADERS=<source>/gpu_worker/build/cuda
//   [KSEARCH_ONLY=<part of a name>] [KSEARCH_GPU_FILTER=deny-list|log|allow-list]
//   [KSEARCH_BWRAP=<bwrap>] gpu_honest_calls_test
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/log.h"
#include "coordinator/tasks/directory_suite.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "tests/gpu/gpu_bench.h"
#include "tests/gpu/system_calls/tracing_sandbox.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"

namespace ksearch {
namespace {

// Opened before the test drops root, because the file may belong to another account.
const int kCalls = [] {
  const char* const path = std::getenv("KSEARCH_CALLS");
  return path == nullptr ? -1 : ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}();

// Honest programs of the corpus and their tasks.
std::map<std::string, std::string> HonestPrograms() {
  std::ifstream table(absl::StrCat(std::getenv("KSEARCH_CORPUS"), "/corpus.txt"));
  const char* const only = std::getenv("KSEARCH_ONLY");
  std::map<std::string, std::string> programs;
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string name, task, expected;
    if (!(words >> name >> task >> expected) || expected != "HONEST") continue;
    if (only == nullptr || absl::StrContains(name, only)) programs[name] = task;
  }
  return programs;
}

class HonestCallsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"KSEARCH_CALLS", "KSEARCH_CORPUS", "KSEARCH_TASKS", "KSEARCH_CUDA_HEADERS"}) {
      if (std::getenv(name) == nullptr) GTEST_SKIP() << name << " is not set";
    }
    ASSERT_GE(kCalls, 0) << "KSEARCH_CALLS cannot be opened";
    bench_ = std::make_unique<GpuBench>(
        GpuBench::Instruments::kNone, [](std::unique_ptr<Sandbox> sandbox) {
          return std::make_unique<TracingSandbox>(
              std::move(sandbox), CopiedProgram("ksearch-system-call-tracer"), "gpu-driver",
              UniqueFd(::fcntl(kCalls, F_DUPFD_CLOEXEC, 0)));
        });
    if (!bench_->why_not().empty()) GTEST_SKIP() << bench_->why_not();
  }

  v1::Artifact Build(const std::string& path) {
    auto artifact = bench_->Build(path);
    CHECK_OK(artifact.status());
    return *std::move(artifact);
  }

  void Judge(const v1::VerifierRequest& request) {
    JobVerifier verifier(bench_->bench(), [](const v1::VerifierReply::Progress&) {});
    const auto verdict = verifier.Verify(request);
    CHECK_OK(verdict.status());
    std::printf("%s %s: %s %s\n", request.candidate().id().c_str(),
                v1::JobKind_Name(request.job().kind()).c_str(),
                v1::Outcome_Name(verdict->outcome()).c_str(), verdict->message().c_str());
    std::fflush(stdout);
    EXPECT_TRUE(verdict->isolation().tight_seccomp());
    EXPECT_EQ(verdict->outcome(), v1::OUTCOME_PASSED)
        << request.candidate().id() << ": " << verdict->message();
  }

  std::unique_ptr<GpuBench> bench_;
};

TEST_F(HonestCallsTest, AreTraced) {
  const std::map<std::string, std::string> programs = HonestPrograms();
  ASSERT_FALSE(programs.empty());
  const std::string tasks = std::getenv("KSEARCH_TASKS");
  auto suite = MakeDirectorySuite({tasks});
  CHECK_OK(suite.status());
  for (const std::string task_name : {"rmsnorm_bf16", "gemm_bf16"}) {
    auto task = (*suite)->Load(task_name);
    CHECK_OK(task.status());
    CHECK_OK(bench_->UseTask(*task));
    const std::string folder = absl::StrCat(tasks, "/cuda/", task_name, "/");
    const v1::Artifact reference = Build(folder + "reference.cu");
    const v1::Artifact baseline = Build(folder + "baseline.cu");
    bool compared = false;
    for (const auto& [name, its_task] : programs) {
      if (its_task != task_name) continue;
      v1::VerifierRequest request;
      request.set_request_id("calls");
      *request.mutable_task() = *task;
      request.set_task_sha256(TaskDigest(*task));
      request.mutable_job()->set_kind(v1::JOB_KIND_SCREEN);
      // A small workload, whose calls are replayed from recordings, and a large one.
      for (const char* uuid : {"b1", "b8192", "m1", "m128"}) {
        const bool here = FindWorkload(*task, uuid).ok();
        if (here) request.mutable_job()->add_workload_uuids(uuid);
      }
      *request.mutable_candidate() =
          Build(absl::StrCat(std::getenv("KSEARCH_CORPUS"), "/", name, ".cu"));
      *request.mutable_reference() = reference;
      *request.mutable_baseline() = baseline;
      Judge(request);
      // The steps that only confirmations have; once, because they are slow under a tracer.
      if (std::exchange(compared, true)) continue;
      request.mutable_job()->set_kind(v1::JOB_KIND_CONFIRM);
      request.mutable_job()->add_rivals()->set_rival_id("baseline");
      *request.add_rivals() = baseline;
      request.clear_baseline();
      Judge(request);
    }
  }
}

}  // namespace
}  // namespace ksearch
