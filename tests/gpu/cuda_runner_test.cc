// Real runners in the real sandbox on a real GPU, with candidates that nvcc builds here. Skips
// without a driver, nvcc or bubblewrap. If started as root, it first becomes an ordinary account.
//   KSEARCH_BIN_DIR=<folder of ksearch-runner> [KSEARCH_BWRAP=<bwrap>] gpu_cuda_runner_test
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "tests/gpu/cuda_candidates.h"
#include "tests/gpu/gpu_bench.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"

namespace ksearch {
namespace {

using ::testing::AllOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;

constexpr char kTask[] = R"(
  name: "scale" device: DEVICE_CLASS_CUDA
  definition {
    name: "scale" op_type: "elementwise"
    axes { name: "n" }
    inputs { name: "x" shape: "n" dtype: DTYPE_FLOAT32 }
    outputs { name: "y" shape: "n" dtype: DTYPE_FLOAT32 }
  }
  tolerance { atol: 1e-5 rtol: 1e-5 }
  workloads { uuid: "short" axes { axis: "n" value: 100003 } inputs { input: "x" random {} } }
  workloads { uuid: "five_us" axes { axis: "n" value: 600003 } inputs { input: "x" random {} } }
  workloads { uuid: "mid" axes { axis: "n" value: 6000003 } inputs { input: "x" random {} } }
  workloads { uuid: "large" axes { axis: "n" value: 20000003 } inputs { input: "x" random {} } }
  workloads { uuid: "long" axes { axis: "n" value: 60000001 } inputs { input: "x" random {} } }
  workloads { uuid: "huge" axes { axis: "n" value: 480000001 } inputs { input: "x" random {} } }
  work { bytes: "8 * n" }
)";

// One verifier for all tests, as a worker has one for all jobs.
class Lab {
 public:
  static Lab& Get() {
    static Lab* const lab = new Lab;
    return *lab;
  }
  const std::string& why_not() const { return why_not_; }

  v1::Artifact Build(const std::string& name, const std::string& body, bool raw = false) {
    const std::string path = absl::StrCat(ScratchFolder(), "/", name, ".cu");
    std::ofstream(path) << (raw ? "" : kScale) << body;
    const absl::StatusOr<v1::Artifact> built = bench_.Build(path);
    EXPECT_TRUE(built.ok()) << built.status();
    return built.value_or(v1::Artifact());
  }

  v1::VerifierRequest Request(v1::JobKind kind, const v1::Artifact& candidate,
                              const std::vector<std::string>& workloads) {
    v1::VerifierRequest request;
    request.set_request_id("test");
    *request.mutable_task() = task_;
    request.set_task_sha256(TaskDigest(task_));
    v1::JobSpec* job = request.mutable_job();
    job->set_kind(kind);
    for (const std::string& workload : workloads) job->add_workload_uuids(workload);
    *job->mutable_limits()->mutable_call_time() = ToProto(absl::Seconds(1));
    *request.mutable_candidate() = candidate;
    *request.mutable_reference() = reference_;
    if (kind != v1::JOB_KIND_CHECK) *request.mutable_baseline() = reference_;
    return request;
  }
  v1::Verdict Verify(const v1::VerifierRequest& request) {
    JobVerifier verifier(bench_.bench(), [](const v1::VerifierReply::Progress&) {});
    const absl::Time start = Clock::Real().SteadyNow();
    absl::StatusOr<v1::Verdict> verdict = verifier.Verify(request);
    EXPECT_TRUE(verdict.ok()) << verdict.status();
    if (!verdict.ok()) return v1::Verdict();
    std::printf("%s: %s in %.2f s: %s\n", request.candidate().id().c_str(),
                v1::Outcome_Name(verdict->outcome()).c_str(),
                absl::ToDoubleSeconds(Clock::Real().SteadyNow() - start),
                verdict->message().c_str());
    for (const v1::WorkloadResult& workload : verdict->workloads()) {
      std::printf(
          "  %s: %s n=%d median=%.3f us [%.3f, %.3f] baseline=%.3f host=%.2f audit=%.3f "
          "floor=%.2f clock=%.0f sets=%d\n",
          workload.workload_uuid().c_str(), workload.timing().c_str(),
          workload.candidate().latency_us_size(), workload.candidate().median_us(),
          workload.candidate().ci_low_us(), workload.candidate().ci_high_us(),
          workload.baseline().median_us(), workload.host_us(), workload.audit_ratio(),
          workload.floor_us(), workload.sm_clock_mhz(), workload.buffer_sets());
    }
    if (!verdict->stderr_excerpt().empty()) {
      std::printf("  it printed: %s\n", verdict->stderr_excerpt().c_str());
    }
    return *std::move(verdict);
  }
  const v1::Artifact& reference() const { return reference_; }
  Bench& bench() { return bench_.bench(); }
  // The workload "short" with inputs of this seed.
  std::shared_ptr<const WorkloadCase> Case(const Seed& seed) {
    return *bench().Case(task_, TaskDigest(task_), task_.workloads(0), seed);
  }

