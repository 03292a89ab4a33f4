// A run at its caps: what passes, what waits, how it ends, and that nothing is undercounted.
#include "coordinator/ledger/call_cost.h"
#include "tests/coordinator/engine/search_run_fixture.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

// A reply of the fake client: 100 tokens in, 50 out.
constexpr int64_t kCost = 150'000;
constexpr int kMaxOutput = 100;

class RunBudgetTest : public SearchRunTest {
 protected:
  // A dollar per million tokens, either way.
  static void AddPrice(v1::RunConfig* config, const std::string& model) {
    v1::ResolvedPrice* price = config->mutable_resolved_prices()->add_prices();
    price->set_provider("p");
    price->set_model(model);
    price->set_basis("table");
    v1::ResolvedPrice::Rates* rates = price->mutable_rates();
    rates->set_input(1'000'000'000);
    rates->set_output(1'000'000'000);
    rates->set_reasoning(1'000'000'000);
  }
  // Creates run `run_id` with this config; later NewRun(..., run_id) takes it.
  void AddRun(const std::string& run_id, const std::vector<std::string>& models = {},
              uint64_t seed = 1) {
    RunRow row;
    row.run_id = run_id;
    row.request_id = run_id;
    row.config.set_provider("p");
    row.config.set_model("m");
    row.config.set_seed(seed);
    row.config.set_max_output_tokens(kMaxOutput);
    AddPrice(&row.config, "m");
    for (const std::string& model : models) {
      v1::ModelUse* use = row.config.add_models();
      use->set_model(model);
      AddPrice(&row.config, model);
    }
    row.status.set_state(v1::RUN_STATE_RUNNING);
    ASSERT_TRUE(store_.CreateRun(row).ok());
  }
  // The reservation of a call that asks "question N".
  static int64_t Reserved() { return (10 + 64 + kMaxOutput) * int64_t{1000}; }
  LedgerRow Ledger(const std::string& run_id) { return store_.ReadLedger(run_id)->front(); }
  std::vector<std::string> Events(const std::string& run_id, v1::RunEvent::Kind kind) {
    std::vector<std::string> texts;
    const auto events = store_.ReadEvents(run_id, 0, 1000);
    for (const v1::RunEvent& event : *events) {
      if (event.kind() == kind) texts.push_back(event.text());
    }
    return texts;
  }
  std::vector<std::string> ModelsAsked(const std::string& run_id, int calls) {
    std::vector<std::string> models;
    for (int n = 1; n <= calls; ++n) {
      models.push_back(store_.ReadCall(absl::StrCat(run_id, "/", n))->model);
    }
    return models;
  }
};

TEST_F(RunBudgetTest, MoneyEndsTheRunAtItsCapAndALargerOneGoesOn) {
  AddRun("a");
  budget_.emplace().set_usd("0.0007");  // two at once, four in all
  const auto run = NewRun(6, {}, "a");
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_OUT_OF_BUDGET);
  EXPECT_THAT(run->status().reason(), HasSubstr("money of the run"));
  EXPECT_EQ(run->status().rounds_done(), 4);
  EXPECT_EQ(Ledger("a").nano_spent, 4 * kCost);
  EXPECT_EQ(Ledger("a").nano_reserved, 0);
  // Calls in flight were used: the best of the four is confirmed.
  EXPECT_TRUE(run->status().has_best());
  EXPECT_FALSE(run->status().confirming());
  EXPECT_THAT(Events("a", v1::RunEvent::RUN_ENDED),
              testing::ElementsAre(HasSubstr("out of budget: money")));
  EXPECT_EQ(run->status().ledger().lines(0).nano_usd_cap(), 700'000);

  budget_->set_usd("0.002");
  const auto more = NewRun(6, {}, "a");
  ASSERT_TRUE(more->Begin().ok());
  RunToEnd(more.get());
  EXPECT_EQ(more->status().state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(more->status().rounds_done(), 6);
  EXPECT_EQ(Ledger("a").nano_spent, 6 * kCost);
  MutexLock lock(&mu_);
  EXPECT_EQ(asked_.size(), 6u);
  for (const auto& [question, times] : asked_) EXPECT_EQ(times, 1) << question;
}

TEST_F(RunBudgetTest, ACapBelowOneReservationLetsNothingThrough) {
  AddRun("a");
  budget_.emplace().set_usd("0.0001");
  const auto run = NewRun(6, {}, "a");
  ASSERT_TRUE(run->Begin().ok());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_OUT_OF_BUDGET);
  EXPECT_EQ(Ledger("a").calls, 0);
  EXPECT_TRUE(client_->requests().empty());
}

TEST_F(RunBudgetTest, CallsTokensAndTimesAreCapsToo) {
  AddRun("calls");
  budget_.emplace().set_llm_calls(3);
  auto run = NewRun(6, {}, "calls");
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_OUT_OF_BUDGET);
  EXPECT_EQ(run->status().rounds_done(), 3);
  EXPECT_THAT(run->status().reason(), HasSubstr("calls of the run"));

  AddRun("tokens");
  budget_.emplace().set_tokens(400);
  run = NewRun(6, {}, "tokens");
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_OUT_OF_BUDGET);
  EXPECT_THAT(run->status().reason(), HasSubstr("tokens of the run"));
  EXPECT_LE(Ledger("tokens").tokens_spent, 400);

  AddRun("gpu");
  budget_.emplace().mutable_gpu_time()->set_seconds(2);  // an evaluation takes one
  run = NewRun(6, {}, "gpu");
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_OUT_OF_BUDGET);
  EXPECT_THAT(run->status().reason(), HasSubstr("GPU time"));
  EXPECT_GE(Ledger("gpu").device_us, 2'000'000);
  EXPECT_LT(run->status().rounds_done(), 6);

