// Every CPU task that is shipped refuses, through the real verifier and on every single workload,
// zeros, a copied input, the previous call's output and a truncated computation; and it accepts its
// own baseline. The programs of the shipped cassettes fare as those tell it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/identity.h"
#include "common/kernel_header.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "coordinator/tasks/directory_suite.h"
#include "gpu_worker/verifier/host/memfd_buffer_sets.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "tests/fakes/plain_sandbox.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

std::string SourcePath(const std::string& relative) {
  return absl::StrCat(std::getenv("KSEARCH_SOURCE_DIR"), "/", relative);
}

// One task with its trusted programs built, and a verifier with real runners but no sandbox.
class TaskBench {
 public:
  explicit TaskBench(const std::string& task_name)
      : starter_(sandbox_, absl::StrCat(std::getenv("KSEARCH_BIN_DIR"), "/ksearch-runner"), {},
                 Clock::Real()),
        bench_(starter_, MemfdBufferSets::Create, Clock::Real(), Options()) {
    std::string pattern = (fs::temp_directory_path() / "ksearch-admission-XXXXXX").string();
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    task_ = MakeDirectorySuite({SourcePath("configs/tasks")}).value()->Load(task_name).value();
    std::ofstream(folder_ / "ksearch_task.h")
        << KernelHeader(task_.definition(), task_.device()).value();
    const std::string task_folder = SourcePath("configs/tasks/cpu/" + task_name);
    reference_ = Build(task_folder + "/reference.cpp");
    baseline_ = Build(task_folder + "/baseline.cpp");
    EXPECT_NE(reference_.path(), "");
    EXPECT_NE(baseline_.path(), "");
  }
  ~TaskBench() { fs::remove_all(folder_); }

  const v1::Task& task() const { return task_; }
  const v1::Artifact& baseline() const { return baseline_; }

  // The built program; an empty path if it does not compile.
  v1::Artifact Build(const std::string& source) {
    v1::Artifact artifact;
    artifact.set_id(fs::path(source).stem().string());
    const std::string object = (folder_ / absl::StrCat(artifact.id(), ++builds_, ".so")).string();
    SubprocessOptions options;
    options.argv = {FindOnPath("g++").value(),
                    "-std=c++20",
                    "-O3",
                    "-march=native",
                    "-fPIC",
                    "-shared",
                    "-pthread",
                    "-o",
                    object,
                    source,
                    "-I" + folder_.string()};
    // Enough for the compiler to find its assembler and linker.
    options.environment["PATH"] = std::getenv("PATH");
    const absl::StatusOr<CommandOutput> output = RunCommand(options, absl::Minutes(1));
    EXPECT_TRUE(output.ok()) << output.status();
    if (!output.ok() || output->exit.code != 0) return artifact;
    artifact.set_path(object);
    artifact.set_sha256(Sha256Hex(ReadFile(object, int64_t{64} << 20).value()));
    return artifact;
  }

  v1::Verdict Judge(const v1::Artifact& candidate, v1::JobKind kind,
                    const std::vector<std::string>& workload_uuids) {
    v1::VerifierRequest request;
    request.set_request_id("admission");
    *request.mutable_task() = task_;
    request.set_task_sha256(TaskDigest(task_));
    request.mutable_job()->set_kind(kind);
    for (const std::string& uuid : workload_uuids) {
      request.mutable_job()->add_workload_uuids(uuid);
    }
    *request.mutable_job()->mutable_plan()->mutable_max_time_per_workload() =
        ToProto(absl::Milliseconds(20));
    *request.mutable_candidate() = candidate;
    *request.mutable_reference() = reference_;
    *request.mutable_baseline() = baseline_;
    JobVerifier verifier(bench_, [](const v1::VerifierReply::Progress&) {});
    absl::StatusOr<v1::Verdict> verdict = verifier.Verify(request);
    EXPECT_TRUE(verdict.ok()) << verdict.status();
    return verdict.ok() ? *std::move(verdict) : v1::Verdict();
  }

  std::vector<std::string> AllWorkloads() const {
    std::vector<std::string> uuids;
    for (const v1::Workload& workload : task_.workloads()) uuids.push_back(workload.uuid());
    return uuids;
  }

 private:
  // A small cache keeps the number of rotated buffer sets low.
  static Bench::Options Options() {
    Bench::Options options;
    options.last_level_cache_bytes = 1 << 20;
    return options;
  }

  PlainSandbox sandbox_;
  RunnerStarter starter_;
  Bench bench_;
  fs::path folder_;
  v1::Task task_;
  v1::Artifact reference_;
  v1::Artifact baseline_;
  int builds_ = 0;
};

class TaskAdmissionTest : public testing::TestWithParam<const char*> {};

TEST_P(TaskAdmissionTest, AcceptsItsBaselineOnEveryWorkload) {
  TaskBench bench(GetParam());
  const v1::Verdict verdict =
      bench.Judge(bench.baseline(), v1::JOB_KIND_CHECK, bench.AllWorkloads());
  EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), "OUTCOME_PASSED") << verdict.message();
  for (const v1::WorkloadResult& workload : verdict.workloads()) {
    EXPECT_LE(workload.correctness().rms_error_ratio(), 3) << workload.workload_uuid();
  }
}