 private:
  Lab() {
    const absl::Status opened = Open();
    if (!opened.ok()) why_not_ = std::string(opened.message());
  }

  absl::Status Open() {
    if (!bench_.why_not().empty()) return absl::NotFoundError(bench_.why_not());
    RETURN_IF_ERROR(ParseTextproto(kTask, "task", &task_));
    RETURN_IF_ERROR(bench_.UseTask(task_));
    reference_ = Build("reference", kHonest);
    return absl::OkStatus();
  }

  GpuBench bench_{GpuBench::Instruments::kNone};
  std::string why_not_;
  v1::Task task_;
  v1::Artifact reference_;
};

class CudaRunnerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Lab::Get().why_not().empty()) GTEST_SKIP() << Lab::Get().why_not();
  }
  static v1::Verdict Run(v1::JobKind kind, const std::string& name, const char* body,
                         const std::vector<std::string>& workloads = {"short"}) {
    Lab& lab = Lab::Get();
    return lab.Verify(lab.Request(kind, lab.Build(name, body), workloads));
  }
};

TEST_F(CudaRunnerTest, AnHonestProgramIsRightAndTimed) {
  const v1::Verdict verdict = Run(v1::JOB_KIND_SCREEN, "honest", kHonest, {"short", "long"});
  ASSERT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_THAT(verdict.suspicions(), IsEmpty());
  EXPECT_TRUE(verdict.isolation().tight_seccomp());
  EXPECT_EQ(verdict.workloads(0).timing(), "graph");
  EXPECT_EQ(verdict.workloads(1).timing(), "graph");
  for (const v1::WorkloadResult& workload : verdict.workloads()) {
    // Against itself.
    EXPECT_NEAR(workload.candidate().median_us() / workload.baseline().median_us(), 1, 0.1);
    EXPECT_THAT(workload.audit_ratio(), AllOf(Gt(0.9), Lt(1.5)));
  }
}

TEST_F(CudaRunnerTest, AKnownTimeIsFound) {
  const v1::Verdict hundred = Run(v1::JOB_KIND_SCREEN, "wait100", kWait100);
  ASSERT_EQ(hundred.outcome(), v1::OUTCOME_PASSED) << hundred.message();
  EXPECT_EQ(hundred.workloads(0).timing(), "graph");
  EXPECT_THAT(hundred.workloads(0).candidate().median_us(), AllOf(Gt(99), Lt(108)));
  EXPECT_THAT(hundred.workloads(0).audit_ratio(), AllOf(Gt(0.95), Lt(1.15)));
  const v1::Verdict ten = Run(v1::JOB_KIND_SCREEN, "wait10", kWait10);
  ASSERT_EQ(ten.outcome(), v1::OUTCOME_PASSED) << ten.message();
  EXPECT_EQ(ten.workloads(0).timing(), "graph");
  EXPECT_THAT(ten.workloads(0).candidate().median_us(), AllOf(Gt(9.9), Lt(14)));
}

TEST_F(CudaRunnerTest, FailuresHaveTheDriversWords) {
  v1::Verdict verdict = Run(v1::JOB_KIND_CHECK, "illegal_address", kIllegalAddress);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_RUNTIME_ERROR);
  EXPECT_THAT(verdict.message(), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  verdict = Run(v1::JOB_KIND_CHECK, "nonzero", kNonzero);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_RUNTIME_ERROR);
  EXPECT_THAT(verdict.message(), HasSubstr("ksearch_run returned 7"));
  verdict = Run(v1::JOB_KIND_CHECK, "bad_launch", kBadLaunch);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_RUNTIME_ERROR);
  EXPECT_THAT(verdict.message(), HasSubstr("CUDA_ERROR_INVALID_VALUE"));
  verdict = Run(v1::JOB_KIND_CHECK, "beyond_workspace", kBeyondWorkspace);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_RUNTIME_ERROR);
  EXPECT_THAT(verdict.message(), HasSubstr("CUDA_ERROR"));
  verdict = Run(v1::JOB_KIND_CHECK, "huge_workspace", kHugeWorkspace);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_RESOURCE_LIMIT);
  Lab& lab = Lab::Get();
  verdict =
      lab.Verify(lab.Request(v1::JOB_KIND_CHECK, lab.Build("no_entry", kNoEntry, true), {"short"}));
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_LOAD_ERROR);
  EXPECT_THAT(verdict.message(), HasSubstr("cudaStream_t"));
}

