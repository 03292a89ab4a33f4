#include "coordinator/engine/search_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_llm_client.h"
#include "tests/fakes/fake_store.h"
#include "tests/fakes/fake_strategy.h"

namespace ksearch {
namespace {

// Answers every job at once: candidate n is n times as fast as the baseline, and every confirmation
// says "improved".
class InstantWorkers final : public JobSink {
 public:
  explicit InstantWorkers(Store* store) : store_(store) {}

  void Submit(const std::string& job_id, const v1::JobSpec& spec) override {
    ++submitted_[job_id];
    if (hold_) {
      held_.emplace_back(job_id, spec);
      return;
    }
    Record(job_id, spec);
  }
  void CancelQueued(const std::string& job_id) override {
    held_.erase(std::remove_if(held_.begin(), held_.end(),
                               [&](const auto& held) { return held.first == job_id; }),
                held_.end());
  }
  void Hold(bool hold) {
    hold_ = hold;
    if (hold) return;
    for (const auto& [id, spec] : std::exchange(held_, {})) Record(id, spec);
  }
  const std::map<std::string, int>& submitted() const { return submitted_; }

 private:
  void Record(const std::string& job_id, const v1::JobSpec& spec) {
    v1::JobResult result;
    result.set_job_id(job_id);
    result.set_attempt(1);
    result.set_outcome(v1::OUTCOME_PASSED);
    v1::WorkloadResult* workload = result.add_workloads();
    workload->mutable_candidate()->set_median_us(100.0 /
                                                 std::stoi(spec.candidate().files(0).content()));
    workload->mutable_baseline()->set_median_us(100.0);
    for (const v1::Rival& rival : spec.rivals()) {
      v1::Comparison* comparison = result.add_comparisons();
      comparison->set_rival_id(rival.rival_id());
      comparison->set_verdict(v1::Comparison::IMPROVED);
      comparison->set_log_speedup(0.7);
    }
    store_->RecordResult(result, "lease", [](auto) {});
  }

  Store* const store_;
  bool hold_ = false;
  std::vector<std::pair<std::string, v1::JobSpec>> held_;
  std::map<std::string, int> submitted_;
};

class SearchRunTest : public testing::Test {
 protected:
  SearchRunTest() : workers_(&store_) {
    row_.run_id = "run";
    row_.request_id = "request";
    row_.config.set_provider("p");
    row_.config.set_rounds(6);
    row_.status.set_state(v1::RUN_STATE_RUNNING);
    EXPECT_TRUE(store_.CreateRun(row_).ok());
    store_.SetArrivalListener([this](const std::string&) {
      MutexLock lock(&mu_);
      ++arrivals_;
      changed_.NotifyAll();
    });
    NewModels();
  }

  // A new life of the process: everything but store and workers is made anew.
  void NewModels(ModelCaller::Options options = {}) {
    models_.reset();
    auto client = std::make_unique<FakeLlmClient>();
    client_ = client.get();
    // The reply is the number of the question.
    client->AnswerWith([this](const LlmRequest& request) {
      MutexLock lock(&mu_);
      ++asked_[request.user];
      changed_.NotifyAll();
      return FakeLlmClient::Text(request.user.substr(9));
    });
    std::vector<ModelCaller::Provider> providers;
    providers.push_back({"p", "m", std::move(client), absl::OkStatus()});
    models_ = std::make_unique<ModelCaller>(&store_, clock_, std::move(providers), options);
  }

  std::unique_ptr<SearchRun> NewRun(int rounds = 6, std::vector<std::string> order = {},
                                    const std::string& run_id = "run") {
    const auto row = store_.ReadRun(run_id);
    EXPECT_TRUE(row.ok());
    SearchContext context;
    context.config = row->config;
    context.config.set_rounds(rounds);
    context.task.mutable_workloads()->Add()->set_uuid("w");
    auto run = SearchRun::Create({&store_, &workers_, models_.get(), &clock_}, *row, context,
                                 std::make_unique<FakeStrategy>(rounds, 2), std::move(order));
    EXPECT_TRUE(run.ok()) << run.status();
    return *std::move(run);
  }

  int arrivals() {
    MutexLock lock(&mu_);
    return arrivals_;
  }
  void AwaitArrivals(int more_than) {
    MutexLock lock(&mu_);
    while (arrivals_ <= more_than) changed_.Wait(&mu_);
  }