// Other kinds of contents than the recipes', as a confirmation draws them: all on two workloads,
// some on the others. KSEARCH_HIDDEN_REPEATS=N: all on every workload, N times.
TEST_P(TaskAdmissionTest, ItsBaselineStandsHiddenCases) {
  TaskBench bench(GetParam());
  const auto stands = [&](const std::vector<std::string>& workloads) {
    // Without rivals nothing is timed.
    const v1::Verdict verdict = bench.Judge(bench.baseline(), v1::JOB_KIND_CONFIRM, workloads);
    EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), "OUTCOME_PASSED") << verdict.message();
  };
  stands(bench.AllWorkloads());
  const char* const repeats = std::getenv("KSEARCH_HIDDEN_REPEATS");
  for (int i = 0; repeats != nullptr && i < std::atoi(repeats); ++i) {
    for (const std::string& uuid : bench.AllWorkloads()) stands({uuid});
  }
}

TEST_P(TaskAdmissionTest, RefusesWrongResultsOnEveryWorkload) {
  TaskBench bench(GetParam());
  for (const char* cheat : {"zeros", "copied_input", "truncated"}) {
    const v1::Artifact candidate = bench.Build(
        SourcePath(absl::StrCat("tests/bad_candidates/cpu/", GetParam(), "/", cheat, ".cpp")));
    ASSERT_NE(candidate.path(), "") << cheat << " does not compile";
    for (const std::string& uuid : bench.AllWorkloads()) {
      const v1::Verdict verdict = bench.Judge(candidate, v1::JOB_KIND_CHECK, {uuid});
      EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), "OUTCOME_INCORRECT")
          << cheat << " on " << uuid;
    }
  }
}

// The first call is right, so this one is found out only by the calls that are timed.
TEST_P(TaskAdmissionTest, RefusesStaleResultsOnEveryWorkload) {
  TaskBench bench(GetParam());
  const v1::Artifact candidate =
      bench.Build(SourcePath(absl::StrCat("tests/bad_candidates/cpu/", GetParam(), "/stale.cpp")));
  ASSERT_NE(candidate.path(), "");
  for (const std::string& uuid : bench.AllWorkloads()) {
    const v1::Verdict verdict = bench.Judge(candidate, v1::JOB_KIND_SCREEN, {uuid});
    EXPECT_NE(v1::Outcome_Name(verdict.outcome()), "OUTCOME_PASSED") << uuid;
    EXPECT_NE(v1::Outcome_Name(verdict.outcome()), "OUTCOME_UNSPECIFIED") << uuid;
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, TaskAdmissionTest,
                         testing::Values("matmul_f32", "softmax_rows_f32", "fused_add_rmsnorm_f32",
                                         "gqa_paged_decode_f32"),
                         [](const auto& test) { return std::string(test.param); });

void ExpectFates(const std::string& task, const std::string& folder,
                 const std::map<std::string, std::string>& outcomes) {
  TaskBench bench(task);
  size_t programs = 0;
  for (const auto& entry : fs::directory_iterator(SourcePath(folder))) {
    if (entry.path().extension() != ".cpp") continue;
    ++programs;
    const std::string name = entry.path().stem().string();
    SCOPED_TRACE(name);
    const auto expected = outcomes.find(name);
    ASSERT_NE(expected, outcomes.end()) << "a program this test does not know";
    const v1::Artifact candidate = bench.Build(entry.path().string());
    if (candidate.path().empty()) {
      EXPECT_EQ(expected->second, "OUTCOME_COMPILE_ERROR");
      continue;
    }
    // As a confirmation checks it; without rivals nothing is timed.
    const v1::Verdict verdict = bench.Judge(candidate, v1::JOB_KIND_CONFIRM, bench.AllWorkloads());
    EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), expected->second) << verdict.message();
  }
  EXPECT_EQ(programs, outcomes.size());
}

TEST(CassetteProgramTest, DemoProgramsFareAsTold) {
  ExpectFates("matmul_f32", "configs/demo/matmul",
              {{"row_axpy", "OUTCOME_PASSED"},
               {"vectorized_no_right_edge", "OUTCOME_INCORRECT"},
               {"vectorized", "OUTCOME_PASSED"},
               {"register_tiled_no_include", "OUTCOME_COMPILE_ERROR"},
               {"register_tiled", "OUTCOME_PASSED"},
               {"threaded", "OUTCOME_PASSED"},
               {"transposed", "OUTCOME_PASSED"},
               {"transposed_vector", "OUTCOME_PASSED"},
               {"thread_rows", "OUTCOME_PASSED"},
               {"small_blocks", "OUTCOME_PASSED"},
               {"avx512_tile", "OUTCOME_COMPILE_ERROR"},
               {"avx512_tile_again", "OUTCOME_COMPILE_ERROR"}});
}

TEST(CassetteProgramTest, SoftmaxProgramsFareAsTold) {
  ExpectFates("softmax_rows_f32", "tests/integration/data/softmax",
              {{"plain", "OUTCOME_PASSED"},
               {"plain_and_wait", "OUTCOME_PASSED"},
               {"no_max", "OUTCOME_INCORRECT"},
               {"vector_exp", "OUTCOME_PASSED"},
               {"vector_exp_typo", "OUTCOME_COMPILE_ERROR"}});
}

}  // namespace
}  // namespace ksearch