TEST_F(CudaRunnerTest, AKernelThatSpinsForEverIsKilledAndTheDeviceGoesOn) {
  const v1::Verdict verdict = Run(v1::JOB_KIND_CHECK, "spin", kSpin);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_TIMEOUT);
  EXPECT_EQ(Run(v1::JOB_KIND_CHECK, "after_spin", kHonest).outcome(), v1::OUTCOME_PASSED);
}

TEST_F(CudaRunnerTest, HonestProgramsMayUseWhatCudaOffers) {
  for (const auto& [name, body] : {std::pair{"own_memory", kOwnMemory},
                                   {"own_stream", kOwnStream},
                                   {"own_graph", kOwnGraph},
                                   {"workspace", kWorkspace},
                                   {"default_stream", kDefaultStream}}) {
    const v1::Verdict verdict = Run(v1::JOB_KIND_SCREEN, name, body);
    EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << name << ": " << verdict.message();
    EXPECT_THAT(verdict.suspicions(), IsEmpty()) << name;
  }
}

TEST_F(CudaRunnerTest, TheSandboxHolds) {
  EXPECT_EQ(Run(v1::JOB_KIND_CHECK, "socket", kSocket).outcome(), v1::OUTCOME_PASSED);
  for (const auto& [name, body] : {std::pair{"exec", kExec}, {"ptrace", kPtrace}}) {
    const v1::Verdict verdict = Run(v1::JOB_KIND_CHECK, name, body);
    EXPECT_EQ(verdict.outcome(), v1::OUTCOME_RUNTIME_ERROR) << name;
    EXPECT_THAT(verdict.message(), HasSubstr("SIGSYS")) << name;
  }
}

TEST_F(CudaRunnerTest, WorkOnAStreamOfItsOwnDoesNotEscapeTheClock) {
  const v1::Verdict verdict = Run(v1::JOB_KIND_SCREEN, "foreign_stream", kForeignStream);
  // The call cannot be recorded. The separators wait for it, so that its 100 us are measured.
  ASSERT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_EQ(verdict.workloads(0).timing(), "events");
  EXPECT_THAT(verdict.workloads(0).candidate().median_us(), AllOf(Gt(99), Lt(108)));
}

TEST_F(CudaRunnerTest, AConfirmationTellsFasterFromEqual) {
  Lab& lab = Lab::Get();
  const auto confirm = [&](const v1::Artifact& candidate, const v1::Artifact& rival) {
    v1::VerifierRequest request = lab.Request(v1::JOB_KIND_CONFIRM, candidate, {"short", "long"});
    request.mutable_job()->add_rivals()->set_rival_id("baseline");
    *request.add_rivals() = rival;
    const v1::Verdict verdict = lab.Verify(request);
    EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
    if (verdict.comparisons().empty()) return v1::Comparison::VERDICT_UNSPECIFIED;
    const v1::Comparison& comparison = verdict.comparisons(0);
    std::printf("  %s: %+.4f [%+.4f, %+.4f]\n",
                v1::Comparison::Verdict_Name(comparison.verdict()).c_str(),
                comparison.log_speedup(), comparison.ci_low(), comparison.ci_high());
    return comparison.verdict();
  };
  const v1::Artifact slower = lab.Build("wait100", kWait100);
  EXPECT_NE(confirm(lab.reference(), lab.reference()), v1::Comparison::IMPROVED);
  EXPECT_EQ(confirm(lab.reference(), slower), v1::Comparison::IMPROVED);
}

