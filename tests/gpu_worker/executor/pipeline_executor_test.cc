#include "gpu_worker/executor/pipeline_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <future>
#include <latch>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/identity.h"
#include "common/task_limits.h"
#include "common/textproto.h"
#include "tests/fakes/fake_builder.h"
#include "tests/fakes/fake_verifier.h"
#include "tests/fakes/plain_sandbox.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FixedMonitor : public DeviceMonitor {
 public:
  v1::DeviceFingerprint Fingerprint() const override {
    v1::DeviceFingerprint print;
    print.set_device_id("cpu:test");
    print.set_architecture(architecture);
    return print;
  }
  v1::DeviceHealth Sample() override {
    v1::DeviceHealth health;
    health.set_healthy(true);
    return health;
  }
  std::string FaultSince(absl::Time begin) override {
    return begin > absl::InfinitePast() ? fault : "";
  }
  std::string architecture;
  std::string fault;
};

v1::Sources Cpp(const std::string& path, const std::string& text) {
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_CPP);
  sources.add_files()->set_path(path);
  sources.mutable_files(0)->set_content(text);
  return sources;
}

class PipelineExecutorTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "pipeline_executor_test.XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    auto builder = std::make_unique<FakeBuilder>(folder_);
    builder_ = builder.get();
    toolchains_[v1::LANGUAGE_CPP] = std::move(builder);
    lock_ = DeviceLock::Create(folder_ + "/lock").value();
    slot_ = {v1::DEVICE_CLASS_CPU, &monitor_, lock_.get(), &verifier_};
    verifier_.answer->set_outcome(v1::OUTCOME_PASSED);
    task_.set_name("add");
    task_.set_device(v1::DEVICE_CLASS_CPU);
    task_.mutable_definition()->set_name("add");
    v1::Axis* axis = task_.mutable_definition()->add_axes();
    axis->set_name("n");
    for (const char* name : {"x", "y"}) {
      v1::TensorSpec* tensor = name[0] == 'x' ? task_.mutable_definition()->add_inputs()
                                              : task_.mutable_definition()->add_outputs();
      tensor->set_name(name);
      tensor->add_shape("n");
      tensor->set_dtype(v1::DTYPE_FLOAT32);
    }
    task_.add_workloads()->set_uuid("w1");
    *task_.add_references() = Cpp("reference.cpp", "reference text");
    *task_.add_baselines() = Cpp("baseline.cpp", "baseline text");
    spec_.set_kind(v1::JOB_KIND_SCREEN);
    spec_.set_task_name("add");
    spec_.set_task_sha256("abc");
    *spec_.mutable_candidate() = Cpp("kernel.cpp", "candidate text");
    spec_.add_workload_uuids("w1");
  }
  void TearDown() override {
    // These use the lock, which lies in the folder.
    devices_.reset();
    build_turns_.reset();
    std::filesystem::remove_all(folder_);
  }

  absl::StatusOr<v1::JobResult> Execute(std::stop_token stop = {}) {
    PipelineExecutor executor(Parts());
    return executor.Execute(
        spec_, task_, [this](v1::HeldLease::State state) { states_.push_back(state); }, stop);
  }
  PipelineExecutor::Parts Parts() {
    devices_ = std::make_unique<DevicePool>(std::vector<DevicePool::Slot>{slot_});
    PipelineExecutor::Parts parts;
    parts.toolchains = &toolchains_;
    parts.devices = devices_.get();
    if (slot_.device_class == v1::DEVICE_CLASS_CPU) {
      parts.build_turns = &build_turns_.emplace(lock_.get(), &sandbox_);
    }
    parts.clock = &Clock::Real();
    parts.isolation.set_backend("builder's");
    return parts;
  }

  std::string folder_;
  Toolchains toolchains_;
  FakeBuilder* builder_ = nullptr;
  FixedMonitor monitor_;
  std::unique_ptr<DeviceLock> lock_;
  FakeVerifier verifier_;
  DevicePool::Slot slot_;
  std::unique_ptr<DevicePool> devices_;  // of slot_, as Parts found it
  PlainSandbox plain_sandbox_;
  PausableSandbox sandbox_{plain_sandbox_, Clock::Real()};
  std::optional<BuildTurns> build_turns_;
  v1::Task task_;
  v1::JobSpec spec_;
  std::vector<v1::HeldLease::State> states_;
};

