// Every hostile candidate through a worker's own pipeline: compiler, sandbox, verifier and runner
// are the real ones. Each must end as tests/integration/hostile_candidates.cc says, and leave
// behind a worker that judges an honest candidate rightly.
//
// All of them, heavy ones too:  KSEARCH_HOSTILE=all hostile_candidates_test
// One of them:                  KSEARCH_HOSTILE=host/fork_bomb hostile_candidates_test
#include "tests/integration/hostile_candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "common/clock.h"
#include "common/identity.h"
#include "common/textproto.h"
#include "gpu_worker/build/toolchain_factory.h"
#include "gpu_worker/device/device_factory.h"
#include "gpu_worker/executor/device_pool.h"
#include "gpu_worker/executor/pipeline_executor.h"
#include "gpu_worker/executor/verifier_process.h"
#include "gpu_worker/sandbox/sandbox_factory.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"
#include "tests/gpu_worker/verifier/matmul_task.h"

namespace ksearch {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{4} << 20;

std::string ShortName(v1::Outcome outcome) {
  return std::string(absl::StripPrefix(v1::Outcome_Name(outcome), "OUTCOME_"));
}

std::string FilePath(const std::string& candidate) {
  return absl::StrCat(ScratchFolder(), "/bad_candidates/", candidate, ".cpp");
}

void AddFile(const std::string& path, std::string content, v1::Sources* sources) {
  v1::SourceFile* file = sources->add_files();
  file->set_path(path);
  file->set_content(std::move(content));
}

std::string ReadCandidate(const std::string& path) {
  const auto text = ReadFile(path, kMaxFileBytes);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.value_or("");
}

// Programs of the top folder know their header to define Matmul; a worker's does not.
v1::Sources SourcesOf(const std::string& candidate) {
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_CPP);
  AddFile("matmul.h", ReadCandidate(ScratchFolder() + "/bad_candidates/matmul.h"), &sources);
  if (candidate == "build/huge_source") {
    AddFile("kernel.cpp", "// " + std::string(300 << 10, 'x'), &sources);
  } else if (candidate == "build/escaping_path") {
    AddFile("../kernel.cpp", "#include \"matmul.h\"\n", &sources);
  } else {
    AddFile("kernel.cpp", "#include \"matmul.h\"\n" + ReadCandidate(FilePath(candidate)), &sources);
  }
  return sources;
}

v1::Task HostileTask() {
  v1::Task task = MatmulTask();
  *task.add_references() = SourcesOf("reference");
  *task.add_baselines() = SourcesOf("honest");
  return task;
}

// Verifier, sandboxes, runners and their children: all their command lines name the scratch folder.
int WorkerProcesses() {
  int processes = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    if (!absl::ascii_isdigit(entry.path().filename().string()[0])) continue;
    const auto command = ReadFile(entry.path().string() + "/cmdline", kMaxFileBytes);
    processes += command.ok() && absl::StrContains(*command, ScratchFolder());
  }
  return processes;
}

bool BackTo(int processes) {
  for (int tries = 0; tries < 100; ++tries) {
    if (WorkerProcesses() <= processes) return true;
    absl::SleepFor(absl::Milliseconds(100));
  }
  return false;
}

// What gpu_worker/main.cc builds from a config, without a coordinator.
class Worker {
 public:
  explicit Worker(const std::string& cgroup = "auto", const std::string& compiler_flag = "") {
    if (!compiler_flag.empty()) {
      v1::Toolchain* toolchain = config_.add_toolchains();
      toolchain->set_language(v1::LANGUAGE_CPP);
      toolchain->add_extra_flags(compiler_flag);
    }
    config_.mutable_sandbox()->set_cgroup(cgroup);
    config_.set_state_dir(ScratchFolder() + "/state");
    config_.set_binary_dir(ScratchFolder() + "/bin");
    config_.mutable_sandbox()->set_tmp_bytes(int64_t{32} << 20);
    config_.mutable_sandbox()->set_output_bytes(64 << 10);
    config_.mutable_device()->set_device_class(v1::DEVICE_CLASS_CPU);
    config_.mutable_device()->set_lock_path(ScratchFolder() + "/device.lock");
    std::error_code ignored;
    std::filesystem::create_directory(config_.state_dir(), ignored);
  }