TEST_F(CudaRunnerTest, ABatchOfAnotherCaseDoesNotSpoilRecordedCalls) {
  Lab& lab = Lab::Get();
  const ProgramImage program = *ProgramImage::Open(lab.reference());
  const std::unique_ptr<RunnerLink> link =
      *lab.bench().starter().Start(program, RunnerStarter::TrustedLimits());
  ASSERT_TRUE(link->Load(program, absl::InfiniteFuture()).passed());
  constexpr int kSets = 3;
  const std::shared_ptr<const WorkloadCase> workload = lab.Case(Seed{1, 1});
  WorkloadSession session(*link, workload, *lab.bench().Buffers(workload, kSets, "test"),
                          Clock::Real(), 1);
  const WorkloadSession::Limits limits = {absl::Seconds(10), absl::InfiniteFuture()};
  ASSERT_TRUE(session.Map(kSets, limits).passed());
  const WorkloadSession::Recording recorded = session.Record({0, 1, 2}, 0, limits);
  ASSERT_TRUE(recorded.ending.passed() && recorded.reason.empty()) << recorded.reason;
  const WorkloadSession::BatchForm replay = {v1::BatchRequest::REPLAY, 0, true};
  int64_t variant = 100;
  const auto calls = [&](const std::vector<int>& sets) {
    std::vector<WorkloadSession::Call> made;
    for (const int set : sets) made.push_back({set, variant++});
    return made;
  };
  for (int time = 0; time < 3; ++time) {
    Ending ending =
        session.Run(calls({0, 1}), WorkloadSession::Mode::kTimed, replay, {}, limits).ending;
    ASSERT_TRUE(ending.passed()) << ending.message;
    ending = session.RunWithCase(lab.Case(Seed{2, 2}), calls({1, 0}), replay, {}, limits);
    ASSERT_TRUE(ending.passed()) << ending.message;
  }
}

// KSEARCH_AA=N: N confirmations of a program against itself and N, or KSEARCH_AA_SLOWER=N, against
// one that does 2 % more.
TEST_F(CudaRunnerTest, ConfirmationsOfEquals) {
  const char* const wanted = std::getenv("KSEARCH_AA");
  if (wanted == nullptr) GTEST_SKIP() << "KSEARCH_AA=N: how many";
  const char* const wanted_slower = std::getenv("KSEARCH_AA_SLOWER");
  std::vector<std::string> workloads = {"mid", "large", "long"};
  if (const char* names = std::getenv("KSEARCH_AA_WORKLOADS")) {
    workloads = absl::StrSplit(names, ',');
  }
  Lab& lab = Lab::Get();
  const v1::Artifact slower = lab.Build("slower", kTwoPercentMore);
  for (const v1::Artifact* candidate : {&lab.reference(), &slower}) {
    std::map<std::string, int> verdicts;
    const bool slow = candidate == &slower;
    const int count = std::atoi(slow && wanted_slower != nullptr ? wanted_slower : wanted);
    for (int i = 0; i < count; ++i) {
      // The slow one is now the candidate, now the rival.
      const bool turned = slow && i % 2 == 1;
      v1::VerifierRequest request =
          lab.Request(v1::JOB_KIND_CONFIRM, turned ? lab.reference() : *candidate, workloads);
      request.mutable_job()->add_rivals()->set_rival_id("baseline");
      *request.add_rivals() = turned ? slower : lab.reference();
      const v1::Verdict verdict = lab.Verify(request);
      if (verdict.comparisons().empty()) {
        ++verdicts["none"];
        continue;
      }
      const v1::Comparison& comparison = verdict.comparisons(0);
      const std::string name = v1::Comparison::Verdict_Name(comparison.verdict());
      ++verdicts[turned ? name + " (turned)" : name];
      std::printf("AA %s %d: %s %+.4f [%+.4f, %+.4f]", slow ? "slower" : "same", i, name.c_str(),
                  comparison.log_speedup(), comparison.ci_low(), comparison.ci_high());
      for (const auto& workload : comparison.workloads()) {
        std::printf("  %s %.3f/%.3f %+.4f [%+.4f, %+.4f]", workload.workload_uuid().c_str(),
                    workload.candidate_median_us(), workload.rival_median_us(),
                    workload.log_speedup(), workload.ci_low(), workload.ci_high());
      }
      std::printf("\n");
      std::fflush(stdout);
    }
    for (const auto& [name, times] : verdicts) {
      std::printf("AA %s total: %s %d of %d\n", slow ? "slower" : "same", name.c_str(), times,
                  count);
    }
  }
}

}  // namespace
}  // namespace ksearch
