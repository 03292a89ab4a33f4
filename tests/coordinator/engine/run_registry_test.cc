// A store that refuses writes for a while: runs wait and then continue.
#include "coordinator/engine/run_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "coordinator/tasks/directory_suite.h"
#include "tests/fakes/fake_llm_client.h"
#include "tests/fakes/fake_store.h"

namespace ksearch {
namespace {

class NoJobs final : public JobSink {
 public:
  void Submit(const std::string&, const std::string&, const v1::JobSpec&) override {}
  void CancelQueued(const std::string&) override {}
};

// Ends every job with this outcome.
class EndingJobs final : public JobSink {
 public:
  EndingJobs(Store* store, v1::Outcome outcome) : store_(store), outcome_(outcome) {}
  void Submit(const std::string& /*run_id*/, const std::string& job_id,
              const v1::JobSpec& spec) override {
    kinds_.push_back(v1::JobKind_Name(spec.kind()));
    v1::JobResult result;
    result.set_job_id(job_id);
    result.set_outcome(outcome_);
    result.set_message("reference.cpp:3: no such thing");
    store_->RecordResult(result, "", [](const auto&) {});
  }
  void CancelQueued(const std::string&) override {}
  const std::vector<std::string>& kinds() const { return kinds_; }

 private:
  Store* const store_;
  const v1::Outcome outcome_;
  std::vector<std::string> kinds_;
};

class RunRegistryTest : public testing::Test {
 protected:
  RunRegistryTest()
      : tasks_(
            MakeDirectorySuite({std::string(std::getenv("KSEARCH_SOURCE_DIR")) + "/configs/tasks"})
                .value()) {
    auto client = std::make_unique<FakeLlmClient>();
    client_ = client.get();
    client->Hold(true);
    std::vector<ModelCaller::Provider> providers;
    providers.push_back({"p", "m", std::move(client), absl::OkStatus()});
    StartOver(std::move(providers));
  }

  // Restarts with these providers.
  void StartOver(std::vector<ModelCaller::Provider> providers) {
    runs_.reset();
    models_ = std::make_unique<ModelCaller>(&store_, Clock::Real(), std::move(providers),
                                            ModelCaller::Options());
    MakeRegistry(nullptr);
  }

  void MakeRegistry(TaskAdmission* admission) {
    runs_ = std::make_unique<RunRegistry>(RunRegistry::Parts{
        &store_, &jobs_, models_.get(), tasks_.get(), &Clock::Real(), v1::RunConfig(),
        [](v1::DeviceClass, const std::string&) { return "a machine"; }, &prices_,
        /*store_retry=*/absl::Milliseconds(1), admission});
  }
  // Waits until the run's thread has ended.
  void AwaitEnd(const std::string& run_id) {
    for (int64_t steps = 0; State(run_id) == v1::RUN_STATE_RUNNING;) {
      steps = runs_->WaitForStep(run_id, steps, absl::Milliseconds(10));
    }
  }

  std::string Start() {
    v1::RunConfig config;
    config.set_task("softmax_rows_f32");
    config.set_provider("p");
    const auto run_id = runs_->Start("request", config);
    EXPECT_TRUE(run_id.ok()) << run_id.status();
    return run_id.value_or("");
  }
  v1::RunState State(const std::string& run_id) { return store_.ReadRun(run_id)->status.state(); }
  std::vector<std::string> Events(const std::string& run_id) {
    std::vector<std::string> kinds;
    const auto events = store_.ReadEvents(run_id, 0, 100);
    for (const v1::RunEvent& event : *events) {
      kinds.push_back(v1::RunEvent::Kind_Name(event.kind()));
    }
    return kinds;
  }