  absl::Status Start() {
    auto sandbox = MakeSandbox(config_.sandbox());
    if (!sandbox.ok()) return sandbox.status();
    sandbox_ = *std::move(sandbox);
    auto toolchains = MakeToolchains(config_, config_.state_dir(), sandbox_.get());
    if (!toolchains.ok()) return toolchains.status();
    toolchains_ = *std::move(toolchains);
    auto devices = MakeDevices(config_, GpuSurroundings::OfThisProcess());
    if (!devices.ok()) return devices.status();
    devices_ = *std::move(devices);
    const std::string verifier_config = config_.state_dir() + "/verifier.textproto";
    const absl::Status written = WriteFileAtomically(verifier_config, ToTextproto(config_));
    if (!written.ok()) return written;
    verifier_ = std::make_unique<VerifierProcess>(
        VerifierProcess::Options{.binary_path = config_.binary_dir() + "/ksearch-verifier",
                                 .config_path = verifier_config,
                                 .gpu_uuid = ""});
    pool_ = std::make_unique<DevicePool>(
        std::vector<DevicePool::Slot>{{v1::DEVICE_CLASS_CPU, devices_[0].monitor.get(),
                                       devices_[0].lock.get(), verifier_.get()}});
    executor_ = std::make_unique<PipelineExecutor>(
        PipelineExecutor::Parts{.toolchains = &toolchains_,
                                .devices = pool_.get(),
                                .clock = &Clock::Real(),
                                .isolation = sandbox_->isolation(),
                                .inputs_folder = ""});
    return absl::OkStatus();
  }

  absl::StatusOr<v1::JobResult> Evaluate(const v1::JobSpec& job) {
    return executor_->Execute(
        job, task_, [](v1::HeldLease::State) {}, std::stop_token());
  }

  v1::JobSpec Job(const std::string& candidate, v1::JobKind kind,
                  const std::vector<std::string>& workloads) const {
    v1::JobSpec job;
    job.set_kind(kind);
    job.set_task_name(task_.name());
    job.set_task_sha256(TaskDigest(task_));
    job.set_device(v1::DEVICE_CLASS_CPU);
    *job.mutable_candidate() = SourcesOf(candidate);
    for (const std::string& uuid : workloads) job.add_workload_uuids(uuid);
    v1::MeasurePlan& plan = *job.mutable_plan();
    *plan.mutable_max_time_per_workload() = ToProto(absl::Milliseconds(20));
    plan.set_launches(4);
    plan.set_blocks_per_launch(2);
    *plan.mutable_min_block_time() = ToProto(absl::Milliseconds(2));
    v1::Limits& limits = *job.mutable_limits();
    *limits.mutable_build_time() = ToProto(absl::Seconds(60));
    *limits.mutable_call_time() = ToProto(absl::Seconds(1));
    *limits.mutable_total_time() = ToProto(absl::Seconds(30));
    limits.set_memory_bytes(int64_t{512} << 20);
    return job;
  }

  v1::IsolationLevel isolation() const { return sandbox_->isolation(); }

 private:
  v1::WorkerConfig config_;
  const v1::Task task_ = HostileTask();
  std::unique_ptr<Sandbox> sandbox_;
  Toolchains toolchains_;
  std::vector<Device> devices_;
  std::unique_ptr<VerifierProcess> verifier_;
  std::unique_ptr<DevicePool> pool_;
  std::unique_ptr<PipelineExecutor> executor_;
};

