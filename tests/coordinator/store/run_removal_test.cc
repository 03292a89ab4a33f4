#include "coordinator/store/run_removal.h"

#include <fstream>

#include "coordinator/store/database.h"
#include "tests/coordinator/store/store_fixture.h"
#include "tests/fakes/database_rows.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RunRemovalTest : public StoreTest {
 protected:
  // A run with an event, a world model, a call and a program; `job` is the program's screening.
  void Fill(const std::string& run_id, const std::string& job, const std::string& program) {
    NewRun(run_id);
    StepCommit step = Step(run_id);
    // Long enough to be kept in pieces.
    for (int i = 0; i < 10'000; ++i) absl::StrAppend(&step.state, i, " ");
    step.jobs.push_back({job, Spec("text of " + job), "screen"});
    step.events.emplace_back().set_kind(v1::RunEvent::RUN_STARTED);
    LlmCallRow& call = step.calls.emplace_back();
    call.call_id = run_id + "/1";
    CandidateRow& candidate = step.candidates.emplace_back();
    candidate.candidate_id = program;
    candidate.job_id = job;
    const absl::Status status = store_->CommitStep(step);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_TRUE(Record(*store_, Result(job)).ok());
  }
  void EndRun(const std::string& run_id) {
    StepCommit step = Step(run_id);
    step.status.set_state(v1::RUN_STATE_FINISHED);
    ASSERT_TRUE(store_->CommitStep(step).ok());
  }
  // Removes runs while the coordinator is stopped.
  absl::StatusOr<RemovedRuns> Remove(const std::vector<std::string>& runs,
                                     absl::Time ended_before = absl::InfinitePast()) {
    store_.reset();
    return RemoveRuns(path(), {runs, ended_before}, archive());
  }
  std::string archive() const { return folder_.File("archive.db"); }
  std::vector<std::string> Read(const std::string& sql) { return Rows(path(), sql); }
};

TEST_F(RunRemovalTest, ARunGoesWithAllThatOnlyItHas) {
  Fill("old", "j-old", "program-old");
  Ask("old", "shared", "j-shared");
  EndRun("old");
  Fill("new", "j-new", "program-new");
  Ask("new", "shared", "j-shared");
  ASSERT_TRUE(Record(*store_, Result("j-shared")).ok());
  ASSERT_TRUE(store_->AddJob("j-eval", Spec("an evaluation")).ok());
  const auto removed = Remove({"ol"});
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_THAT(removed->run_ids, ElementsAre("old"));
  EXPECT_EQ(removed->results, 1);
  EXPECT_EQ(removed->calls, 1);
  // In all tables.
  const std::vector<std::string> tables = Read(
      "SELECT m.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c "
      "WHERE m.type = 'table' AND c.name = 'run_id'");
  EXPECT_GE(tables.size(), 10u);
  for (const std::string& table : tables) {
    EXPECT_THAT(Read(absl::StrCat("SELECT run_id FROM ", table, " WHERE run_id = 'old'")),
                IsEmpty())
        << table;
  }
  EXPECT_THAT(Read("SELECT job_id FROM jobs ORDER BY job_id"),
              ElementsAre("j-eval", "j-new", "j-shared"));
  EXPECT_THAT(Read("SELECT job_id FROM results ORDER BY job_id"), ElementsAre("j-new", "j-shared"));
  EXPECT_THAT(Read("SELECT candidate_id FROM candidate_sources"), ElementsAre("program-new"));
  EXPECT_THAT(Read("PRAGMA integrity_check"), ElementsAre("ok"));
  EXPECT_THAT(Read("PRAGMA foreign_key_check"), IsEmpty());

  // The archive has everything, as a separate database.
  auto archived = Store::Open(At(archive()));
  ASSERT_TRUE(archived.ok()) << archived.status();
  EXPECT_EQ((*archived)->ReadRun("old")->run_id, "old");
  EXPECT_EQ((*(*archived)->ReadResult("j-old"))->message(), "from w1");
}

TEST_F(RunRemovalTest, WhatIsLeftIsAsGoodAsBefore) {
  Fill("old", "j-old", "program");
  EndRun("old");
  Fill("new", "j-new", "program");
  const int64_t cursor = store_->ReadNewestCursor().value();
  ASSERT_TRUE(Remove({"old"}).ok());
  Reopen();
  EXPECT_EQ(store_->ReadNewestCursor().value(), cursor);
  EXPECT_THAT(Read("SELECT candidate_id FROM candidate_sources"), ElementsAre("program"));
  // The same evaluation may be asked for again.
  Ask("new", "again", "j-old");
  EXPECT_TRUE(Record(*store_, Result("j-old")).ok());
  EndRun("new");
  store_.reset();
  auto database = Database::Open(path(), Database::Mode::kReadWriteCreate);
  ASSERT_TRUE(database.ok());
  for (const char* table : {"results", "llm_calls", "candidate_sources"}) {
    EXPECT_THAT(std::string((*database)->Execute(absl::StrCat("DELETE FROM ", table)).message()),
                HasSubstr("are never deleted"));
  }
}

TEST_F(RunRemovalTest, OldRunsGoByTheTimeTheyEnded) {
  Fill("a", "j-a", "pa");
  EndRun("a");
  Fill("b", "j-b", "pb");
  Fill("c", "j-c", "pc");
  EndRun("c");
  // `b` has not ended and `c` has the newest event.
  const auto removed = Remove({}, absl::InfiniteFuture());
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_THAT(removed->run_ids, ElementsAre("a"));
  const auto nothing = RemoveRuns(path(), {{}, absl::InfiniteFuture()}, folder_.File("second.db"));
  ASSERT_TRUE(nothing.ok()) << nothing.status();
  EXPECT_THAT(nothing->run_ids, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder_.File("second.db")));
}

TEST_F(RunRemovalTest, WhatMayNotBeRemovedIsNamedAndNothingIs) {
  Fill("a", "j-a", "pa");
  EndRun("a");
  Fill("b", "j-b", "pb");
  // In use.
  EXPECT_THAT(
      std::string(RemoveRuns(path(), {{"a"}, absl::InfinitePast()}, archive()).status().message()),
      HasSubstr("another coordinator (pid "));
  const auto fault = [&](const std::vector<std::string>& runs) {
    return std::string(Remove(runs).status().message());
  };
  EXPECT_THAT(fault({"a", "b"}), HasSubstr("run b has not ended"));
  EXPECT_THAT(fault({"nowhere"}), HasSubstr("nowhere"));
  Reopen();
  EndRun("b");
  EXPECT_THAT(fault({"b"}), HasSubstr("run b has the newest event"));
  EXPECT_FALSE(std::filesystem::exists(archive()));
  std::ofstream(archive()) << "mine";
  EXPECT_THAT(fault({"a"}), HasSubstr("archive.db exists"));
  EXPECT_THAT(Read("SELECT run_id FROM runs ORDER BY run_id"), ElementsAre("a", "b"));
  EXPECT_EQ(
      RemoveRuns(folder_.File("none.db"), {{"a"}, absl::InfinitePast()}, archive()).status().code(),
      absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace ksearch
