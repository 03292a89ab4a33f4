#include "coordinator/store/run_rows.h"

#include "absl/time/clock.h"
#include "common/textproto.h"
#include "tests/coordinator/store/store_fixture.h"
#include "tests/fakes/database_rows.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

v1::RunEvent Event(v1::RunEvent::Kind kind, const std::string& text) {
  v1::RunEvent event;
  event.set_kind(kind);
  event.set_text(text);
  return event;
}

class RunRowsTest : public StoreTest {};

TEST_F(RunRowsTest, CreateRunKeepsEverythingGiven) {
  RunRow run;
  run.run_id = "r1";
  run.request_id = "q1";
  run.config.set_task("axpy");
  run.config.set_seed(7);
  run.status.set_state(v1::RUN_STATE_RUNNING);
  run.state = std::string("a\0b", 3);
  run.cursor = 5;
  ASSERT_EQ(store_->CreateRun(run).value(), "r1");
  Reopen();
  const RunRow read = store_->ReadRun("r1").value();
  EXPECT_EQ(read.run_id, "r1");
  EXPECT_EQ(read.request_id, "q1");
  EXPECT_EQ(read.config.task(), "axpy");
  EXPECT_EQ(read.config.seed(), 7u);
  EXPECT_EQ(read.status.run_id(), "r1");
  EXPECT_EQ(read.status.state(), v1::RUN_STATE_RUNNING);
  EXPECT_EQ(read.state, run.state);
  EXPECT_EQ(read.cursor, 5);
}

TEST_F(RunRowsTest, SameRequestIsTheSameRun) {
  RunRow run;
  run.run_id = "r1";
  run.request_id = "q";
  ASSERT_EQ(store_->CreateRun(run).value(), "r1");
  run.run_id = "r2";
  EXPECT_EQ(store_->CreateRun(run).value(), "r1");
  EXPECT_EQ(store_->ListRuns()->size(), 1u);
}

