#include "coordinator/store/job_rows.h"

#include "absl/time/clock.h"
#include "common/identity.h"
#include "tests/coordinator/store/store_fixture.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class JobRowsTest : public StoreTest {
 protected:
  std::vector<std::string> Unfinished() {
    std::vector<std::string> ids;
    const auto jobs = store_->ReadUnfinishedJobs();
    for (const QueuedJob& job : jobs.value()) {
      ids.push_back(absl::StrCat(job.job_id, " ", job.attempts));
    }
    return ids;
  }
};

TEST_F(JobRowsTest, JobWaitsUntilItsResultIsThere) {
  ASSERT_TRUE(store_->AddJob("j2", Spec("b")).ok());
  ASSERT_TRUE(store_->AddJob("j1", Spec("a")).ok());
  EXPECT_TRUE(store_->AddJob("j1", Spec("a")).ok());
  Reopen();
  EXPECT_THAT(Unfinished(), ElementsAre("j2 0", "j1 0"));  // oldest first
  EXPECT_EQ(store_->ReadJob("j1")->candidate().files(0).content(), "a");
  ASSERT_EQ(Record(*store_, Result("j2")).value(), v1::RecordResultReply::RECORDED);
  EXPECT_THAT(Unfinished(), ElementsAre("j1 0"));
  EXPECT_EQ(store_->AddJob("", Spec("a")).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(JobRowsTest, FirstResultWins) {
  ASSERT_TRUE(store_->AddJob("j1", Spec("a")).ok());
  EXPECT_FALSE(store_->ReadResult("j1")->has_value());
  EXPECT_EQ(Record(*store_, Result("j1", "w1")).value(), v1::RecordResultReply::RECORDED);
  EXPECT_EQ(Record(*store_, Result("j1", "w2")).value(), v1::RecordResultReply::ALREADY_RECORDED);
  Reopen();
  EXPECT_EQ(Record(*store_, Result("j1", "w3")).value(), v1::RecordResultReply::ALREADY_RECORDED);
  EXPECT_EQ((*store_->ReadResult("j1"))->message(), "from w1");
}

TEST_F(JobRowsTest, ResultsAreListedNewestFirstAndInPages) {
  for (const char* job : {"j1", "j2", "j3"}) {
    v1::JobSpec spec = Spec(job);
    spec.set_task_name(job == std::string("j2") ? "other" : "t");
    ASSERT_TRUE(store_->AddJob(job, spec).ok());
  }
  ASSERT_TRUE(store_->AddJob("waits", Spec("d")).ok());
  for (const char* job : {"j3", "j1", "j2"}) ASSERT_TRUE(Record(*store_, Result(job)).ok());
  const auto listed = [&](const std::string& task, int64_t before, int limit) {
    std::vector<std::string> jobs;
    const std::vector<ResultRow> rows = store_->ListResults(task, before, limit).value();
    for (const ResultRow& row : rows) {
      EXPECT_EQ(row.spec.candidate().files(0).content(), row.job_id);
      EXPECT_EQ(row.outcome, Result(row.job_id).outcome());
      EXPECT_GT(row.recorded, absl::UnixEpoch());
      jobs.push_back(row.job_id);
    }
    return jobs;
  };
  EXPECT_THAT(listed("", 0, 0), ElementsAre("j2", "j1", "j3"));
  EXPECT_THAT(listed("", 0, 2), ElementsAre("j2", "j1"));
  EXPECT_THAT(listed("", store_->ListResults("", 0, 2)->back().number, 2), ElementsAre("j3"));
  EXPECT_THAT(listed("t", 0, 0), ElementsAre("j1", "j3"));
  EXPECT_THAT(listed("none", 0, 0), IsEmpty());
}

TEST_F(JobRowsTest, ResultOfAnUnknownJobIsDropped) {
  EXPECT_EQ(Record(*store_, Result("nope")).value(), v1::RecordResultReply::UNKNOWN_JOB);
  EXPECT_FALSE(store_->ReadResult("nope")->has_value());
  EXPECT_EQ(store_->ReadJob("nope").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(JobRowsTest, TwoRunsAskOneJobAndGetOneResultAndTwoArrivals) {
  std::vector<std::string> notified;  // written by the writer thread, read after an answer
  store_->SetArrivalListener([&](const std::string& run_id) { notified.push_back(run_id); });
  NewRun("r1");
  NewRun("r2");
  Ask("r1", "screen/1", "j1");
  Ask("r2", "screen/5", "j1");
  EXPECT_THAT(Unfinished(), ElementsAre("j1 0"));
  EXPECT_EQ(Record(*store_, Result("j1")).value(), v1::RecordResultReply::RECORDED);
  EXPECT_EQ(Record(*store_, Result("j1")).value(), v1::RecordResultReply::ALREADY_RECORDED);
  EXPECT_THAT(Arrivals("r1"), ElementsAre("result j1 screen/1"));
  EXPECT_THAT(Arrivals("r2"), ElementsAre("result j1 screen/5"));
  EXPECT_THAT(notified, UnorderedElementsAre("r1", "r2"));
}

TEST_F(JobRowsTest, RecordedJobArrivesWithTheStepThatAsksForIt) {
  std::vector<std::string> notified;
  store_->SetArrivalListener([&](const std::string& run_id) { notified.push_back(run_id); });
  NewRun("r1");
  NewRun("r2");
  Ask("r1", "screen/1", "j1");
  ASSERT_TRUE(Record(*store_, Result("j1")).ok());
  Ask("r2", "screen/1", "j1");
  EXPECT_THAT(Arrivals("r2"), ElementsAre("result j1 screen/1"));
  EXPECT_THAT(notified, ElementsAre("r1", "r2"));
  Ask("r2", "screen/1", "j1");  // the same request again changes nothing
  EXPECT_EQ(Arrivals("r2").size(), 1u);
  EXPECT_EQ(notified.size(), 2u);
}

TEST_F(JobRowsTest, RunThatAsksTwiceGetsOneArrivalPerTag) {
  NewRun("r1");
  Ask("r1", "a", "j1");
  Ask("r1", "b", "j1");
  ASSERT_TRUE(Record(*store_, Result("j1")).ok());
  EXPECT_THAT(Arrivals("r1"), ElementsAre("result j1 a", "result j1 b"));
}

TEST_F(JobRowsTest, JobOutsideAnyRunNotifiesNobody) {
  std::vector<std::string> notified;
  store_->SetArrivalListener([&](const std::string& run_id) { notified.push_back(run_id); });
  ASSERT_TRUE(store_->AddJob("j1", Spec("a")).ok());
  ASSERT_TRUE(Record(*store_, Result("j1")).ok());
  EXPECT_THAT(notified, IsEmpty());
}

TEST_F(JobRowsTest, OpenLostAndReturnedAttemptsCount) {
  ASSERT_TRUE(store_->AddJob("j1", Spec("a")).ok());
  ASSERT_TRUE(Attempt(*store_, {"j1", 1, "w1", "l1", "", ""}).ok());
  EXPECT_THAT(Unfinished(), ElementsAre("j1 1"));
  ASSERT_TRUE(Attempt(*store_, {"j1", 1, "w1", "l1", "lost", "no report"}).ok());
  ASSERT_TRUE(Attempt(*store_, {"j1", 1, "w1", "l1", "lost", "again"}).ok());
  ASSERT_TRUE(Attempt(*store_, {"j1", 2, "w2", "l2", "returned", "no compiler"}).ok());
  ASSERT_TRUE(Attempt(*store_, {"j1", 3, "w2", "l3", "cancelled", ""}).ok());
  EXPECT_THAT(
      store_->ReadUnfinishedJobs()->at(0).worker_of_lease,
      ElementsAre(testing::Pair("l1", "w1"), testing::Pair("l2", "w2"), testing::Pair("l3", "w2")));
  Reopen();
  EXPECT_THAT(Unfinished(), ElementsAre("j1 2"));
}

TEST_F(JobRowsTest, AttemptNeedsAJobALeaseAndAKnownEnd) {
  EXPECT_EQ(Attempt(*store_, {"j9", 1, "w1", "l1", "", ""}).code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(store_->AddJob("j1", Spec("a")).ok());
  EXPECT_EQ(Attempt(*store_, {"j1", 1, "w1", "", "", ""}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Attempt(*store_, {"j1", 1, "w1", "l1", "vanished", ""}).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(JobRowsTest, ResultsOfACandidateAreThoseThisRunAskedFor) {
  NewRun("r1");
  NewRun("r2");
  StepCommit step = Step("r1");
  step.jobs.push_back({"screen", Spec("a"), "screen/1"});
  step.jobs.push_back({"confirm", Spec("a"), "confirm/1"});
  step.jobs.push_back({"other", Spec("b"), "screen/2"});
  ASSERT_TRUE(store_->CommitStep(step).ok());
  ASSERT_TRUE(store_->AddJob("foreign", Spec("a")).ok());
  for (const char* id : {"other", "screen", "foreign", "confirm"}) {
    ASSERT_TRUE(Record(*store_, Result(id)).ok());
  }
  const std::string candidate_id = CandidateId(Spec("a").candidate());
  std::vector<std::string> ids;
  const auto results = store_->ReadResultsOf("r1", candidate_id);
  for (const v1::JobResult& result : results.value()) {
    ids.push_back(result.job_id());
  }
  EXPECT_THAT(ids, ElementsAre("screen", "confirm"));
  EXPECT_THAT(*store_->ReadResultsOf("r2", candidate_id), IsEmpty());
}

TEST_F(JobRowsTest, BlobsAreKeptByName) {
  const std::string bytes("a\0b", 3);
  ASSERT_TRUE(store_->PutBlob("f00", bytes).ok());
  EXPECT_TRUE(store_->PutBlob("f00", bytes).ok());
  ASSERT_TRUE(store_->PutBlob("e0", "").ok());
  Reopen();
  EXPECT_EQ(store_->ReadBlob("f00").value(), bytes);
  EXPECT_EQ(store_->ReadBlob("e0").value(), "");
  EXPECT_EQ(store_->ReadBlob("nope").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_->PutBlob("", bytes).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(JobRowsTest, WorkersAreListedAsLastSeen) {
  v1::WorkerHello hello;
  hello.set_worker_id("w1");
  hello.set_name("old");
  ASSERT_TRUE(store_->UpsertWorker(hello, "token/t1", absl::FromUnixSeconds(10)).ok());
  hello.set_name("node-7");
  ASSERT_TRUE(store_->UpsertWorker(hello, "token/t2", absl::FromUnixSeconds(20)).ok());
  ASSERT_TRUE(store_->AddJob("j1", Spec("a")).ok());
  ASSERT_TRUE(Record(*store_, Result("j1", "w1")).ok());
  Reopen();
  const std::vector<v1::WorkerStatus> workers = store_->ListWorkers().value();
  ASSERT_EQ(workers.size(), 1u);
  EXPECT_EQ(workers[0].worker_id(), "w1");
  EXPECT_EQ(workers[0].name(), "node-7");
  EXPECT_EQ(workers[0].hello().name(), "node-7");
  EXPECT_EQ(workers[0].last_report_at().seconds(), 20);
  EXPECT_EQ(workers[0].jobs_done(), 1);
  EXPECT_FALSE(workers[0].connected());
  hello.set_worker_id("w2");
  ASSERT_TRUE(store_->UpsertWorker(hello, "", absl::FromUnixSeconds(20)).ok());
  EXPECT_THAT(store_->ReadWorkerOwners().value(), ElementsAre(testing::Pair("w1", "token/t2")));
  EXPECT_EQ(store_->UpsertWorker(v1::WorkerHello(), "", absl::Now()).code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ksearch