  FakeStore store_;
  NoJobs jobs_;
  FakeLlmClient* client_ = nullptr;
  const std::unique_ptr<TaskSuite> tasks_;
  const PriceBook prices_;
  std::unique_ptr<ModelCaller> models_;
  std::unique_ptr<RunRegistry> runs_;
};

TEST_F(RunRegistryTest, RunWaitsForRoomOnTheDiskAndGoesOn) {
  store_.FailWrites(absl::ResourceExhaustedError("the disk is full"));
  const std::string run_id = Start();
  EXPECT_EQ(State(run_id), v1::RUN_STATE_RUNNING);
  EXPECT_TRUE(client_->requests().empty());  // no call is sent before it is committed
  store_.FailWrites(absl::OkStatus());
  client_->AwaitRequests(1);
  EXPECT_EQ(State(run_id), v1::RUN_STATE_RUNNING);
  EXPECT_THAT(Events(run_id), testing::ElementsAre("RUN_STARTED"));
  ASSERT_TRUE(runs_->Stop(run_id).ok());
  EXPECT_EQ(State(run_id), v1::RUN_STATE_STOPPED);
}

TEST_F(RunRegistryTest, RunOfAFullDiskCanBeLeftToTheNextLife) {
  store_.FailWrites(absl::ResourceExhaustedError("the disk is full"));
  const std::string run_id = Start();
  runs_.reset();
  EXPECT_EQ(State(run_id), v1::RUN_STATE_RUNNING);
  store_.FailWrites(absl::OkStatus());
  EXPECT_TRUE(Events(run_id).empty());
}

TEST_F(RunRegistryTest, ATaskAtFaultEndsARunBeforeItsFirstCall) {
  EndingJobs jobs(&store_, v1::OUTCOME_TASK_ERROR);
  TaskAdmission admission({&store_, &jobs, [](const v1::JobSpec&) { return true; }});
  MakeRegistry(&admission);
  const std::string run_id = Start();
  AwaitEnd(run_id);
  EXPECT_EQ(State(run_id), v1::RUN_STATE_FAILED);
  EXPECT_THAT(store_.ReadRun(run_id)->status.reason(),
              testing::HasSubstr("the task's own programs are at fault: reference.cpp:3"));
  EXPECT_TRUE(client_->requests().empty());
  EXPECT_THAT(jobs.kinds(), testing::ElementsAre("JOB_KIND_CHECK"));
  runs_.reset();
}

TEST_F(RunRegistryTest, AWrongBaselineEndsARunBeforeItsFirstCall) {
  EndingJobs jobs(&store_, v1::OUTCOME_INCORRECT);
  TaskAdmission admission({&store_, &jobs, [](const v1::JobSpec&) { return true; }});
  MakeRegistry(&admission);
  const std::string run_id = Start();
  AwaitEnd(run_id);
  EXPECT_THAT(store_.ReadRun(run_id)->status.reason(),
              testing::HasSubstr("the baseline of softmax_rows_f32 ends as incorrect"));
  EXPECT_TRUE(client_->requests().empty());
  runs_.reset();
}

TEST_F(RunRegistryTest, ARunOfATaskThatWorksOrCannotBeTriedGoesOn) {
  for (const bool can_place : {true, false}) {
    EndingJobs jobs(&store_, v1::OUTCOME_PASSED);
    TaskAdmission admission({&store_, &jobs, [&](const v1::JobSpec&) { return can_place; }});
    MakeRegistry(&admission);
    v1::RunConfig config;
    config.set_task(can_place ? "softmax_rows_f32" : "matmul_f32");
    config.set_provider("p");
    config.mutable_world_model()->set_time_baseline_first(false);  // nobody would answer
    const auto run_id = runs_->Start(can_place ? "one" : "two", config);
    ASSERT_TRUE(run_id.ok()) << run_id.status();
    client_->AwaitRequests(can_place ? 1 : 2);
    EXPECT_EQ(jobs.kinds().size(), can_place ? 1u : 0u);
    ASSERT_TRUE(runs_->Stop(*run_id).ok());
    runs_.reset();
  }
}

TEST_F(RunRegistryTest, CandidatesMayBeInAnotherLanguageThanTheTasksPrograms) {
  v1::RunConfig config;
  config.set_task("rmsnorm_bf16");
  config.set_provider("p");
  config.set_language(v1::LANGUAGE_PYTHON);
  const auto job = runs_->ScreeningJob(config);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ((*job)->candidate().language(), v1::LANGUAGE_PYTHON);
  EXPECT_EQ((*job)->reference().language(), v1::LANGUAGE_CUDA);
  EXPECT_EQ((*job)->baseline().language(), v1::LANGUAGE_CUDA);

  // But not in one whose programs do not run on its device.
  config.set_language(v1::LANGUAGE_CPP);
  const auto refused = runs_->ScreeningJob(config);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(refused.status().message(),
            "language: cpp programs do not run on the device of task rmsnorm_bf16, a GPU");
}

TEST_F(RunRegistryTest, TheTasksDeviceSaysOnWhichHardwareALanguageOfBothIsSearched) {
  std::vector<v1::DeviceClass> asked;
  RunRegistry::Parts parts = {&store_,
                              &jobs_,
                              models_.get(),
                              tasks_.get(),
                              &Clock::Real(),
                              v1::RunConfig(),
                              [](v1::DeviceClass device, const std::string& model) {
                                return absl::StrCat(v1::DeviceClass_Name(device), " ", model);
                              },
                              &prices_};
  parts.platforms = [&](const v1::JobSpec& spec) {
    asked.push_back(spec.device());
    v1::Platform platform;
    platform.set_device_model("EPYC");
    platform.set_toolkit("python 3.11.2, torch 1.13.0");
    return std::vector<v1::Platform>{platform};
  };
  runs_ = std::make_unique<RunRegistry>(std::move(parts));
  v1::RunConfig config;
  config.set_task("softmax_rows_f32");
  config.set_provider("p");
  config.set_language(v1::LANGUAGE_PYTHON);
  const auto run_id = runs_->Start("request", config);
  ASSERT_TRUE(run_id.ok()) << run_id.status();
  ASSERT_TRUE(runs_->Stop(*run_id).ok());
  EXPECT_EQ(store_.ReadRun(*run_id)->config.target_hardware(),
            "DEVICE_CLASS_CPU EPYC; python 3.11.2, torch 1.13.0");
  EXPECT_THAT(asked, testing::Each(v1::DEVICE_CLASS_CPU));
  // A program in C++ does not depend on which compiler there is.
  config.set_language(v1::LANGUAGE_CPP);
  const auto cpp = runs_->Start("another", config);
  ASSERT_TRUE(cpp.ok()) << cpp.status();
  ASSERT_TRUE(runs_->Stop(*cpp).ok());
  EXPECT_EQ(store_.ReadRun(*cpp)->config.target_hardware(), "DEVICE_CLASS_CPU EPYC");
}

TEST_F(RunRegistryTest, FaultThatDoesNotPassEndsTheRun) {
  store_.FailWrites(absl::FailedPreconditionError("the cursor would go back"));
  const std::string run_id = Start();
  // Its thread has ended, so it can be resumed.
  EXPECT_TRUE(runs_->Stop(run_id).ok());
  store_.FailWrites(absl::OkStatus());
  ASSERT_TRUE(runs_->Resume(run_id, 0, v1::Budget()).ok());
  client_->AwaitRequests(1);
  ASSERT_TRUE(runs_->Stop(run_id).ok());
  EXPECT_EQ(State(run_id), v1::RUN_STATE_STOPPED);
}

TEST_F(RunRegistryTest, ResumeWithoutItsProviderIsRefusedAndSpoilsNothing) {
  const std::string run_id = Start();
  client_->AwaitRequests(1);
  ASSERT_TRUE(runs_->Stop(run_id).ok());
  const std::string before = store_.ReadRun(run_id)->status.SerializeAsString();
  const std::vector<std::string> events = Events(run_id);
  const auto refused = [&](const std::string& why) {
    const absl::Status status = runs_->Resume(run_id, 40, v1::Budget());
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                testing::AllOf(testing::HasSubstr(run_id), testing::HasSubstr(why)));
    EXPECT_EQ(store_.ReadRun(run_id)->status.SerializeAsString(), before);
    EXPECT_EQ(Events(run_id), events);
  };
  StartOver({});
  refused("provider 'p' is not in the coordinator's config (known: none)");
  std::vector<ModelCaller::Provider> unusable;
  unusable.push_back({"p", "m", nullptr, absl::FailedPreconditionError("no key in P_KEY")});
  StartOver(std::move(unusable));
  refused("no key in P_KEY");
}

TEST_F(RunRegistryTest, SteersWhatIsActiveAndNothingElse) {
  v1::SteerRunRequest change;
  change.set_request_id("1");
  change.set_pause(true);
  EXPECT_EQ(runs_->Steer("nosuch", change).code(), absl::StatusCode::kFailedPrecondition);
  const std::string run_id = Start();
  client_->AwaitRequests(1);
  ASSERT_TRUE(runs_->Steer(run_id, change).ok());
  EXPECT_TRUE(store_.ReadRun(run_id)->status.paused());
  change.set_request_id("2");
  change.mutable_edits()->add_ops();
  EXPECT_EQ(runs_->Steer(run_id, change).code(), absl::StatusCode::kFailedPrecondition)
      << "it has no tree yet";
  EXPECT_EQ(State(run_id), v1::RUN_STATE_RUNNING);

  // A change that cannot be written is not acknowledged, and may be sent again.
  change.set_request_id("3");
  change.set_pause(false);
  store_.FailWrites(absl::ResourceExhaustedError("the disk is full"));
  EXPECT_EQ(runs_->Steer(run_id, change).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(runs_->Steer(run_id, change, absl::Milliseconds(20)).code(),
            absl::StatusCode::kUnavailable);
  store_.FailWrites(absl::OkStatus());
  ASSERT_TRUE(runs_->Steer(run_id, change).ok());
  EXPECT_FALSE(store_.ReadRun(run_id)->status.paused());
  ASSERT_TRUE(runs_->Stop(run_id).ok());
  EXPECT_THAT(std::string(runs_->Steer(run_id, change).message()),
              testing::HasSubstr("resume it first"));
  EXPECT_THAT(Events(run_id), testing::ElementsAre("RUN_STARTED", "STEERED", "RUN_RESUMED",
                                                   "STEERED", "RUN_ENDED"));
}

TEST_F(RunRegistryTest, ResumedRunIsSeenToRun) {
  const std::string run_id = Start();
  client_->AwaitRequests(1);
  ASSERT_TRUE(runs_->Stop(run_id).ok());
  ASSERT_TRUE(runs_->Resume(run_id, 0, v1::Budget()).ok());
  EXPECT_EQ(State(run_id), v1::RUN_STATE_RUNNING);
  ASSERT_TRUE(runs_->Stop(run_id).ok());
}

}  // namespace
}  // namespace ksearch
