#include "coordinator/store/run_archive.h"

#include <fstream>

#include "coordinator/store/database.h"
#include "coordinator/store/run_removal.h"
#include "tests/coordinator/store/store_fixture.h"
#include "tests/fakes/database_rows.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class RunArchiveTest : public StoreTest {
 protected:
  static v1::JobSpec SpecOf(const std::string& job, const std::string& task) {
    v1::JobSpec spec = Spec("text of " + job);
    spec.set_task_sha256(task);
    return spec;
  }
  // Long enough to be kept in pieces.
  static std::string LongState() {
    std::string state;
    for (int i = 0; i < 10'000; ++i) absl::StrAppend(&state, i, " ");
    return state;
  }
  // A run with rows in every table that concerns runs. `task` names its blob.
  void Fill(const std::string& run_id, const std::string& job, const std::string& task) {
    ASSERT_TRUE(store_->PutBlob(task, "the task " + task).ok());
    NewRun(run_id);
    StepCommit step = Step(run_id);
    step.state = LongState();
    v1::WorldModel model;
    model.set_revision(1);
    model.add_nodes()->set_node_id("root");
    step.world_model = &model;
    step.jobs.push_back({job, SpecOf(job, task), "screen"});
    step.events.emplace_back().set_kind(v1::RunEvent::RUN_STARTED);
    LlmCallRow& call = step.calls.emplace_back();
    call.call_id = run_id + "/1";
    call.prompt = "improve";
    CandidateRow& candidate = step.candidates.emplace_back();
    candidate.candidate_id = "program of " + run_id;
    candidate.job_id = job;
    const absl::Status status = store_->CommitStep(step);
    ASSERT_TRUE(status.ok()) << status;
    v1::WorkerHello worker;
    worker.set_worker_id("w1");
    ASSERT_TRUE(store_->UpsertWorker(worker, "", absl::Now()).ok());
    AttemptRow attempt;
    attempt.lease_id = "lease of " + job;
    attempt.job_id = job;
    attempt.worker_id = "w1";
    ASSERT_TRUE(Attempt(*store_, attempt).ok());
    ASSERT_TRUE(Record(*store_, Result(job), attempt.lease_id).ok());
  }
  void EndRun(const std::string& run_id) {
    StepCommit step = Step(run_id);
    step.state = LongState();
    step.status.set_state(v1::RUN_STATE_FINISHED);
    ASSERT_TRUE(store_->CommitStep(step).ok());
  }
  std::string archive() const { return folder_.File("archive.db"); }
  // Two runs that ended, and one in progress that shares an evaluation with the first.
  void FillThree() {
    Fill("a", "j-a", "task-a");
    EndRun("a");
    Fill("b", "j-b", "task-common");
    EndRun("b");
    Fill("c", "j-c", "task-common");
    Ask("a", "shared", "j-shared");
    Ask("c", "shared", "j-shared");
    EndRun("a");
    ASSERT_TRUE(Record(*store_, Result("j-shared")).ok());
  }
};

TEST_F(RunArchiveTest, AnArchiveHasTheWholeRunAndNoOther) {
  FillThree();
  const auto plan = MakeArchive(path(), {{"a"}}, archive());
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->contents.runs_size(), 1);
  const v1::ArchivedRun& run = plan->contents.runs(0);
  EXPECT_EQ(run.run_id(), "a");
  EXPECT_EQ(run.results(), 1);  // the shared one stays
  EXPECT_GT(run.result_bytes(), 0);
  EXPECT_EQ(run.llm_calls(), 1);
  EXPECT_EQ(run.llm_call_bytes(), 7);
  EXPECT_THAT(plan->job_ids, ElementsAre("j-a"));
  EXPECT_THAT(plan->blobs, ElementsAre("task-a"));
  EXPECT_EQ(plan->contents.blobs(), 1);
  // The same rows as in the database, in all tables.
  const std::vector<std::string> tables =
      Rows(path(),
           "SELECT m.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c "
           "WHERE m.type = 'table' AND c.name = 'run_id'");
  EXPECT_GE(tables.size(), 10u);
  for (const std::string& table : tables) {
    const std::string columns =
        Rows(path(), absl::StrCat("SELECT group_concat('quote(' || name || ')', '||') FROM "
                                  "pragma_table_info('",
                                  table, "')"))[0];
    const auto rows = Rows(path(), absl::StrCat("SELECT ", columns, " FROM ", table,
                                                " WHERE run_id = 'a' ORDER BY 1"));
    EXPECT_EQ(Rows(archive(), absl::StrCat("SELECT ", columns, " FROM ", table, " ORDER BY 1")),
              rows)
        << table;
    if (table != "memory_gains") {
      EXPECT_FALSE(rows.empty()) << table;
    }
  }
  EXPECT_THAT(Rows(archive(), "SELECT job_id FROM results ORDER BY job_id"),
              ElementsAre("j-a", "j-shared"));
  EXPECT_EQ(Rows(archive(), "SELECT rowid FROM events"),
            Rows(path(), "SELECT rowid FROM events WHERE run_id = 'a'"));
  EXPECT_THAT(Rows(archive(), "PRAGMA foreign_key_check"), IsEmpty());
  EXPECT_THAT(Rows(archive(), "PRAGMA integrity_check"), ElementsAre("ok"));
  // A coordinator reads it back.
  const auto archived = Store::Open(At(archive()));
  ASSERT_TRUE(archived.ok()) << archived.status();
  EXPECT_EQ((*archived)->ListRuns()->size(), 1u);
  EXPECT_EQ((*(*archived)->ReadResult("j-a"))->message(), "from w1");
  EXPECT_EQ((*archived)->ReadBlob("task-a").value(), "the task task-a");
  EXPECT_EQ((*archived)->ListWorkers()->size(), 1u);
}