v1::JobSpec JobFor(const Worker& worker, const HostileCandidate& candidate) {
  using Measure = HostileCandidate::Measure;
  if (candidate.measure == Measure::kConfirm) {
    v1::JobSpec job = worker.Job(candidate.path, v1::JOB_KIND_CONFIRM, {"medium", "small", "odd"});
    job.add_rivals()->set_rival_id("baseline");
    return job;
  }
  v1::JobSpec job = candidate.measure == Measure::kScreenLarge
                        ? worker.Job(candidate.path, v1::JOB_KIND_SCREEN, {"large"})
                        : worker.Job(candidate.path, v1::JOB_KIND_SCREEN, {"medium", "small"});
  const bool hangs = candidate.outcomes.front() == v1::OUTCOME_TIMEOUT;
  // A busy machine takes longer to allocate gigabytes.
  if (!hangs) *job.mutable_limits()->mutable_call_time() = ToProto(absl::Seconds(10));
  if (candidate.heavy) {
    // Fork bombs and the like reach these limits for certain.
    *job.mutable_limits()->mutable_build_time() = ToProto(absl::Seconds(10));
    *job.mutable_limits()->mutable_total_time() = ToProto(absl::Seconds(10));
  }
  return job;
}

class HostileCandidatesTest : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef KSEARCH_SANITIZED
    GTEST_SKIP() << "sanitized runners do without the tight filter";
#endif
    const char* wanted = std::getenv("KSEARCH_HOSTILE");
    wanted_ = wanted == nullptr ? "" : wanted;
  }
  bool IsWanted(const HostileCandidate& candidate) const {
    if (wanted_.empty()) return !candidate.heavy;
    return wanted_ == "all" || wanted_ == candidate.path;
  }
  // The same build every time: only the first one is compiled.
  void ExpectHonestPasses(const std::string& after) {
    const auto result = worker_.Evaluate(worker_.Job("honest", v1::JOB_KIND_CHECK, {"small"}));
    ASSERT_TRUE(result.ok()) << "after " << after << ": " << result.status();
    EXPECT_EQ(ShortName(result->outcome()), "PASSED")
        << "after " << after << ": " << result->message();
  }

  std::string wanted_;
  Worker worker_;
};

TEST_F(HostileCandidatesTest, EachEndsInItsOutcomeAndHarmsNobody) {
  ASSERT_TRUE(worker_.Start().ok());
  // After a timed job, the verifier has all the processes that it keeps.
  ASSERT_TRUE(worker_.Evaluate(worker_.Job("honest", v1::JOB_KIND_SCREEN, {"small"})).ok());
  const int processes = WorkerProcesses();
  std::printf("cgroup: %s\n%-30s %-36s %-18s %7s\n", worker_.isolation().cgroup().c_str(),
              "candidate", "expected", "got", "seconds");
  int wanted = 0, contained = 0;
  for (const HostileCandidate& candidate : HostileCandidates()) {
    if (!IsWanted(candidate)) continue;
    ++wanted;
    const absl::Time start = Clock::Real().SteadyNow();
    const auto result = worker_.Evaluate(JobFor(worker_, candidate));
    const bool ended = result.ok();
    EXPECT_TRUE(ended) << candidate.path << ": " << result.status();
    const v1::Outcome got = ended ? result->outcome() : v1::OUTCOME_UNSPECIFIED;
    std::vector<std::string> expected;
    for (const v1::Outcome outcome : candidate.outcomes) expected.push_back(ShortName(outcome));
    std::printf("%-30s %-36s %-18s %7.2f\n", candidate.path.c_str(),
                absl::StrJoin(expected, " or ").c_str(), ShortName(got).c_str(),
                absl::ToDoubleSeconds(Clock::Real().SteadyNow() - start));
    std::fflush(stdout);
    if (!ended) continue;
    const bool right = std::find(candidate.outcomes.begin(), candidate.outcomes.end(), got) !=
                       candidate.outcomes.end();
    EXPECT_TRUE(right) << candidate.path << ": " << ShortName(got) << ": " << result->message();
    EXPECT_TRUE(absl::StrContains(result->message(), candidate.message))
        << candidate.path << ": " << result->message();
    // Only a confirmation that found an improvement makes an incumbent.
    bool improved = false;
    for (const v1::Comparison& comparison : result->comparisons()) {
      improved |= comparison.verdict() == v1::Comparison::IMPROVED;
    }
    EXPECT_FALSE(got == v1::OUTCOME_PASSED && improved) << candidate.path;
    EXPECT_TRUE(got != v1::OUTCOME_PASSED || result->comparisons_size() > 0)
        << candidate.path << ": whoever passes is confirmed here";
    contained += right;
    ExpectHonestPasses(candidate.path);
  }
  std::printf("hostile candidates: %d, contained: %d\n", wanted, contained);
  EXPECT_GT(wanted, 0) << "KSEARCH_HOSTILE names no candidate";
  EXPECT_TRUE(BackTo(processes)) << WorkerProcesses() << " processes, " << processes
                                 << " at the start: somebody was left behind";
}

