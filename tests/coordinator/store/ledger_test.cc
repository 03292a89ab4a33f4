// The ledger with many concurrent callers, through the real store.
#include <atomic>
#include <thread>

#include "common/rng.h"
#include "tests/coordinator/store/store_fixture.h"

namespace ksearch {
namespace {

constexpr int64_t kReserved = 1'000'000;  // nano-dollars of one call at worst

class LedgerTest : public StoreTest {
 protected:
  StepCommit Asking(const std::string& call_id, int64_t nano = kReserved,
                    const std::string& model = "m") {
    StepCommit step = Step("r");
    LlmCallRow& call = step.calls.emplace_back();
    call.call_id = call_id;
    call.provider = "p";
    call.model = model;
    call.prompt = "prompt of " + call_id;
    call.reserved_nano = nano;
    call.reserved_tokens = nano / 1000;
    return step;
  }
  absl::Status Cap(std::vector<LedgerCaps> caps) {
    StepCommit step = Step("r");
    step.caps = std::move(caps);
    return store_->CommitStep(step);
  }
  absl::Status Answer(const std::string& call_id, int64_t nano) {
    LlmCallRow call;
    call.call_id = call_id;
    call.reply = "reply";
    call.cost_nano = nano;
    call.counted_tokens = nano / 1000;
    return Reply(*store_, call);
  }
  absl::Status Sent(const std::string& call_id) {
    return WaitFor<absl::Status>([&](auto done) { store_->RecordSend(call_id, done); });
  }
  LedgerRow Run() { return store_->ReadLedger("r")->front(); }
};

TEST_F(LedgerTest, ReservationsAreCountedUntilTheyAreSettled) {
  NewRun("r");
  ASSERT_TRUE(Cap({{"", 3, std::nullopt, 2 * kReserved}}).ok());
  ASSERT_TRUE(store_->CommitStep(Asking("a")).ok());
  ASSERT_TRUE(store_->CommitStep(Asking("b")).ok());
  const absl::Status refused = store_->CommitStep(Asking("c"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kOutOfRange) << refused;
  EXPECT_FALSE(store_->ReadCall("c").ok());  // the step was not committed at all
  EXPECT_EQ(Run().nano_reserved, 2 * kReserved);
  Reopen();  // a crash changes nothing
  EXPECT_EQ(Run().nano_reserved, 2 * kReserved);
  ASSERT_TRUE(Answer("a", 10).ok());
  ASSERT_TRUE(Answer("a", 999).ok());  // again: the first one stands
  EXPECT_EQ(Run().nano_spent, 10);
  EXPECT_EQ(Run().nano_reserved, kReserved);
  ASSERT_TRUE(store_->CommitStep(Asking("c", kReserved - 10)).ok());
  EXPECT_EQ(store_->CommitStep(Asking("d", 0)).code(), absl::StatusCode::kOutOfRange);  // calls
}

TEST_F(LedgerTest, AModelsOwnCapHoldsBesideTheRuns) {
  NewRun("r");
  ASSERT_TRUE(Cap({{"", {}, {}, 10 * kReserved}, {"p/m", {}, {}, kReserved}}).ok());
  ASSERT_TRUE(store_->CommitStep(Asking("a")).ok());
  EXPECT_EQ(store_->CommitStep(Asking("b")).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Run().nano_reserved, kReserved);  // the refused one is in neither
  EXPECT_TRUE(store_->CommitStep(Asking("b", kReserved, "other")).ok());
}

TEST_F(LedgerTest, ALostSendIsSpentAndTheCallWaitsToBeAdmittedAgain) {
  NewRun("r");
  ASSERT_TRUE(Cap({{"", {}, {}, 2 * kReserved}}).ok());
  ASSERT_TRUE(store_->CommitStep(Asking("a")).ok());
  StepCommit lost = Step("r");
  lost.lost_calls = {"a"};
  ASSERT_TRUE(store_->CommitStep(lost).ok());
  EXPECT_EQ(Run().nano_spent, 0);  // it was not sent yet
  ASSERT_TRUE(Sent("a").ok());
  ASSERT_TRUE(store_->CommitStep(lost).ok());
  ASSERT_TRUE(store_->CommitStep(lost).ok());  // once
  EXPECT_EQ(Run().nano_spent, kReserved);
  EXPECT_EQ(Run().nano_reserved, 0);
  EXPECT_FALSE(store_->ReadCall("a")->admitted);
  ASSERT_TRUE(store_->CommitStep(Asking("a")).ok());
  EXPECT_EQ(Run().nano_reserved, kReserved);
  EXPECT_TRUE(store_->ReadCall("a")->admitted);
  EXPECT_EQ(store_->ReadCall("a")->lost_sends, 1);
  ASSERT_TRUE(Sent("a").ok());
  ASSERT_TRUE(store_->CommitStep(lost).ok());
  EXPECT_EQ(store_->CommitStep(Asking("a")).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Run().nano_spent, 2 * kReserved);
  EXPECT_EQ(Sent("none").code(), absl::StatusCode::kNotFound);
}

TEST_F(LedgerTest, EvaluationsAreCountedOnceWithTheirTimeOnTheDevice) {
  NewRun("r");
  Ask("r", "screen/1", "j1");
  Ask("r", "screen/1", "j1");
  Ask("r", "screen/2", "j1");
  EXPECT_EQ(Run().evaluations, 2);
  v1::JobResult result = Result("j1");
  result.mutable_stage_times()->mutable_device_held()->set_nanos(250'000'000);
  result.set_device_nano_usd(1'700);
  const LedgerRow before = Run();
  ASSERT_TRUE(Record(*store_, result).ok());
  ASSERT_TRUE(Record(*store_, result).ok());
  EXPECT_EQ(Run().device_us, 250'000);
  EXPECT_EQ(Run().device_nano, 1'700);
  EXPECT_EQ(Run().nano_spent, before.nano_spent) << "money of models is another matter";
  EXPECT_EQ(store_->ReadLedger("r")->size(), 1u);
  Ask("r", "screen/3", "j1");  // answered from the store
  EXPECT_EQ(Run().evaluations, 2);
}

TEST_F(LedgerTest, AProfileIsNoEvaluationButTakesTimeOnTheDevice) {
  NewRun("r");
  StepCommit step = Step("r");
  v1::JobSpec spec;
  spec.set_kind(v1::JOB_KIND_PROFILE);
  step.jobs.push_back({"p1", spec, "screen/1/profile"});
  ASSERT_TRUE(store_->CommitStep(step).ok());
  v1::JobResult result = Result("p1");
  result.mutable_stage_times()->mutable_device_held()->set_seconds(7);
  ASSERT_TRUE(Record(*store_, result).ok());
  EXPECT_EQ(Run().evaluations, 0);
  EXPECT_EQ(Run().device_us, 7'000'000);
}

// 64 callers, a cap for ten calls: whatever the order, no more is ever spent or reserved.
TEST_F(LedgerTest, ParallelCallersNeverPassTheCap) {
  constexpr int kCallers = 64;
  constexpr int64_t kCap = 10 * kReserved;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const std::string run = absl::StrCat("run", seed);
    NewRun(run);
    StepCommit caps = Step(run);
    caps.caps = {{"", {}, {}, kCap}};
    ASSERT_TRUE(store_->CommitStep(caps).ok());
    std::atomic<int> answered{0};
    std::atomic<int64_t> paid{0};
    std::atomic<bool> over{false};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < kCallers; ++caller) {
      callers.emplace_back([&, caller] {
        Rng rng(seed * 1000 + static_cast<uint64_t>(caller));
        for (int n = 0; n < 4; ++n) {
          StepCommit step = Step(run);
          LlmCallRow& call = step.calls.emplace_back();
          call.call_id = absl::StrCat(run, "/", caller, ".", n);
          call.provider = "p";
          call.model = "m";
          call.reserved_nano = kReserved;
          const absl::Status status = store_->CommitStep(step);
          if (absl::IsOutOfRange(status)) return;
          if (!status.ok()) over = true;
          const LedgerRow row = store_->ReadLedger(run)->front();
          if (row.nano_spent + row.nano_reserved > kCap) over = true;
          const auto cost = static_cast<int64_t>(rng.NextBelow(kReserved + 1));
          if (!Answer(call.call_id, cost).ok()) over = true;
          paid += cost;
          ++answered;
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    const LedgerRow row = store_->ReadLedger(run)->front();
    EXPECT_FALSE(over);
    EXPECT_LE(row.nano_spent, kCap);
    EXPECT_EQ(row.nano_spent, paid);
    EXPECT_EQ(row.nano_reserved, 0);
    EXPECT_EQ(row.calls, answered);
    // The cap is used up: calls that cost less than was reserved make room for others.
    EXPECT_GE(answered, 10);
  }
}

}  // namespace
}  // namespace ksearch