// Each table either belongs to runs or is listed here, so that a new one is not forgotten.
TEST_F(RunArchiveTest, EveryTableIsAccountedFor) {
  EXPECT_THAT(
      Rows(path(),
           "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND "
           "name NOT IN (SELECT m.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c "
           "WHERE c.name = 'run_id')"),
      UnorderedElementsAre("candidate_sources", "jobs", "attempts", "results", "task_faults",
                           "blobs", "workers"));
}

TEST_F(RunArchiveTest, APlanChangesNothingAndSaysWhatStaysAndWhy) {
  Fill("a", "j-a", "task-a");
  EndRun("a");
  Fill("b", "j-b", "task-b");
  EndRun("b");
  const auto plan = PlanArchive(path(), {{}, absl::InfiniteFuture()});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->contents.runs_size(), 1);
  EXPECT_EQ(plan->contents.runs(0).run_id(), "a");
  EXPECT_EQ(plan->contents.left_out(), "b");
  EXPECT_THAT(Rows(path(), "SELECT run_id FROM runs ORDER BY number"), ElementsAre("a", "b"));
  EXPECT_TRUE(PlanArchive(path(), {{}, absl::UnixEpoch()})->contents.runs().empty());
  // An archive without runs is not created.
  EXPECT_TRUE(MakeArchive(path(), {{}, absl::UnixEpoch()}, archive()).ok());
  EXPECT_FALSE(std::filesystem::exists(archive()));
  EXPECT_THAT(std::string(PlanArchive(path(), {{"b"}}).status().message()),
              HasSubstr("run b has the newest event"));
  EXPECT_EQ(PlanArchive(path(), {{"x"}}).status().code(), absl::StatusCode::kNotFound);
  std::ofstream(archive()) << "mine";
  EXPECT_EQ(MakeArchive(path(), {{"a"}}, archive()).status().code(),
            absl::StatusCode::kAlreadyExists);
}

TEST_F(RunArchiveTest, RunsGoWhileTheStoreIsInUse) {
  FillThree();
  const auto plan = MakeArchive(path(), {{"a", "b"}}, archive());
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (int i = 0; i < plan->contents.runs_size(); ++i) {
    const std::string& run_id = plan->contents.runs(i).run_id();
    EXPECT_TRUE(store_->RemoveRun(run_id, plan->last_event_seqs[i]).value()) << run_id;
    // Again: it has gone.
    EXPECT_FALSE(store_->RemoveRun(run_id, plan->last_event_seqs[i]).value());
  }
  ASSERT_TRUE(store_->RemoveBlobs(plan->blobs).ok());
  EXPECT_THAT(Rows(path(), "SELECT run_id FROM runs"), ElementsAre("c"));
  EXPECT_THAT(Rows(path(), "SELECT job_id FROM results ORDER BY job_id"),
              ElementsAre("j-c", "j-shared"));
  EXPECT_THAT(Rows(path(), "PRAGMA foreign_key_check"), IsEmpty());
  EXPECT_GT(store_->ReadReusableBytes().value(), 0);
  // It was put by this process: a job with it may be on its way.
  EXPECT_TRUE(store_->ReadBlob("task-a").ok());
  Reopen();
  ASSERT_TRUE(store_->RemoveBlobs(plan->blobs).ok());
  EXPECT_FALSE(store_->ReadBlob("task-a").ok());
  EXPECT_TRUE(store_->ReadBlob("task-common").ok());
  // The guards against removal by mistake are in place again.
  EXPECT_FALSE(Database::Open(path(), Database::Mode::kReadWriteCreate)
                   .value()
                   ->Execute("DELETE FROM results")
                   .ok());
  // The same evaluation may be asked for again.
  Ask("c", "again", "j-a");
  EXPECT_TRUE(Record(*store_, Result("j-a")).ok());
}

TEST_F(RunArchiveTest, ARunThatGoesOnAfterItWasArchivedStays) {
  FillThree();
  const auto plan = MakeArchive(path(), {{"a"}}, archive());
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_TRUE(store_->CommitStep(Step("a")).ok());
  EXPECT_THAT(std::string(store_->RemoveRun("a", plan->last_event_seqs[0]).status().message()),
              HasSubstr("has not ended"));
  StepCommit more = Step("a");
  more.events.emplace_back().set_kind(v1::RunEvent::NOTE);
  more.status.set_state(v1::RUN_STATE_STOPPED);
  ASSERT_TRUE(store_->CommitStep(more).ok());
  StepCommit other = Step("c");
  other.events.emplace_back().set_kind(v1::RunEvent::NOTE);
  ASSERT_TRUE(store_->CommitStep(other).ok());
  EXPECT_THAT(std::string(store_->RemoveRun("a", plan->last_event_seqs[0]).status().message()),
              HasSubstr("make another archive"));
  EXPECT_EQ(store_->ReadRun("a")->run_id, "a");
}

}  // namespace
}  // namespace ksearch