TEST_F(RunRowsTest, RunIdOfAnotherRequestIsRefused) {
  NewRun("r1");
  RunRow run;
  run.run_id = "r1";
  run.request_id = "other";
  EXPECT_EQ(store_->CreateRun(run).status().code(), absl::StatusCode::kAlreadyExists);
  run.run_id = "";
  EXPECT_EQ(store_->CreateRun(run).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(RunRowsTest, RunsWithoutRequestIdAreDistinct) {
  RunRow run;
  run.run_id = "r1";
  ASSERT_EQ(store_->CreateRun(run).value(), "r1");
  run.run_id = "r2";
  EXPECT_EQ(store_->CreateRun(run).value(), "r2");
}

TEST_F(RunRowsTest, UnknownRunIsNotFound) {
  EXPECT_EQ(store_->ReadRun("r9").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_->CommitStep(Step("r9")).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_->ReadWorldModel("r9", 0).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(*store_->ReadEvents("r9", 0, 10), IsEmpty());
}

TEST_F(RunRowsTest, ResolveTakesIdPrefixAndLast) {
  EXPECT_EQ(store_->ResolveRun("last").status().code(), absl::StatusCode::kNotFound);
  NewRun("ab12");
  NewRun("ab34");
  NewRun("ab");
  EXPECT_EQ(store_->ResolveRun("ab12").value(), "ab12");
  EXPECT_EQ(store_->ResolveRun("ab3").value(), "ab34");
  EXPECT_EQ(store_->ResolveRun("ab").value(), "ab");  // exact wins over prefix
  EXPECT_EQ(store_->ResolveRun("last").value(), "ab");
  const absl::Status ambiguous = store_->ResolveRun("a").status();
  EXPECT_EQ(ambiguous.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(ambiguous.message()), HasSubstr("ab12"));
  EXPECT_EQ(store_->ResolveRun("x").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_->ResolveRun("%").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_->ResolveRun("").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(RunRowsTest, ListIsNewestFirst) {
  NewRun("b");
  NewRun("a");
  const std::vector<v1::RunStatus> runs = store_->ListRuns().value();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].run_id(), "a");
  EXPECT_EQ(runs[1].run_id(), "b");
}

TEST_F(RunRowsTest, ALongStateIsKeptInPiecesAndReadAsItWas) {
  NewRun("r1");
  NewRun("r2");
  StepCommit step = Step("r1");
  StepCommit other = Step("r2");
  other.state = std::string(100'000, 'x');
  ASSERT_TRUE(store_->CommitStep(other).ok());
  const auto pieces = [&](const std::string& run) {
    return Rows(path(), "SELECT count(*) FROM run_state_pieces WHERE run_id = '" + run + "'").at(0);
  };
  // Grows, changes in the middle, shrinks, and is long again.
  for (const int lines : {10, 5000, 5001, 5000, 20, 3000}) {
    step.state.clear();
    for (int i = 0; i < lines; ++i) step.state += absl::StrCat("line ", i, "\n");
    if (lines == 5001) step.state.insert(20'000, "something new");
    ++step.cursor;
    ASSERT_TRUE(store_->CommitStep(step).ok());
    EXPECT_EQ(store_->ReadRun("r1")->state, step.state) << lines;
    EXPECT_EQ(pieces("r1") == "0", step.state.size() <= (16 << 10)) << lines;
  }
  Reopen();
  EXPECT_EQ(store_->ReadRun("r1")->state, step.state);
  EXPECT_EQ(store_->ReadRun("r2")->state, other.state);
}

TEST_F(RunRowsTest, StepReplacesStateAndAppendsEvents) {
  NewRun("r1");
  StepCommit step = Step("r1");
  step.cursor = 3;
  step.state = "first";
  step.events = {Event(v1::RunEvent::RUN_STARTED, "a"), Event(v1::RunEvent::NOTE, "b")};
  ASSERT_TRUE(store_->CommitStep(step).ok());
  step.cursor = 4;
  step.state = "second";
  step.status.set_rounds_done(2);
  step.events = {Event(v1::RunEvent::NOTE, "c")};
  ASSERT_TRUE(store_->CommitStep(step).ok());
  Reopen();
  const RunRow run = store_->ReadRun("r1").value();
  EXPECT_EQ(run.state, "second");
  EXPECT_EQ(run.cursor, 4);
  EXPECT_EQ(run.status.rounds_done(), 2);
  EXPECT_EQ(run.status.last_event_seq(), 3);
  EXPECT_EQ(store_->ListRuns()->at(0).last_event_seq(), 3);
  const std::vector<v1::RunEvent> events = store_->ReadEvents("r1", 1, 10).value();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].seq(), 2);
  EXPECT_EQ(events[0].text(), "b");
  EXPECT_EQ(events[1].seq(), 3);
  EXPECT_TRUE(events[1].has_at());
  EXPECT_EQ(store_->ReadEvents("r1", 0, 2)->size(), 2u);
}

TEST_F(RunRowsTest, EventKeepsItsOwnTime) {
  NewRun("r1");
  StepCommit step = Step("r1");
  step.events = {Event(v1::RunEvent::NOTE, "a")};
  *step.events[0].mutable_at() = ToProto(absl::FromUnixSeconds(1000));
  ASSERT_TRUE(store_->CommitStep(step).ok());
  EXPECT_EQ(store_->ReadEvents("r1", 0, 1)->at(0).at().seconds(), 1000);
}

TEST_F(RunRowsTest, CursorNeverGoesBack) {
  NewRun("r1");
  StepCommit step = Step("r1");
  step.cursor = 3;
  ASSERT_TRUE(store_->CommitStep(step).ok());
  step.cursor = 2;
  EXPECT_EQ(store_->CommitStep(step).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(RunRowsTest, FailedStepLeavesNoTrace) {
  NewRun("r1");
  Ask("r1", "screen/1", "j1");
  StepCommit step = Step("r1");
  step.cursor = 9;
  step.state = "new";
  step.events = {Event(v1::RunEvent::NOTE, "a")};
  v1::WorldModel model;
  model.set_revision(1);
  step.world_model = &model;
  step.jobs.push_back({"j2", Spec("b"), "screen/2"});
  step.jobs.push_back({"j3", Spec("c"), "screen/1"});  // the tag stands for j1
  const absl::Status status = store_->CommitStep(step);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("screen/1"));
  EXPECT_EQ(store_->ReadRun("r1")->cursor, 0);
  EXPECT_EQ(store_->ReadRun("r1")->state, "");
  EXPECT_THAT(*store_->ReadEvents("r1", 0, 0), IsEmpty());
  EXPECT_FALSE(store_->ReadWorldModel("r1", 0).ok());
  EXPECT_EQ(store_->ReadJob("j2").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(RunRowsTest, WorldModelsAreKeptByRevision) {
  NewRun("r1");
  for (int revision : {1, 2}) {
    StepCommit step = Step("r1");
    v1::WorldModel model;
    model.set_revision(revision);
    model.set_kernel_summary(absl::StrCat("v", revision));
    step.world_model = &model;
    ASSERT_TRUE(store_->CommitStep(step).ok());
    EXPECT_TRUE(store_->CommitStep(step).ok());  // the same again is not a change
  }
  Reopen();
  EXPECT_EQ(store_->ReadWorldModel("r1", 0)->kernel_summary(), "v2");
  EXPECT_EQ(store_->ReadWorldModel("r1", 1)->kernel_summary(), "v1");
  EXPECT_EQ(store_->ReadWorldModel("r1", 3).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(RunRowsTest, RevisionNeverChangesItsContent) {
  NewRun("r1");
  StepCommit step = Step("r1");
  v1::WorldModel model;
  model.set_revision(1);
  step.world_model = &model;
  ASSERT_TRUE(store_->CommitStep(step).ok());
  model.set_kernel_summary("changed");
  EXPECT_EQ(store_->CommitStep(step).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(RunRowsTest, ArrivalsComeInOrderAfterACursor) {
  NewRun("r1");
  Ask("r1", "a", "j1");
  Ask("r1", "b", "j2");
  ASSERT_TRUE(Record(*store_, Result("j2")).ok());
  ASSERT_TRUE(Record(*store_, Result("j1")).ok());
  EXPECT_THAT(Arrivals("r1"), ElementsAre("result j2 b", "result j1 a"));
  const std::vector<Arrival> all = store_->ReadArrivals("r1", 0, 0).value();
  ASSERT_EQ(store_->ReadArrivals("r1", all[0].seq, 10)->size(), 1u);
  EXPECT_EQ(store_->ReadArrivals("r1", 0, 1)->size(), 1u);
  EXPECT_LT(all[0].seq, all[1].seq);
}

}  // namespace
}  // namespace ksearch
