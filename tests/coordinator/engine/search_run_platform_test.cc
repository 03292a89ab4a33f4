// One run and the platform of its scores, in a fleet of two models of device.
#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/platform.h"
#include "tests/coordinator/engine/search_run_fixture.h"

namespace ksearch {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

v1::Platform Model(const std::string& model) {
  v1::Platform platform;
  platform.set_device_model(model);
  platform.set_architecture("sm_90a");
  platform.set_harness_version("5");
  platform.set_toolkit("nvcc 13.0");
  return platform;
}

// Does every job at once, on the model that it requires, else on an H100, where everything is ten
// times as fast as on an H200. Candidate n is n times as fast as the baseline on an H200.
class MixedWorkers final : public JobSink {
 public:
  explicit MixedWorkers(Store* store) : store_(store) {}
  void Submit(const std::string& /*run_id*/, const std::string& job_id,
              const v1::JobSpec& spec) override {
    const std::string& asked = spec.platform().device_model();
    const std::string model = asked.empty() ? "H100" : asked;
    models.push_back(model);
    salts.push_back(spec.salt());
    if (spec.kind() == v1::JOB_KIND_SCREEN) screens[model].push_back(Number(spec));
    v1::JobResult result;
    result.set_job_id(job_id);
    result.set_attempt(1);
    const v1::Platform done_with = Model(model);
    EXPECT_TRUE(Meets(done_with, spec.platform()));
    result.mutable_device()->set_name(model);
    result.mutable_device()->set_architecture(done_with.architecture());
    result.mutable_device()->set_harness_version(done_with.harness_version());
    result.mutable_device()->set_toolkit(done_with.toolkit());
    const int number = Number(spec);
    result.set_outcome(wrong.contains(number) ? v1::OUTCOME_INCORRECT : v1::OUTCOME_PASSED);
    if (result.outcome() == v1::OUTCOME_PASSED) {
      v1::WorkloadResult* workload = result.add_workloads();
      workload->mutable_candidate()->set_median_us(100.0 / number / (model == "H100" ? 10 : 1));
      workload->mutable_baseline()->set_median_us(100.0);
    }
    for (const v1::Rival& rival : spec.rivals()) {
      v1::Comparison* comparison = result.add_comparisons();
      comparison->set_rival_id(rival.rival_id());
      comparison->set_verdict(v1::Comparison::IMPROVED);
      comparison->set_log_speedup(0.7);
    }
    store_->RecordResult(result, "lease", [](auto) {});
  }
  void CancelQueued(const std::string&) override {}

  std::set<int> wrong;              // candidates that are
  std::vector<std::string> models;  // of all jobs, in order
  std::vector<std::string> salts;   // the same
  std::map<std::string, std::vector<int>> screens;

 private:
  static int Number(const v1::JobSpec& spec) {
    return std::stoi(spec.candidate().files(0).content());
  }
  Store* const store_;
};

class SearchRunPlatformTest : public SearchRunTest {
 protected:
  SearchRunPlatformTest() : fleet_(&store_) {
    jobs_ = &fleet_;
    platforms_ = [this](const v1::JobSpec& spec) {
      std::vector<v1::Platform> fitting;
      for (const v1::Platform& platform : connected_) {
        if (Meets(platform, spec.platform())) fitting.push_back(platform);
      }
      return fitting;
    };
  }
  // Sets the configuration of a request.
  void SetConfig(const std::string& run_id, const v1::Platform& platform, bool any_device) {
    row_.run_id = row_.request_id = run_id;
    *row_.config.mutable_platform() = platform;
    row_.config.set_any_device(any_device);
    EXPECT_TRUE(store_.CreateRun(row_).ok());
  }
  void RunAll(const std::string& run_id) {
    const auto run = NewRun(6, {}, run_id);
    ASSERT_TRUE(run->Begin().ok());
    RunToEnd(run.get());
    EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED);
  }
  std::vector<std::string> Texts(const std::string& run_id, v1::RunEvent::Kind kind) {
    std::vector<std::string> texts;
    const auto events = store_.ReadEvents(run_id, 0, 1000);
    for (const v1::RunEvent& event : *events) {
      if (event.kind() == kind) texts.push_back(event.text());
    }
    return texts;
  }

  std::vector<v1::Platform> connected_ = {Model("H200"), Model("H100")};
  MixedWorkers fleet_;
};

