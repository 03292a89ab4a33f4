#include "tests/coordinator/engine/search_run_fixture.h"

namespace ksearch {
namespace {

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

TEST_F(SearchRunTest, EveryEventHasItsDetail) {
  const auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  const auto events = store_.ReadEvents("run", 0, 1000);
  ASSERT_TRUE(events.ok());
  int incumbents = 0;
  for (const v1::RunEvent& event : *events) {
    EXPECT_NE(event.detail_case(), v1::RunEvent::DETAIL_NOT_SET) << event.ShortDebugString();
    if (event.kind() != v1::RunEvent::NEW_INCUMBENT) continue;
    ++incumbents;
    EXPECT_EQ(event.confirmation().verdict(), v1::Comparison::IMPROVED);
    EXPECT_EQ(event.confirmation().outcome(), v1::OUTCOME_PASSED);
    EXPECT_EQ(event.call().input_tokens(), 100);
    EXPECT_EQ(event.call().provider(), "p");
  }
  EXPECT_GT(incumbents, 0);
  EXPECT_EQ(events->back().kind(), v1::RunEvent::RUN_ENDED);
  EXPECT_EQ(events->back().run().state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(events->back().run().input_tokens(), 600);
  EXPECT_EQ(events->back().run().evaluations(), store_.ReadLedger("run")->at(0).evaluations);
}

TEST_F(SearchRunTest, KilledAfterEveryStepItAsksEverythingOnce) {
  RunToEndInLivesOfOneStep();
  EXPECT_EQ(store_.ReadRun("run")->status.state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(EventTexts(), (std::multiset<std::string>{"screen/1", "screen/2", "screen/3",
                                                      "screen/4", "screen/5", "screen/6"}));
  MutexLock lock(&mu_);
  EXPECT_EQ(asked_.size(), 6u);
  for (const auto& [question, times] : asked_) EXPECT_EQ(times, 1) << question;
}

TEST_F(SearchRunTest, TheStrategyIsToldEveryConfirmationOnce) {
  RunToEndInLivesOfOneStep();
  ASSERT_FALSE(told_.empty());
  EXPECT_THAT(told_[0], testing::HasSubstr(" against baseline"));
  // Every confirmation improves, so the rival is the previously confirmed candidate.
  for (size_t i = 1; i < told_.size(); ++i) {
    const std::string before = told_[i - 1].substr(0, told_[i - 1].find(' '));
    EXPECT_THAT(told_[i], testing::HasSubstr(" against " + before));
  }
  EXPECT_EQ(std::set<std::string>(told_.begin(), told_.end()).size(), told_.size());
  EXPECT_EQ(static_cast<int>(told_.size()), State().incumbent().settled_size());
}

TEST_F(SearchRunTest, ProfilesCountAsDeviceTimeButNotAsEvaluations) {
  profiles_ = true;
  const auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(workers_.profiles(), 6);
  const auto ledger = store_.ReadLedger("run");
  ASSERT_TRUE(ledger.ok());
  const int confirmations = static_cast<int>(workers_.submitted().size()) - 12;
  EXPECT_EQ(ledger->at(0).evaluations, 6 + confirmations);
  EXPECT_EQ(ledger->at(0).device_us, (6 * 10 + 6 + confirmations) * 1'000'000);
}

TEST_F(SearchRunTest, ProfilesSurviveAKillAfterEveryStep) {
  profiles_ = true;
  RunToEndInLivesOfOneStep();
  EXPECT_EQ(store_.ReadRun("run")->status.state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(workers_.profiles(), 6);
  EXPECT_EQ(EventTexts().size(), 6u);
}

TEST_F(SearchRunTest, WhatAnExaminationRefusesIsNeverConfirmed) {
  examines_ = true;
  workers_.Refuse("6");
  RunToEndInLivesOfOneStep();
  const auto row = store_.ReadRun("run");
  EXPECT_EQ(row->status.state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(EventTexts().size(), 6u) << "every candidate was screened";
  EXPECT_THAT(workers_.confirmed(), testing::Not(testing::Contains("6")));
  const auto best = store_.ReadCandidate("run", row->status.best().candidate_id());
  ASSERT_TRUE(best.ok());
  EXPECT_EQ(best->sources.files(0).content(), "5");
  for (const auto& [job_id, times] : workers_.submitted()) EXPECT_EQ(times, 1) << job_id;
  // Six screenings, six examinations.
  const auto ledger = store_.ReadLedger("run");
  ASSERT_TRUE(ledger.ok());
  EXPECT_EQ(ledger->at(0).evaluations, 6 + static_cast<int>(workers_.confirmed().size()));
}

TEST_F(SearchRunTest, AProfileThatWasRefusedIsAskedForAnewByALaterRunButNotByAReplay) {
  const auto run_it = [&](const std::string& run_id, std::vector<std::string> order) {
    row_.run_id = row_.request_id = run_id;
    if (run_id != "run") {
      EXPECT_TRUE(store_.CreateRun(row_).ok());
    }
    const auto run = NewRun(6, std::move(order), run_id);
    EXPECT_TRUE(run->Begin().ok());
    RunToEnd(run.get());
    const auto events = store_.ReadEvents(run_id, 0, 1000);
    int with_kernels = 0;
    for (const v1::RunEvent& event : *events) {
      with_kernels += event.kind() == v1::RunEvent::NOTE && event.text().back() == '1' ? 1 : 0;
    }
    return with_kernels;
  };
  profiles_ = true;
  workers_.MayProfile(false);
  EXPECT_EQ(run_it("run", {}), 0);
  const auto order = RecordedOrder(&store_, "run");
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(run_it("replay", *order), 0);
  EXPECT_EQ(workers_.profiles(), 6);
  workers_.MayProfile(true);
  EXPECT_EQ(run_it("second", {}), 6);
  EXPECT_EQ(workers_.profiles(), 12);
  EXPECT_EQ(run_it("third", {}), 6) << "answered from the store";
  EXPECT_EQ(workers_.profiles(), 12);
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
  // Whichever came first, the second reply is applied first, and the first one waits for its job.
  while (workers_.submitted().empty()) {
    const int seen = arrivals();
    const auto progress = run->ApplyNext();
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
  // The replay of a replay must not follow the order in which arrivals happened to come.
  const auto order = RecordedOrder(&store_, "replay");
  ASSERT_TRUE(order.ok()) << order.status();
  EXPECT_THAT(*order, testing::ElementsAre("call/2", "job/screen/2", "call/1", "job/screen/1",
                                           "job/confirm/1"));
}

TEST_F(SearchRunTest, ATaskAtFaultIsNoLessonAboutACandidate) {
  workers_.FindTaskAtFault();
  const auto run = NewRun();
  ASSERT_TRUE(run->Begin().ok());
  absl::StatusOr<SearchRun::Progress> progress = SearchRun::Progress::kApplied;
  while (progress.ok() && *progress != SearchRun::Progress::kEnded) {
    const int seen = arrivals();
    progress = run->ApplyNext();
    if (progress.ok() && *progress == SearchRun::Progress::kWaiting) AwaitArrivals(seen);
  }
  EXPECT_EQ(progress.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(progress.status().message(),
            "the task's own programs are at fault: reference.cpp:3: no such thing");
}

TEST_F(SearchRunTest, JobsLostWithTheirWorkersAreTriedAgainByALaterRun) {
  workers_.Lose(true);
  const auto lost = NewRun();
  ASSERT_TRUE(lost->Begin().ok());
  RunToEnd(lost.get());
  EXPECT_FALSE(lost->status().has_best());
  EXPECT_EQ(workers_.submitted().size(), 6u);

  workers_.Lose(false);
  const auto screenings_of = [this](const std::string& run_id) {
    std::set<std::string> jobs;
    const auto candidates = store_.ListCandidates(run_id);
    for (const CandidateRow& candidate : *candidates) jobs.insert(candidate.job_id);
    return jobs;
  };
  for (const std::string run_id : {"second", "third"}) {
    row_.run_id = row_.request_id = run_id;
    ASSERT_TRUE(store_.CreateRun(row_).ok());
    const auto run = NewRun(6, {}, run_id);
    ASSERT_TRUE(run->Begin().ok());
    RunToEnd(run.get());
    EXPECT_TRUE(run->status().has_best()) << run_id;
  }
  EXPECT_EQ(screenings_of("second").size(), 6u);
  for (const std::string& job_id : screenings_of("second")) {
    EXPECT_FALSE(screenings_of("run").contains(job_id));
  }
  EXPECT_EQ(screenings_of("third"), screenings_of("second")) << "what was tried again is known";
  for (const auto& [job_id, times] : workers_.submitted()) EXPECT_EQ(times, 1) << job_id;
}

TEST_F(SearchRunTest, StepThatCouldNotBeWrittenIsTakenAgain) {
  const auto failed = NewRun();
  ASSERT_TRUE(failed->Begin().ok());
  AwaitArrivals(1);  // both replies are recorded: nothing is in flight
  store_.FailWrites(absl::ResourceExhaustedError("disk full"));
  const auto progress = failed->ApplyNext();
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

TEST_F(SearchRunTest, RunsTakeTurnsWithTheModelByTheirPriorities) {
  auto owned = std::make_unique<FakeLlmClient>();
  FakeLlmClient* const client = owned.get();
  client->Answer("", "reply");
  client->Hold(true);
  std::vector<ModelCaller::Provider> providers;
  providers.push_back({"p", "m", std::move(owned), absl::OkStatus()});
  providers.back().repeatable = true;  // so that the calls need not be recorded
  ModelCaller models(&store_, clock_, std::move(providers),
                     {.max_in_flight = 1, .rewrite_every = absl::Seconds(1)});
  models.SetPriority("c", 20);
  int number = 0;
  const auto send = [&](const std::string& run_id, int calls) {
    for (int i = 0; i < calls; ++i) {
      LlmCallRow call;
      call.call_id = absl::StrCat(run_id, "/", ++number);
      call.run_id = run_id;
      call.provider = "p";
      call.model = "m";
      call.prompt = run_id;
      models.Send(call, {});
    }
  };
  send("a", 5);
  send("b", 2);
  send("c", 4);
  EXPECT_EQ(client->requests().size(), 1u);
  client->Hold(false);
  client->AwaitRequests(11);
  std::string order;
  for (const LlmRequest& request : client->requests()) order += request.user;
  EXPECT_EQ(order, "aabccabccaa");
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