  // Folds until the run ends.
  void RunToEnd(SearchRun* run) {
    while (true) {
      const int seen = arrivals();
      const auto progress = run->FoldNext();
      ASSERT_TRUE(progress.ok()) << progress.status();
      if (*progress == SearchRun::Progress::kEnded) return;
      if (*progress == SearchRun::Progress::kWaiting) AwaitArrivals(seen);
    }
  }

  std::multiset<std::string> EventTexts() {
    std::multiset<std::string> texts;
    const auto events = store_.ReadEvents("run", 0, 1000);
    for (const v1::RunEvent& event : *events) {
      if (event.kind() == v1::RunEvent::CANDIDATE_PASSED) texts.insert(event.text());
    }
    return texts;
  }

  FakeClock clock_;
  FakeStore store_;
  InstantWorkers workers_;
  FakeLlmClient* client_ = nullptr;
  std::unique_ptr<ModelCaller> models_;
  RunRow row_;
  Mutex mu_;
  CondVar changed_;
  int arrivals_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<std::string, int> asked_ ABSL_GUARDED_BY(mu_);
};

TEST_F(SearchRunTest, RunsToTheEndAndConfirmsTheBest) {
  const auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(run->status().reason(), "budget spent");
  EXPECT_EQ(run->status().rounds_done(), 6);
  EXPECT_EQ(run->status().llm_calls(), 6);
  EXPECT_EQ(run->status().input_tokens(), 600);
  ASSERT_TRUE(run->status().has_best());
  const auto best = store_.ReadCandidate("run", run->status().best().candidate_id());
  ASSERT_TRUE(best.ok());
  EXPECT_EQ(best->sources.files(0).content(), "6");
  EXPECT_FALSE(run->status().confirming());
  EXPECT_EQ(store_.ReadRun("run")->status.state(), v1::RUN_STATE_FINISHED);
}

TEST_F(SearchRunTest, KilledAfterEveryStepItAsksEverythingOnce) {
  for (int life = 0; life < 200; ++life) {
    const int seen = arrivals();
    const auto run = NewRun();
    ASSERT_TRUE(run->Begin().ok());
    const auto progress = run->FoldNext();
    ASSERT_TRUE(progress.ok()) << progress.status();
    if (*progress == SearchRun::Progress::kEnded) break;
    if (*progress == SearchRun::Progress::kWaiting) AwaitArrivals(seen);
    // The object goes away here; the store is all that the next life has. Calls in flight are
    // answered by the store's record, not asked again, because the caller outlives the run.
  }
  EXPECT_EQ(store_.ReadRun("run")->status.state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(EventTexts(), (std::multiset<std::string>{"screen/1", "screen/2", "screen/3",
                                                      "screen/4", "screen/5", "screen/6"}));
  MutexLock lock(&mu_);
  EXPECT_EQ(asked_.size(), 6u);
  for (const auto& [question, times] : asked_) EXPECT_EQ(times, 1) << question;
}

TEST_F(SearchRunTest, CallsWithoutAnAnswerAreSentAgainByTheNextLife) {
  client_->Hold(true);
  {
    const auto run = NewRun();
    ASSERT_TRUE(run->Begin().ok());
    client_->AwaitRequests(2);
  }
  NewModels();  // the process died with two calls in flight
  EXPECT_EQ(store_.ReadUnansweredCalls("run")->size(), 2u);
  const auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(run->status().llm_calls(), 6);
}

TEST_F(SearchRunTest, FinishedRunGoesOnWithALargerBudget) {
  {
    const auto run = NewRun();
    ASSERT_TRUE(run->Begin().ok());
    RunToEnd(run.get());
  }
  const auto run = NewRun(9);
  ASSERT_TRUE(run->Begin().ok());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_RUNNING);
  RunToEnd(run.get());
  EXPECT_EQ(run->status().rounds_done(), 9);
  EXPECT_EQ(EventTexts().size(), 9u);
}

TEST_F(SearchRunTest, UnreachableModelFailsTheRun) {
  client_->AnswerWith([](const LlmRequest&) -> absl::StatusOr<LlmReply> {
    return absl::UnauthenticatedError("the key was refused");
  });
  const auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FAILED);
  EXPECT_THAT(run->status().reason(), testing::HasSubstr("the key was refused"));
}

TEST_F(SearchRunTest, WhatAProviderSavedComesBackInTheNextLife) {
  client_->Hold(true);
  {
    const auto run = NewRun();
    ASSERT_TRUE(run->Begin().ok());
    client_->AwaitRequests(1);
    const LlmRequest request = client_->requests()[0];
    EXPECT_EQ(request.state->Load(), "");
    request.state->Save("resp_7", [](const absl::Status& status) { EXPECT_TRUE(status.ok()); });
    EXPECT_EQ(request.state->Load(), "resp_7");
  }
  NewModels();
  const auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(client_->requests()[0].state->Load(), "resp_7");
  EXPECT_EQ(client_->requests()[1].state->Load(), "");
}

TEST_F(SearchRunTest, RecordedOrderIsWaitedFor) {
  workers_.Hold(true);
  const auto run = NewRun(2, {"call/2", "job/screen/2", "call/1", "job/screen/1"});
  ASSERT_TRUE(run->Begin().ok());
  // Whatever came first, the second reply is folded first, and the first one waits for its job.
  while (workers_.submitted().empty()) {
    const int seen = arrivals();
    const auto progress = run->FoldNext();
    ASSERT_TRUE(progress.ok()) << progress.status();
    if (*progress == SearchRun::Progress::kWaiting) AwaitArrivals(seen);
  }
  const auto unfinished = store_.ReadUnfinishedJobs();
  ASSERT_EQ(unfinished->size(), 1u);
  EXPECT_EQ(unfinished->front().spec.candidate().files(0).content(), "2");
  workers_.Hold(false);
  RunToEnd(run.get());
  EXPECT_EQ(run->status().rounds_done(), 2);
}

TEST_F(SearchRunTest, ReplayRecordsTheOrderItFoldedIn) {
  row_.run_id = "replay";
  row_.request_id = "another request";
  row_.config.set_replay_order_of("run");
  ASSERT_TRUE(store_.CreateRun(row_).ok());
  const auto run =
      NewRun(2, {"call/2", "job/screen/2", "call/1", "job/screen/1"}, /*run_id=*/"replay");
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  // The replay of a replay must not follow the order in which things happened to come.
  const auto order = RecordedOrder(&store_, "replay");
  ASSERT_TRUE(order.ok()) << order.status();
  EXPECT_THAT(*order, testing::ElementsAre("call/2", "job/screen/2", "call/1", "job/screen/1",
                                           "job/confirm/1"));
}

TEST_F(SearchRunTest, StepThatCouldNotBeWrittenIsTakenAgain) {
  const auto failed = NewRun();
  ASSERT_TRUE(failed->Begin().ok());
  AwaitArrivals(1);  // both replies are recorded: nothing is in flight
  store_.FailWrites(absl::ResourceExhaustedError("disk full"));
  const auto progress = failed->FoldNext();
  ASSERT_EQ(progress.status().code(), absl::StatusCode::kResourceExhausted);
  store_.FailWrites(absl::OkStatus());
  ASSERT_TRUE(failed->End(v1::RUN_STATE_FAILED, "disk full").ok());
  EXPECT_EQ(store_.ReadRun("run")->status.state(), v1::RUN_STATE_FAILED);
  EXPECT_EQ(store_.ReadRun("run")->status.reason(), "disk full");

  const auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(EventTexts(), (std::multiset<std::string>{"screen/1", "screen/2", "screen/3",
                                                      "screen/4", "screen/5", "screen/6"}));
}

TEST_F(SearchRunTest, ReplyThatCouldNotBeWrittenIsNotPaidTwice) {
  NewModels({.max_in_flight = 16, .rewrite_every = absl::Milliseconds(1)});
  client_->Hold(true);
  const auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  client_->AwaitRequests(2);
  store_.FailWrites(absl::ResourceExhaustedError("disk full"));
  client_->Hold(false);
  {
    MutexLock lock(&mu_);
    while (asked_.size() < 2) changed_.Wait(&mu_);
  }
  store_.FailWrites(absl::OkStatus());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED);
  MutexLock lock(&mu_);
  EXPECT_EQ(asked_.size(), 6u);
  for (const auto& [question, times] : asked_) EXPECT_EQ(times, 1) << question;
}

TEST_F(SearchRunTest, NoMoreCallsInFlightThanAllowed) {
  NewModels({.max_in_flight = 1, .rewrite_every = absl::Seconds(1)});
  client_->Hold(true);
  const auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  client_->AwaitRequests(1);
  EXPECT_EQ(client_->requests().size(), 1u);  // the second waits in line
  client_->Hold(false);
  RunToEnd(run.get());
  EXPECT_EQ(run->status().rounds_done(), 6);
}

}  // namespace
}  // namespace ksearch