TEST_F(HostileCandidatesTest, HonestTwinsPass) {
  if (!wanted_.empty() && wanted_ != "all") GTEST_SKIP() << "one candidate was asked for";
  ASSERT_TRUE(worker_.Start().ok());
  int passed = 0;
  for (const std::string& twin : HonestTwins()) {
    // Its inputs are subnormal numbers.
    for (const char* workload : {"medium", "tiny_values"}) {
      const auto result =
          worker_.Evaluate(worker_.Job(twin, v1::JOB_KIND_SCREEN, {"small", workload}));
      ASSERT_TRUE(result.ok()) << twin << ": " << result.status();
      std::printf("%-30s %-14s %s\n", twin.c_str(), workload, ShortName(result->outcome()).c_str());
      EXPECT_EQ(ShortName(result->outcome()), "PASSED")
          << twin << " on " << workload << ": " << result->message();
      EXPECT_THAT(result->suspicions(), testing::IsEmpty()) << twin;
      passed += result->outcome() == v1::OUTCOME_PASSED;
    }
  }
  std::printf("honest twins: %d evaluations of %zu passed\n", passed, 2 * HonestTwins().size());
}

TEST_F(HostileCandidatesTest, AnOpenMpTeamPasses) {
  if (!wanted_.empty() && wanted_ != "all") GTEST_SKIP() << "one candidate was asked for";
  Worker worker("auto", "-fopenmp");
  ASSERT_TRUE(worker.Start().ok());
  v1::JobSpec job = worker.Job("honest/openmp", v1::JOB_KIND_CONFIRM, {"medium", "small", "odd"});
  job.add_rivals()->set_rival_id("baseline");
  const auto result = worker.Evaluate(job);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(ShortName(result->outcome()), "PASSED") << result->message();
  EXPECT_THAT(result->suspicions(), testing::IsEmpty());
  EXPECT_THAT(result->comparisons(), testing::SizeIs(1));
}

// Many machines give a worker no control group.
TEST_F(HostileCandidatesTest, MemoryIsLimitedWithoutControlGroups) {
  if (!wanted_.empty() && wanted_ != "all") GTEST_SKIP() << "one candidate was asked for";
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "the runner's sanitizer has more memory than any limit";
#endif
  Worker worker("none");
  ASSERT_TRUE(worker.Start().ok());
  for (const char* path :
       {"resources/memory_touch", "resources/memory_files", "resources/memory_shared"}) {
    v1::JobSpec job = worker.Job(path, v1::JOB_KIND_CHECK, {"small"});
    *job.mutable_limits()->mutable_call_time() = ToProto(absl::Seconds(10));
    const auto result = worker.Evaluate(job);
    ASSERT_TRUE(result.ok()) << path << ": " << result.status();
    EXPECT_EQ(ShortName(result->outcome()), "RUNTIME_ERROR") << path << ": " << result->message();
    EXPECT_TRUE(absl::StrContains(result->message(), "returned 77")) << result->message();
  }
  const auto honest = worker.Evaluate(worker.Job("honest_threads", v1::JOB_KIND_CHECK, {"small"}));
  ASSERT_TRUE(honest.ok()) << honest.status();
  EXPECT_EQ(ShortName(honest->outcome()), "PASSED") << honest->message();
}

}  // namespace
}  // namespace ksearch