TEST_F(PipelineExecutorTest, VerdictBecomesTheResult) {
  verifier_.answer->set_outcome(v1::OUTCOME_INCORRECT);
  verifier_.answer->set_message("3 elements differ");
  verifier_.answer->add_workloads()->set_workload_uuid("w1");
  verifier_.answer->add_suspicions("audit_clock: 3x");
  verifier_.answer->mutable_isolation()->set_backend("runner's");
  *verifier_.answer->mutable_check_time() = ToProto(absl::Seconds(2));
  const auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome(), v1::OUTCOME_INCORRECT);
  EXPECT_EQ(result->message(), "3 elements differ");
  EXPECT_EQ(result->workloads_size(), 1);
  EXPECT_EQ(result->suspicions(0), "audit_clock: 3x");
  EXPECT_EQ(result->isolation().backend(), "runner's");
  EXPECT_EQ(result->device().device_id(), "cpu:test");
  EXPECT_EQ(result->stage_times().check().seconds(), 2);
  EXPECT_TRUE(result->has_finished_at());
  EXPECT_THAT(states_,
              ElementsAre(v1::HeldLease::BUILDING, v1::HeldLease::WAITING, v1::HeldLease::RUNNING));
}

TEST_F(PipelineExecutorTest, VerifierGetsEveryProgram) {
  spec_.add_rivals()->set_rival_id("baseline");
  v1::Rival* incumbent = spec_.add_rivals();
  incumbent->set_rival_id("incumbent");
  *incumbent->mutable_sources() = Cpp("kernel.cpp", "incumbent text");
  verifier_.during_judge = [](std::stop_token) {};
  ASSERT_TRUE(Execute().ok());
  const v1::VerifierRequest request = verifier_.requests().at(0);
  EXPECT_EQ(ReadFile(request.candidate().path(), 100).value(), "candidate text");
  EXPECT_EQ(ReadFile(request.reference().path(), 100).value(), "reference text");
  EXPECT_EQ(ReadFile(request.baseline().path(), 100).value(), "baseline text");
  ASSERT_EQ(request.rivals_size(), 2);
  EXPECT_EQ(request.rivals(0).path(), request.baseline().path());
  EXPECT_EQ(request.rivals(0).id(), "baseline");
  EXPECT_EQ(ReadFile(request.rivals(1).path(), 100).value(), "incumbent text");
  EXPECT_EQ(request.task_sha256(), "abc");
  EXPECT_EQ(request.candidate().sha256(), Sha256Hex("candidate text"));
}

TEST_F(PipelineExecutorTest, CheckNeedsNoBaseline) {
  spec_.set_kind(v1::JOB_KIND_CHECK);
  ASSERT_TRUE(Execute().ok());
  EXPECT_FALSE(verifier_.requests().at(0).has_baseline());
}

TEST_F(PipelineExecutorTest, OnlyInstrumentedJobsOfCudaCandidatesBringOtherBuilds) {
  spec_.set_kind(v1::JOB_KIND_CONFIRM);
  ASSERT_TRUE(Execute().ok());
  EXPECT_FALSE(verifier_.requests().at(0).has_delayed());
  EXPECT_EQ(verifier_.requests().at(0).delayed_absence(), "");

  toolchains_[v1::LANGUAGE_CUDA] = std::make_unique<FakeBuilder>(folder_ + "/cuda");
  std::filesystem::create_directories(folder_ + "/cuda");
  task_.set_device(v1::DEVICE_CLASS_CUDA);
  slot_.device_class = v1::DEVICE_CLASS_CUDA;
  *spec_.mutable_candidate() = Cpp("kernel.cu", "candidate text");
  spec_.mutable_candidate()->set_language(v1::LANGUAGE_CUDA);
  ASSERT_TRUE(Execute().ok());
  EXPECT_EQ(ReadFile(verifier_.requests().at(1).delayed().path(), 100).value(),
            "delayed candidate text");
  EXPECT_EQ(ReadFile(verifier_.requests().at(1).lined().path(), 100).value(),
            "lined candidate text");
  EXPECT_EQ(ReadFile(verifier_.requests().at(1).candidate().path(), 100).value(), "candidate text");

  spec_.mutable_candidate()->mutable_files(0)->set_content("UNDELAYABLE UNLINEABLE text");
  const auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome(), v1::OUTCOME_PASSED);
  EXPECT_FALSE(verifier_.requests().at(2).has_delayed());
  EXPECT_THAT(verifier_.requests().at(2).delayed_absence(),
              HasSubstr("it could not be built with delays: OUTCOME_COMPILE_ERROR"));

  EXPECT_FALSE(verifier_.requests().at(2).has_lined());

  spec_.set_kind(v1::JOB_KIND_SCREEN);
  ASSERT_TRUE(Execute().ok());
  EXPECT_FALSE(verifier_.requests().at(3).has_delayed());
  EXPECT_FALSE(verifier_.requests().at(3).has_lined());

  spec_.set_kind(v1::JOB_KIND_EXAMINE);
  spec_.mutable_candidate()->mutable_files(0)->set_content("candidate text");
  ASSERT_TRUE(Execute().ok());
  EXPECT_TRUE(verifier_.requests().at(4).has_delayed());
  EXPECT_TRUE(verifier_.requests().at(4).has_lined());
  EXPECT_FALSE(verifier_.requests().at(4).has_baseline());
}