  AddRun("wall");
  budget_.emplace().mutable_wall_time()->set_seconds(60);
  run = NewRun(6, {}, "wall");
  ASSERT_TRUE(run->Begin().ok());
  clock_.Advance(absl::Seconds(61));
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_OUT_OF_BUDGET);
  EXPECT_THAT(run->status().reason(), HasSubstr("wall time"));
  // With more time, the evaluations that had to wait continue.
  budget_->mutable_wall_time()->set_seconds(600);
  run = NewRun(6, {}, "wall");
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(run->status().rounds_done(), 6);
}

TEST_F(RunBudgetTest, WarningsComeOnceAtEachShare) {
  AddRun("a");
  budget_.emplace().set_llm_calls(6);
  const auto run = NewRun(6, {}, "a");
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED);
  EXPECT_THAT(Events("a", v1::RunEvent::BUDGET_WARNING),
              testing::ElementsAre(HasSubstr("50 % of the calls of the run: "),
                                   HasSubstr("80 % of the calls"), HasSubstr("95 % of the calls")));
}

TEST_F(RunBudgetTest, ASendWhoseReplyIsLostIsPaidForAndSentAgain) {
  AddRun("a");
  client_->Hold(true);
  {
    const auto run = NewRun(6, {}, "a");
    ASSERT_TRUE(run->Begin().ok());
    client_->AwaitRequests(2);
  }
  EXPECT_EQ(Ledger("a").nano_reserved, 2 * Reserved());
  NewModels();  // the process died with two calls at the provider
  const auto run = NewRun(6, {}, "a");
  ASSERT_TRUE(run->Begin().ok());
  EXPECT_GE(Ledger("a").nano_spent, 2 * Reserved());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(Ledger("a").nano_spent, 2 * Reserved() + 6 * kCost);
  EXPECT_EQ(Ledger("a").calls, 8);
  EXPECT_EQ(store_.ReadCall("a/1")->lost_sends, 1);
  EXPECT_EQ(store_.ReadCall("a/3")->lost_sends, 0);
}

TEST_F(RunBudgetTest, ACallThatNeverWentOutIsNotPaidFor) {
  AddRun("a");
  NewModels({.max_in_flight = 1, .rewrite_every = absl::Seconds(1)});
  client_->Hold(true);
  {
    const auto run = NewRun(6, {}, "a");
    ASSERT_TRUE(run->Begin().ok());
    client_->AwaitRequests(1);
  }
  NewModels();
  const auto run = NewRun(6, {}, "a");
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(Ledger("a").nano_spent, Reserved() + 6 * kCost);
}

TEST_F(RunBudgetTest, ALostCallThatNoLongerFitsWaitsForALargerCap) {
  AddRun("a");
  budget_.emplace().set_usd("0.0004");  // two reservations and no more
  client_->Hold(true);
  {
    const auto run = NewRun(6, {}, "a");
    ASSERT_TRUE(run->Begin().ok());
    client_->AwaitRequests(2);
  }
  NewModels();
  auto run = NewRun(6, {}, "a");
  ASSERT_TRUE(run->Begin().ok());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_OUT_OF_BUDGET);
  EXPECT_EQ(Ledger("a").nano_spent, 2 * Reserved());
  budget_->set_usd("1");
  run = NewRun(6, {}, "a");
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(Ledger("a").nano_spent, 2 * Reserved() + 6 * kCost);
}

