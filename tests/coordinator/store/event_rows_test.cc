#include "coordinator/store/event_rows.h"

#include "tests/coordinator/store/store_fixture.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class EventRowsTest : public StoreTest {
 protected:
  void Tell(const std::string& run_id, const std::vector<std::string>& texts) {
    StepCommit step = Step(run_id);
    for (const std::string& text : texts) step.events.emplace_back().set_text(text);
    const absl::Status status = store_->CommitStep(step);
    EXPECT_TRUE(status.ok()) << status;
  }
  static std::vector<std::string> Texts(const std::vector<v1::FeedEntry>& entries) {
    std::vector<std::string> lines;
    for (const v1::FeedEntry& entry : entries) {
      lines.push_back(absl::StrCat(entry.cursor(), " ", entry.run().run_id(), "/",
                                   entry.run().event().seq(), " ", entry.run().event().text()));
    }
    return lines;
  }
};

TEST_F(EventRowsTest, CursorNumbersTheEventsOfAllRuns) {
  NewRun("r1");
  NewRun("r2");
  EXPECT_EQ(store_->ReadNewestCursor().value(), 0);
  Tell("r1", {"a", "b"});
  Tell("r2", {"c"});
  Tell("r1", {"d"});
  Reopen();
  EXPECT_EQ(store_->ReadNewestCursor().value(), 4);
  EXPECT_THAT(Texts(*store_->ReadAllEvents(0, 0)),
              ElementsAre("1 r1/1 a", "2 r1/2 b", "3 r2/1 c", "4 r1/3 d"));
  EXPECT_THAT(Texts(*store_->ReadAllEvents(1, 2)), ElementsAre("2 r1/2 b", "3 r2/1 c"));
  EXPECT_THAT(*store_->ReadAllEvents(4, 0), IsEmpty());
}

TEST_F(EventRowsTest, ListenerGetsEveryStepWithTheStatusAfterIt) {
  NewRun("r1");
  std::vector<std::vector<v1::FeedEntry>> told;
  store_->SetEventListener(
      [&](const std::vector<v1::FeedEntry>& entries) { told.push_back(entries); });
  Tell("r1", {"a", "b"});
  Tell("r1", {});
  Tell("r1", {"c"});
  ASSERT_EQ(told.size(), 2u);
  EXPECT_THAT(Texts(told[0]), ElementsAre("1 r1/1 a", "2 r1/2 b"));
  EXPECT_THAT(Texts(told[1]), ElementsAre("3 r1/3 c"));
  EXPECT_EQ(told[0][0].run().status().last_event_seq(), 2);
  EXPECT_EQ(told[0][0].run().status().run_id(), "r1");
  EXPECT_EQ(told[1][0].run().status().state(), v1::RUN_STATE_RUNNING);
}

TEST_F(EventRowsTest, StepThatIsRefusedTellsNothing) {
  NewRun("r1");
  int told = 0;
  store_->SetEventListener([&](const std::vector<v1::FeedEntry>&) { ++told; });
  StepCommit step = Step("r1");
  step.events.emplace_back().set_text("never");
  step.jobs.push_back({"job", Spec("x"), "tag"});
  step.jobs.push_back({"other", Spec("y"), "tag"});
  EXPECT_FALSE(store_->CommitStep(step).ok());
  EXPECT_EQ(told, 0);
  Tell("r1", {"first"});
  EXPECT_EQ(told, 1);
  EXPECT_EQ(store_->ReadNewestCursor().value(), 1);
}

TEST_F(EventRowsTest, StatusIsReadWithoutTheState) {
  NewRun("r1");
  StepCommit step = Step("r1");
  step.state = std::string(1 << 20, 's');
  step.status.set_rounds_done(7);
  step.events.emplace_back();
  ASSERT_TRUE(store_->CommitStep(step).ok());
  const v1::RunStatus status = store_->ReadRunStatus("r1").value();
  EXPECT_EQ(status.SerializeAsString(), store_->ReadRun("r1")->status.SerializeAsString());
  EXPECT_EQ(status.rounds_done(), 7);
  EXPECT_EQ(store_->ReadRunStatus("r9").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace ksearch