TEST_F(PipelineExecutorTest, DescribeJobsReportWhatTheProgramPrintsWithinBounds) {
  spec_.set_kind(v1::JOB_KIND_DESCRIBE);
  task_.clear_references();
  task_.clear_workloads();
  spec_.clear_workload_uuids();
  v1::SourceFile* const program = spec_.mutable_candidate()->mutable_files(0);
  program->set_content("{\"inputs\": []}");
  auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome(), v1::OUTCOME_PASSED);
  EXPECT_EQ(result->description(), "{\"inputs\": []}");
  EXPECT_EQ(builder_->builds(), 0);
  EXPECT_TRUE(verifier_.requests().empty());

  program->set_content(std::string((256 << 10) + 1, 'x'));
  result = Execute();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome(), v1::OUTCOME_COMPILE_LIMIT);
  EXPECT_EQ(result->description(), "");
  program->set_content("\xff");
  result = Execute();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome(), v1::OUTCOME_INVALID_SOURCE);
}

TEST_F(PipelineExecutorTest, BuildJobsNeedNeitherDeviceNorReference) {
  spec_.set_kind(v1::JOB_KIND_BUILD);
  task_.clear_references();
  slot_ = {v1::DEVICE_CLASS_CUDA, &monitor_, nullptr, nullptr};
  task_.set_device(v1::DEVICE_CLASS_CUDA);
  PipelineExecutor executor(Parts());
  const auto result = executor.Execute(
      spec_, task_, [](v1::HeldLease::State) {}, std::stop_token());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome(), v1::OUTCOME_PASSED);
  EXPECT_EQ(builder_->builds(), 1);
  spec_.set_kind(v1::JOB_KIND_SCREEN);
  const auto refused = executor.Execute(
      spec_, task_, [](v1::HeldLease::State) {}, std::stop_token());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("only builds"));
}

TEST_F(PipelineExecutorTest, ProfilesComeWithTheVerdictOrANoteSaysWhyThereIsNone) {
  spec_.set_kind(v1::JOB_KIND_PROFILE);
  auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome(), v1::OUTCOME_PASSED);
  EXPECT_EQ(result->profile().absence(), v1::Profile::NOT_SUPPORTED);
  EXPECT_TRUE(verifier_.requests().empty());

  task_.set_device(v1::DEVICE_CLASS_CUDA);
  slot_.device_class = v1::DEVICE_CLASS_CUDA;
  result = Execute();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->profile().absence(), v1::Profile::NO_PROFILER);
  EXPECT_EQ(result->profile().workload_uuid(), "w1");
  EXPECT_FALSE(verifier_.requests().at(0).has_baseline());

  verifier_.answer->mutable_profile()->add_kernels()->set_name("decode");
  result = Execute();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->profile().absence(), v1::Profile::ABSENCE_UNSPECIFIED);
  EXPECT_EQ(result->profile().kernels(0).name(), "decode");

  spec_.clear_workload_uuids();
  EXPECT_EQ(Execute().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(PipelineExecutorTest, CudaBuildsGoOnBesideAMeasurementForTheDevicesArchitecture) {
  task_.set_device(v1::DEVICE_CLASS_CUDA);
  *spec_.mutable_candidate() = Cpp("kernel.cpp", "COMPILE_ERROR line 3");
  monitor_.architecture = "sm_90a";
  slot_.device_class = v1::DEVICE_CLASS_CUDA;
  const auto measuring = lock_->Acquire(DeviceLock::Mode::kExclusive, {});
  const auto result = PipelineExecutor(Parts()).Execute(
      spec_, task_, [](v1::HeldLease::State) {}, std::stop_token());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome(), v1::OUTCOME_COMPILE_ERROR);
  EXPECT_EQ(result->build().architecture(), "sm_90a");
}

