// People pause a run, let it go on, and get errors for impossible changes.
#include "tests/coordinator/engine/search_run_fixture.h"

namespace ksearch {
namespace {

v1::SteerRunRequest Pause(bool pause, const std::string& request_id) {
  v1::SteerRunRequest change;
  change.set_request_id(request_id);
  change.set_pause(pause);
  return change;
}

class SearchRunSteeringTest : public SearchRunTest {
 protected:
  absl::Status Steer(SearchRun* run, const v1::SteerRunRequest& change) {
    absl::Status refusal;
    EXPECT_TRUE(run->Steer(change, &refusal).ok());
    return refusal;
  }
  // Applies arrivals until none is left for now.
  void ApplyAll(SearchRun* run) {
    while (true) {
      const auto progress = run->ApplyNext();
      ASSERT_TRUE(progress.ok()) << progress.status();
      if (*progress != SearchRun::Progress::kApplied) return;
    }
  }
  int CountSteered() {
    const auto events = store_.ReadEvents("run", 0, 1000);
    return static_cast<int>(std::count_if(
        events->begin(), events->end(),
        [](const v1::RunEvent& event) { return event.kind() == v1::RunEvent::STEERED; }));
  }
};

TEST_F(SearchRunSteeringTest, APausedRunAsksNothingNewAndGoesOnInALaterLife) {
  auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  client_->AwaitRequests(2);
  while (arrivals() < 2) AwaitArrivals(arrivals());
  ASSERT_TRUE(Steer(run.get(), Pause(true, "1")).ok());
  EXPECT_TRUE(run->status().paused());
  ApplyAll(run.get());
  // Both replies were applied; the evaluations that follow wait.
  EXPECT_EQ(workers_.submitted().size(), 0u);
  EXPECT_EQ(State().held_jobs_size(), 2);
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_RUNNING) << "a pause is no used-up budget";

  // After a kill it is still paused.
  run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  ApplyAll(run.get());
  EXPECT_TRUE(store_.ReadRun("run")->status.paused());
  EXPECT_EQ(workers_.submitted().size(), 0u);

  ASSERT_TRUE(Steer(run.get(), Pause(false, "2")).ok());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED);
  EXPECT_FALSE(run->status().paused());
  EXPECT_EQ(run->status().rounds_done(), 6);
  EXPECT_EQ(CountSteered(), 2);
}

TEST_F(SearchRunSteeringTest, AChangeThatIsSentAgainIsMadeOnce) {
  const auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  ASSERT_TRUE(Steer(run.get(), Pause(true, "1")).ok());
  ASSERT_TRUE(Steer(run.get(), Pause(false, "2")).ok());
  ASSERT_TRUE(Steer(run.get(), Pause(true, "1")).ok()) << "it was made already";
  EXPECT_FALSE(run->status().paused());
  EXPECT_EQ(CountSteered(), 2);
  RunToEnd(run.get());
  EXPECT_EQ(Steer(run.get(), Pause(true, "3")).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(SearchRunSteeringTest, AStoppedRunThatIsResumedIsNotPaused) {
  auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  ASSERT_TRUE(Steer(run.get(), Pause(true, "1")).ok());
  ASSERT_TRUE(run->End(v1::RUN_STATE_STOPPED, "by request").ok());
  run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  EXPECT_FALSE(run->status().paused());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED);
}

TEST_F(SearchRunSteeringTest, AStrategyWithoutATreeIsNotEdited) {
  const auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  v1::SteerRunRequest change;
  change.set_request_id("1");
  change.mutable_edits()->add_ops();
  const absl::Status refusal = Steer(run.get(), change);
  EXPECT_EQ(refusal.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refusal.message()), testing::HasSubstr("has no world model"));
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED) << "a refusal ends nothing";
  EXPECT_EQ(CountSteered(), 0);
}

TEST_F(SearchRunSteeringTest, ARunThatRepeatsARecordingIsPausedButNotEdited) {
  const auto run = NewRun(6, {"call/1"});
  ASSERT_TRUE(run->Begin().ok());
  v1::SteerRunRequest change;
  change.set_request_id("1");
  change.mutable_edits()->add_ops();
  EXPECT_THAT(std::string(Steer(run.get(), change).message()),
              testing::HasSubstr("repeats a recorded one"));
  EXPECT_TRUE(Steer(run.get(), Pause(true, "2")).ok());
  EXPECT_TRUE(run->status().paused());
}

}  // namespace
}  // namespace ksearch