TEST_F(SearchRunPlatformTest, ARunKeepsToTheFirstModel) {
  RunAll("run");
  EXPECT_THAT(fleet_.models, Each(std::string("H200")));
  EXPECT_THAT(fleet_.screens["H200"], SizeIs(6));
  EXPECT_EQ(PlatformText(store_.ReadRun("run")->status.platform()), PlatformText(Model("H200")));
}

TEST_F(SearchRunPlatformTest, ARunKeepsToTheModelThatItNames) {
  v1::Platform asked;
  asked.set_device_model("H100");
  SetConfig("named", asked, false);
  RunAll("named");
  EXPECT_THAT(fleet_.models, Each(std::string("H100")));
}

TEST_F(SearchRunPlatformTest, ItsResultsAnswerOnlyRunsOfItsPlatform) {
  RunAll("run");
  const size_t jobs = fleet_.models.size();
  SetConfig("again", v1::Platform(), false);
  RunAll("again");
  EXPECT_EQ(fleet_.models.size(), jobs) << "all was on record";
  v1::Platform other;
  other.set_device_model("H100");
  SetConfig("other", other, false);
  RunAll("other");
  EXPECT_EQ(fleet_.screens["H100"].size(), 6u) << "nothing was on record for this model";
  connected_ = {Model("H200")};
  connected_[0].set_harness_version("6");
  SetConfig("newer", v1::Platform(), false);
  const auto run = NewRun(6, {}, "newer");
  EXPECT_EQ(run->platform().harness_version(), "6");
}

TEST_F(SearchRunPlatformTest, KilledAfterEveryStepItStaysOnItsModel) {
  for (int life = 0; life < 200; ++life) {
    const int seen = arrivals();
    const auto run = NewRun();
    ASSERT_TRUE(run->Begin().ok());
    const auto progress = run->ApplyNext();
    ASSERT_TRUE(progress.ok()) << progress.status();
    if (*progress == SearchRun::Progress::kEnded) break;
    if (*progress == SearchRun::Progress::kWaiting) AwaitArrivals(seen);
    // The fleet changes meanwhile: more of the other model, then nothing else.
    connected_ = {Model("H100")};
  }
  EXPECT_EQ(store_.ReadRun("run")->status.state(), v1::RUN_STATE_FINISHED);
  EXPECT_THAT(fleet_.screens["H200"], SizeIs(6));
  EXPECT_THAT(fleet_.models, Each(std::string("H200")));
}

TEST_F(SearchRunPlatformTest, WithoutAWorkerJobsWaitForTheFirstOneAlsoAcrossLives) {
  connected_.clear();
  auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  // Both questions that are in flight are answered; their candidates wait.
  for (int folded = 0; folded < 2;) {
    const int seen = arrivals();
    const auto progress = run->ApplyNext();
    ASSERT_TRUE(progress.ok()) << progress.status();
    folded += *progress == SearchRun::Progress::kApplied ? 1 : 0;
    if (*progress == SearchRun::Progress::kWaiting) AwaitArrivals(seen);
  }
  EXPECT_TRUE(run->awaits_platform());
  EXPECT_THAT(fleet_.models, IsEmpty());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_RUNNING);
  EXPECT_FALSE(run->status().has_platform());
  EXPECT_EQ(run->status().jobs_in_flight(), 0);
  EXPECT_EQ(*run->ApplyNext(), SearchRun::Progress::kWaiting);

  run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  EXPECT_TRUE(run->awaits_platform());
  connected_ = {Model("H100")};
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(run->status().platform().device_model(), "H100");
  EXPECT_THAT(fleet_.screens["H100"], SizeIs(6));
  EXPECT_THAT(fleet_.models, Each(std::string("H100")));
}

TEST_F(SearchRunPlatformTest, OnAnyDeviceOnlyTheRunsOwnModelGivesScores) {
  fleet_.wrong = {2, 5};
  SetConfig("any", v1::Platform(), /*any_device=*/true);
  RunAll("any");
  // An H100 takes every screening that names no model. Screenings that pass there are repeated.
  EXPECT_THAT(fleet_.screens["H100"], SizeIs(6));
  EXPECT_THAT(fleet_.screens["H200"], testing::UnorderedElementsAre(1, 3, 4, 6));
  EXPECT_THAT(Texts("any", v1::RunEvent::NOTE), SizeIs(4));
  EXPECT_THAT(Texts("any", v1::RunEvent::NOTE),
              Each(HasSubstr("done on H100 sm_90a, harness 5, nvcc 13.0; repeated on the run's own "
                             "H200")));
  const auto row = store_.ReadRun("any");
  EXPECT_EQ(row->status.platform().device_model(), "H200");
  EXPECT_TRUE(row->status.any_device());
  // Every screened score that challenges the incumbent is one of an H200: n, not 10 n.
  v1::RunEngineState state = State("any");
  EXPECT_DOUBLE_EQ(state.incumbent().incumbent().score(), 6);
}