TEST_F(PipelineExecutorTest, BrokenCandidateEndsBeforeTheDevice) {
  *spec_.mutable_candidate() = Cpp("kernel.cpp", "COMPILE_ERROR line 3");
  // The device is busy, and the executor does not wait for it.
  const auto busy = lock_->Acquire(DeviceLock::Mode::kShared, {});
  const auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome(), v1::OUTCOME_COMPILE_ERROR);
  EXPECT_EQ(result->message(), "COMPILE_ERROR line 3");
  EXPECT_EQ(result->isolation().backend(), "builder's");
  EXPECT_TRUE(verifier_.requests().empty());
  EXPECT_THAT(states_, ElementsAre(v1::HeldLease::BUILDING));
}

TEST_F(PipelineExecutorTest, ABrokenReferenceIsNamedAndIsATaskError) {
  *task_.mutable_references(0) = Cpp("reference.cpp", "COMPILE_ERROR oops");
  const auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome(), v1::OUTCOME_TASK_ERROR);
  EXPECT_EQ(result->message(),
            "task add: reference (reference.cpp) does not build: compile_error: "
            "COMPILE_ERROR oops");
  EXPECT_TRUE(verifier_.requests().empty());
}

TEST_F(PipelineExecutorTest, TroubleWithTheWorkerIsNoResult) {
  *spec_.mutable_candidate() = Cpp("kernel.cpp", "BROKEN_WORKER");
  EXPECT_EQ(Execute().status().code(), absl::StatusCode::kUnavailable);
  *spec_.mutable_candidate() = Cpp("kernel.cpp", "fine");
  verifier_.answer = absl::UnavailableError("verifier gone");
  EXPECT_EQ(Execute().status().message(), "verifier gone");
}

TEST_F(PipelineExecutorTest, WhatNoKernelNeedsIsASuspicion) {
  *spec_.mutable_candidate() = Cpp("kernel.cpp", "int f() { return fork(); }");
  EXPECT_THAT(Execute()->suspicions(),
              ElementsAre("source: starts processes: fork at kernel.cpp:1"));
  verifier_.answer->set_outcome(v1::OUTCOME_INCORRECT);
  EXPECT_THAT(Execute()->suspicions(), testing::IsEmpty());
}

TEST_F(PipelineExecutorTest, WhatADeviceFaultDidToACandidateIsNoResult) {
  verifier_.answer->set_outcome(v1::OUTCOME_RUNTIME_ERROR);
  EXPECT_EQ(Execute()->outcome(), v1::OUTCOME_RUNTIME_ERROR);
  monitor_.fault = "Xid 94 (contained memory error)";
  EXPECT_EQ(Execute().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(Execute().status().message()),
              HasSubstr("device cpu:test failed while the job was on it: Xid 94"));
  verifier_.answer->set_outcome(v1::OUTCOME_PASSED);
  EXPECT_FALSE(Execute().ok());
}

TEST_F(PipelineExecutorTest, UnsuitableJobsAreReturnedWithTheReason) {
  spec_.mutable_candidate()->set_language(v1::LANGUAGE_PYTHON);
  EXPECT_THAT(std::string(Execute().status().message()), HasSubstr("no toolchain for python"));
  spec_.mutable_candidate()->set_language(v1::LANGUAGE_CPP);
  spec_.add_workload_uuids("w9");
  EXPECT_THAT(std::string(Execute().status().message()), HasSubstr("no workload w9"));
  task_.set_device(v1::DEVICE_CLASS_CUDA);
  EXPECT_THAT(std::string(Execute().status().message()), HasSubstr("DEVICE_CLASS_CUDA"));
}

TEST_F(PipelineExecutorTest, MoreWorkloadsThanAJobMayHaveEndItBeforeAnythingIsBuilt) {
  while (spec_.workload_uuids_size() <= kMaxWorkloads) spec_.add_workload_uuids("w1");
  auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome(), v1::OUTCOME_TASK_ERROR);
  EXPECT_EQ(result->at_fault(), "task");
  EXPECT_THAT(result->message(), HasSubstr("a job of task 'add' names 1025 workloads"));
  spec_.clear_workload_uuids();
  spec_.add_workload_uuids("w1");
  while (task_.workloads_size() <= kMaxWorkloads) {
    task_.add_workloads()->set_uuid(absl::StrCat("more", task_.workloads_size()));
  }
  result = Execute();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome(), v1::OUTCOME_TASK_ERROR);
  EXPECT_THAT(result->message(), HasSubstr("task 'add' has more than 1024 workloads"));
  EXPECT_TRUE(states_.empty());
  task_.mutable_workloads()->RemoveLast();
  EXPECT_EQ(Execute()->outcome(), v1::OUTCOME_PASSED);
}