TEST_F(RunBudgetTest, AnUnknownUsageCountsInFullAndARefusalNothing) {
  AddRun("silent");
  client_->AnswerWith([](const LlmRequest& request) {
    LlmReply reply = FakeLlmClient::Text(request.user.substr(9));
    reply.usage = TokenUsage();
    reply.usage_reported = false;
    return reply;
  });
  auto run = NewRun(2, {}, "silent");
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(Ledger("silent").nano_spent, 2 * Reserved());
  EXPECT_EQ(store_.ReadCall("silent/1")->cost_basis, "estimated");

  for (const auto& [code, tries] : {std::pair{absl::StatusCode::kDeadlineExceeded, 1},
                                    std::pair{absl::StatusCode::kInvalidArgument, 0}}) {
    const std::string id = absl::StatusCodeToString(code);
    AddRun(id);
    client_->AnswerWith([code = code](const LlmRequest&) -> absl::StatusOr<LlmReply> {
      return absl::Status(code, "no");
    });
    run = NewRun(1, {}, id);
    ASSERT_TRUE(run->Begin().ok());
    RunToEnd(run.get());
    EXPECT_EQ(Ledger(id).nano_spent, tries * Reserved());
    EXPECT_EQ(Ledger(id).nano_reserved, 0);
  }
}

TEST_F(RunBudgetTest, AModelAtItsOwnCapLeavesTheCallsToTheOther) {
  AddRun("a", {"x", "y"});
  v1::ModelBudget* cap = budget_.emplace().add_models();
  cap->set_model("x");
  cap->set_llm_calls(1);
  const auto run = NewRun(6, {}, "a");
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED);
  const std::vector<std::string> asked = ModelsAsked("a", 6);
  EXPECT_LE(std::count(asked.begin(), asked.end(), "x"), 1);
}

TEST_F(RunBudgetTest, TheSameSeedChoosesTheSameModels) {
  const auto choices = [&](const std::string& run_id, uint64_t seed) {
    AddRun(run_id, {"x", "y"}, seed);
    const auto run = NewRun(6, {}, run_id);
    EXPECT_TRUE(run->Begin().ok());
    RunToEnd(run.get());
    return ModelsAsked(run_id, 6);
  };
  const std::vector<std::string> first = choices("a", 1);
  EXPECT_EQ(choices("b", 1), first);
  bool differs = false;
  for (uint64_t seed = 2; seed < 6; ++seed) {
    differs = differs || choices(absl::StrCat("c", seed), seed) != first;
  }
  EXPECT_TRUE(differs);
}

TEST_F(RunBudgetTest, ArmsKnowWhatTheirCandidatesBrought) {
  AddRun("a", {"x"});
  const auto run = NewRun(3, {}, "a");
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  ASSERT_EQ(State("a").arms_size(), 1);
  const v1::ModelArm arm = State("a").arms(0);
  EXPECT_EQ(arm.submitted(), 3);
  EXPECT_EQ(arm.completed(), 3);
  EXPECT_EQ(arm.replies(), 3);
  EXPECT_EQ(arm.nano_usd(), 3 * kCost);
  EXPECT_GT(arm.worth(), 0);
}

TEST_F(RunBudgetTest, AStoppedRunTakesBackWhatWaitsAndGoesOnWhenResumed) {
  AddRun("a");
  NewModels({.max_in_flight = 1, .rewrite_every = absl::Seconds(1)});
  workers_.Hold(true);
  {
    const auto run = NewRun(6, {}, "a");
    ASSERT_TRUE(run->Begin().ok());
    while (workers_.submitted().empty()) {
      const int seen = arrivals();
      const auto progress = run->ApplyNext();
      ASSERT_TRUE(progress.ok()) << progress.status();
      if (*progress == SearchRun::Progress::kWaiting) AwaitArrivals(seen);
    }
    ASSERT_TRUE(run->End(v1::RUN_STATE_STOPPED, "by request").ok());
    ASSERT_TRUE(run->CancelWaiting().ok());
  }
  workers_.Hold(false);  // those taken back are not done
  EXPECT_EQ(store_.results(), 0);
  const auto run = NewRun(6, {}, "a");
  ASSERT_TRUE(run->Begin().ok());
  RunToEnd(run.get());
  EXPECT_EQ(run->status().state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(run->status().rounds_done(), 6);
  EXPECT_EQ(Ledger("a").nano_spent, 6 * kCost);
}

}  // namespace
}  // namespace ksearch