TEST_F(SearchRunPlatformTest, RunsOfAnExperimentMeasureForThemselvesAloneAlsoWhatTheyRepeat) {
  for (const char* arm : {"a", "b"}) {
    v1::Trial* trial = row_.config.mutable_trial();
    trial->set_experiment("e");
    trial->set_arm(arm);
    trial->set_seed(1);
    SetConfig(arm, v1::Platform(), true);
    fleet_.salts.clear();
    fleet_.screens.clear();
    RunAll(arm);
    EXPECT_THAT(fleet_.screens["H100"], SizeIs(6));
    EXPECT_THAT(fleet_.screens["H200"], SizeIs(6)) << "repeated on the run's own model";
    EXPECT_THAT(fleet_.salts, Each(StartsWith(absl::StrCat("trial/e/", arm, "/1/"))));
  }
}

TEST_F(SearchRunPlatformTest, OnAnyDeviceNothingIsLostByAKill) {
  fleet_.wrong = {2};
  SetConfig("any", v1::Platform(), /*any_device=*/true);
  for (int life = 0; life < 300; ++life) {
    const int seen = arrivals();
    const auto run = NewRun(6, {}, "any");
    ASSERT_TRUE(run->Begin().ok());
    const auto progress = run->ApplyNext();
    ASSERT_TRUE(progress.ok()) << progress.status();
    if (*progress == SearchRun::Progress::kEnded) break;
    if (*progress == SearchRun::Progress::kWaiting) AwaitArrivals(seen);
  }
  EXPECT_EQ(store_.ReadRun("any")->status.state(), v1::RUN_STATE_FINISHED);
  EXPECT_THAT(fleet_.screens["H100"], SizeIs(6));
  EXPECT_THAT(fleet_.screens["H200"], SizeIs(5));
}

TEST_F(SearchRunPlatformTest, ARunOfAnEarlierReleaseKeepsToWhatItsFirstResultWasMeasuredWith) {
  connected_ = {Model("H100")};
  auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  while (fleet_.models.size() < 2) {
    const int seen = arrivals();
    const auto progress = run->ApplyNext();
    ASSERT_TRUE(progress.ok()) << progress.status();
    if (*progress == SearchRun::Progress::kWaiting) AwaitArrivals(seen);
  }
  run.reset();
  // The state as that release would have left it.
  const auto row = store_.ReadRun("run");
  v1::RunEngineState state = State();
  state.clear_platform();
  StepCommit step;
  step.run_id = "run";
  step.cursor = row->cursor;
  step.state = state.SerializeAsString();
  step.status = row->status;
  step.status.clear_platform();
  ASSERT_TRUE(store_.CommitStep(step).ok());
  connected_ = {Model("H200"), Model("H100")};
  RunAll("run");
  EXPECT_THAT(fleet_.models, Each(std::string("H100")));
}

TEST_F(SearchRunPlatformTest, AJobWithAResultOfAnotherPlatformIsTriedAgain) {
  v1::JobSpec spec;
  spec.set_task_name("t");
  spec.set_kind(v1::JOB_KIND_SCREEN);
  SetPlatform(Model("H200"), &spec);
  v1::JobResult result;
  result.set_job_id(JobId(spec));
  result.set_outcome(v1::OUTCOME_PASSED);
  result.mutable_device()->set_name("H100");
  ASSERT_TRUE(store_.AddJob(result.job_id(), spec).ok());
  store_.RecordResult(result, "", [](auto) {});
  v1::JobSpec asked = spec;
  const auto job_id = IdOfJobToTry(store_, &asked);
  ASSERT_TRUE(job_id.ok());
  EXPECT_NE(*job_id, result.job_id());
  EXPECT_THAT(asked.salt(), Not(IsEmpty()));
}

}  // namespace
}  // namespace ksearch