TEST_F(PipelineExecutorTest, RivalThatStandsForAMissingBaselineIsNamed) {
  task_.clear_baselines();
  spec_.add_rivals()->set_rival_id("baseline");
  const auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome(), v1::OUTCOME_TASK_ERROR);
  EXPECT_THAT(result->message(), HasSubstr("rival baseline"));
}

TEST_F(PipelineExecutorTest, TheJobSaysWhichOfTheTasksProgramsRunInWhateverLanguage) {
  auto python = std::make_unique<FakeBuilder>(folder_ + "/python");
  std::filesystem::create_directory(folder_ + "/python");
  FakeBuilder& python_builder = *python;
  toolchains_[v1::LANGUAGE_PYTHON] = std::move(python);
  v1::Sources reference = Cpp("reference.py", "other reference");
  reference.set_language(v1::LANGUAGE_PYTHON);
  *task_.add_references() = reference;
  v1::Sources baseline = Cpp("baseline.py", "other baseline");
  baseline.set_language(v1::LANGUAGE_PYTHON);
  *task_.add_baselines() = baseline;

  // By default the job uses the programs in the candidate's language.
  ASSERT_TRUE(Execute().ok());
  EXPECT_EQ(verifier_.requests().at(0).reference().sha256(), Sha256Hex("reference text"));
  EXPECT_EQ(verifier_.requests().at(0).baseline().sha256(), Sha256Hex("baseline text"));
  EXPECT_EQ(python_builder.builds(), 0);

  spec_.mutable_reference()->set_id(CandidateId(reference));
  spec_.mutable_reference()->set_language(v1::LANGUAGE_PYTHON);
  *spec_.mutable_baseline() = spec_.reference();
  spec_.mutable_baseline()->set_id(CandidateId(baseline));
  ASSERT_TRUE(Execute().ok());
  EXPECT_EQ(verifier_.requests().at(1).reference().sha256(), Sha256Hex("other reference"));
  EXPECT_EQ(verifier_.requests().at(1).baseline().sha256(), Sha256Hex("other baseline"));
  EXPECT_EQ(python_builder.builds(), 2);

  // A worker that lacks the language does not fall back to another program.
  toolchains_.erase(v1::LANGUAGE_PYTHON);
  EXPECT_EQ(Execute().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(Execute().status().message()),
              HasSubstr("no toolchain for the reference of task add, which is in python"));
  spec_.clear_reference();
  spec_.clear_baseline();
  task_.mutable_references()->DeleteSubrange(0, 1);
  EXPECT_THAT(std::string(Execute().status().message()), HasSubstr("which is in python"));
}

TEST_F(PipelineExecutorTest, AProgramThatTheTaskDoesNotHoldIsRefused) {
  spec_.mutable_reference()->set_id(CandidateId(Cpp("reference.cpp", "another text")));
  spec_.mutable_reference()->set_language(v1::LANGUAGE_CPP);
  const auto result = Execute();
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("reference: task add has no such"));
}

TEST_F(PipelineExecutorTest, StopCancelsWhileBuilding) {
  std::stop_source stop;
  std::latch building(1);
  std::atomic<bool> first{true};
  builder_->during_build = [&](std::stop_token token) {
    if (first.exchange(false)) building.count_down();
    while (!token.stop_requested()) std::this_thread::yield();
  };
  auto result = std::async(std::launch::async, [&] { return Execute(stop.get_token()); });
  building.wait();
  stop.request_stop();
  EXPECT_EQ(result.get().status().code(), absl::StatusCode::kCancelled);
}

TEST_F(PipelineExecutorTest, OneJobMeasuresAtATimeWhileNoneBuilds) {
  std::atomic<int> measuring{0}, building{0}, most{0};
  std::atomic<bool> overlap{false};
  builder_->during_build = [&](std::stop_token) {
    ++building;
    if (measuring > 0) overlap = true;
    --building;
  };
  verifier_.during_judge = [&](std::stop_token) {
    most = std::max<int>(most, ++measuring);
    if (building > 0) overlap = true;
    std::this_thread::yield();
    --measuring;
  };
  PipelineExecutor executor(Parts());
  std::vector<std::future<bool>> jobs;
  for (int i = 0; i < 4; ++i) {
    jobs.push_back(std::async(std::launch::async, [&] {
      return executor.Execute(spec_, task_, [](v1::HeldLease::State) {}, {}).ok();
    }));
  }
  for (auto& job : jobs) EXPECT_TRUE(job.get());
  EXPECT_EQ(most, 1);
  EXPECT_FALSE(overlap);
}

}  // namespace
}  // namespace ksearch
