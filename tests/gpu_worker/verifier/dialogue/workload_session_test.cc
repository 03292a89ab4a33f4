#include "gpu_worker/verifier/dialogue/workload_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gpu_worker/verifier/dialogue/oracle.h"
#include "gpu_worker/verifier/host/memfd_buffer_sets.h"
#include "tests/fakes/plain_sandbox.h"
#include "tests/gpu_worker/verifier/matmul_task.h"
#include "tests/gpu_worker/verifier/numbered_inputs.h"

namespace ksearch {
namespace {

constexpr int kSets = 8;

// A runner with a candidate that has the workload "small" mapped.
class SessionTest : public ::testing::Test {
 protected:
  void Open(const std::string& candidate) { Open(candidate, workload_); }
  void Open(const std::string& candidate, const std::shared_ptr<const WorkloadCase>& workload) {
    const ProgramImage program = *ProgramImage::Open(CandidateArtifact(candidate));
    link_ = *starter_.Start(program, RunnerStarter::TrustedLimits());
    ASSERT_TRUE(link_->Load(program, absl::InfiniteFuture()).passed());
    session_ = std::make_unique<WorkloadSession>(
        *link_, workload, *MemfdBufferSets::Create(workload, kSets), Clock::Real(), 1);
    ASSERT_TRUE(session_->Map(kSets, limits_).passed());
  }
  Ending RunTimed(int calls) {
    std::vector<WorkloadSession::Call> made;
    for (int set = 0; set < calls; ++set) made.push_back({set, next_variant_++});
    return session_->Run(made, WorkloadSession::Mode::kTimed, {}, limits_).ending;
  }
  // Returns true if the kept outputs equal the reference's.
  bool Right(const WorkloadSession::Suspect& suspect) {
    const ProgramImage reference = *ProgramImage::Open(CandidateArtifact("honest"));
    Oracle oracle(starter_, allocate_, Clock::Real(), 1 << 20);
    const OracleEntries entries = *oracle.GetOnce(reference, workload_, {suspect.variant});
    EXPECT_EQ(oracle.cached_bytes(), 0);
    return JudgeOutputs(*workload_, suspect.outputs->CompareWith(
                                        *workload_, *entries.at(suspect.variant)->outputs))
        .right;
  }

  PlainSandbox sandbox_;
  RunnerStarter starter_{
      sandbox_, std::string(std::getenv("KSEARCH_BIN_DIR")) + "/ksearch-runner", {}, Clock::Real()};
  const BufferSetsFactory allocate_ = MemfdBufferSets::Create;
  const v1::Task task_ = MatmulTask();
  const std::shared_ptr<const WorkloadCase> workload_ =
      *WorkloadCase::Create(task_, task_.workloads(0), "sha", Seed{1, 1});
  WorkloadSession::Limits limits_{absl::Minutes(10), absl::InfiniteFuture()};
  std::unique_ptr<RunnerLink> link_;
  std::unique_ptr<WorkloadSession> session_;
  int64_t next_variant_ = 100;
};

TEST_F(SessionTest, CallsAreChosenForComparisonAfterTheyWereMade) {
  for (const bool honest : {true, false}) {
    Open(honest ? "honest" : "wrong_numbers");
    ASSERT_TRUE(RunTimed(kSets).passed());
    EXPECT_TRUE(session_->suspects().empty());
    session_->CompareLater(2);
    const int64_t first = next_variant_;
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(RunTimed(kSets).passed());
    const std::vector<WorkloadSession::Suspect> suspects = session_->suspects();
    ASSERT_EQ(suspects.size(), 2u);
    for (const WorkloadSession::Suspect& suspect : suspects) {
      EXPECT_GE(suspect.variant, first);
      EXPECT_FALSE(suspect.repeated);
      EXPECT_EQ(Right(suspect), honest);
    }
  }
}

TEST_F(SessionTest, AProgramThatWritesOutputsOfOtherCallsIsACheat) {
  for (const bool honest : {true, false}) {
    Open(honest ? "honest" : "computes_ahead");
    // It knows all sets then; nothing shows while each of them is called.
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(RunTimed(kSets).passed());
    const Ending ending = RunTimed(kSets - 1);
    EXPECT_EQ(ending.passed(), honest) << ending.message;
    if (honest) continue;
    EXPECT_EQ(ending.outcome, v1::OUTCOME_CHEAT);
    EXPECT_EQ(ending.message,
              "output 'c' of a call that was not made was written: a call may only do its own "
              "work");
  }
}

// The work of all sets is done in the first call, into memory of the program's own: decoys are as
// they were, and what a sample of the inputs tells is the same. Only that a part of them came after
// that shows.
TEST_F(SessionTest, WorkDoneAheadIsWrongWhereInputsComeLate) {
  for (const bool honest : {true, false}) {
    Open(honest ? "honest" : "computes_apart");
    ASSERT_TRUE(RunTimed(kSets).passed());
    int goes = 0, seen = 0, wrong = 0;
    // Calls are short: on a busy machine most are made before the verifier is at it.
    while (goes++ < 5000 && (honest ? seen < 10 : wrong == 0)) {
      std::vector<WorkloadSession::Call> calls;
      for (int set = 0; set < kSets - 1; ++set) calls.push_back({set, next_variant_++});
      bool in_time = false;
      const Ending ending = session_->RunWithLateInputs(calls, {}, limits_, &in_time);
      ASSERT_TRUE(ending.passed()) << ending.message;
      if (!in_time) continue;
      ASSERT_EQ(static_cast<int>(session_->suspects().size()), ++seen);
      EXPECT_TRUE(session_->suspects().back().late);
      if (!Right(session_->suspects().back())) ++wrong;
    }
    EXPECT_GT(seen, 0);
    EXPECT_EQ(wrong, honest ? 0 : 1) << seen << " seen of " << goes;
  }
}

TEST_F(SessionTest, CallsInTurnAreTimedOneByOne) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "verifier and runner need a core each";
  // It would have all answers after its first call.
  for (const char* program : {"honest", "computes_apart"}) {
    Open(program);
    session_->CompareLater(1);
    for (int batch = 1; batch <= 3; ++batch) {
      std::vector<WorkloadSession::Call> calls;
      for (int set = 0; set < kSets - 1; ++set) calls.push_back({set, next_variant_++});
      const WorkloadSession::TimesInTurn made =
          session_->RunInTurn(calls, {}, limits_, /*keeps_one=*/true);
      ASSERT_TRUE(made.ending.passed()) << made.ending.message;
      ASSERT_EQ(made.us.size(), calls.size());
      EXPECT_GT(*std::min_element(made.us.begin(), made.us.end()), 0);
      ASSERT_EQ(static_cast<int>(session_->suspects().size()), batch);
      EXPECT_TRUE(session_->suspects().back().late);
      if (std::string(program) == "honest") {
        EXPECT_TRUE(Right(session_->suspects().back()));
      }
    }
  }
}

// The program has no fence after its last stores, and needs none.
TEST_F(SessionTest, StoresThatPassTheCachesByAreThereWhenACallInTurnReturns) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "verifier and runner need a core each";
  Open("honest_streaming_stores");
  session_->CompareLater(1);
  for (int batch = 0; batch < 2000; ++batch) {
    std::vector<WorkloadSession::Call> calls;
    for (int set = 0; set < kSets - 1; ++set) calls.push_back({set, next_variant_++});
    const WorkloadSession::TimesInTurn made =
        session_->RunInTurn(calls, {}, limits_, /*keeps_one=*/false);
    ASSERT_TRUE(made.ending.passed()) << "batch " << batch << ": " << made.ending.message;
  }
}

TEST_F(SessionTest, ACallInTurnReturnsNoEarlierThanItsOutputsAreThere) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "verifier and runner need a core each";
  Open("forged_turns");
  std::vector<WorkloadSession::Call> calls;
  for (int set = 0; set < kSets - 1; ++set) calls.push_back({set, next_variant_++});
  const WorkloadSession::TimesInTurn made =
      session_->RunInTurn(calls, {}, limits_, /*keeps_one=*/true);
  EXPECT_EQ(made.ending.outcome, v1::OUTCOME_CHEAT) << made.ending.message;
}

// Problems of GPU MODE have few seeds, so what stands in for late inputs may be those of another
// call. Where the late ones come too late, an honest program's answer is that call's.
TEST_F(SessionTest, AnswersToWhatStandsInForLateInputsAreNoCheat) {
  constexpr int64_t kLikeOthers = 7;
  constexpr int64_t kNoCall = int64_t{1} << 30;  // from here on variants stand in for late inputs
  NumberedInputs made([](int64_t variant) { return variant < kNoCall ? variant : kLikeOthers; });
  v1::Task task = MatmulTask();
  for (v1::InputRecipe& input : *task.mutable_workloads(0)->mutable_inputs()) input.mutable_made();
  Open("honest", *WorkloadCase::Create(task, task.workloads(0), "sha", Seed{1, 1}, &made));
  ASSERT_TRUE(session_->Run({{0, kLikeOthers}}, WorkloadSession::Mode::kTimed, {}, limits_)
                  .ending.passed());
  int too_late = 0;
  for (int goes = 0; goes < 5000 && too_late < 50; ++goes) {
    std::vector<WorkloadSession::Call> calls;
    for (int set = 0; set < kSets - 1; ++set) calls.push_back({set, next_variant_++});
    bool in_time = false;
    ASSERT_TRUE(session_->RunWithLateInputs(calls, {}, limits_, &in_time).passed());
    too_late += in_time ? 0 : 1;
    for (const WorkloadSession::Suspect& suspect : session_->suspects()) {
      ASSERT_FALSE(suspect.repeated) << "after " << goes << " batches";
    }
  }
  EXPECT_GT(too_late, 0);
}

TEST_F(SessionTest, ABatchIsNotWaitedForMuchLongerThanTheOnesBefore) {
  Open("late_hang");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(RunTimed(kSets).passed());
  // Not after kSets times ten minutes.
  EXPECT_EQ(RunTimed(kSets).outcome, v1::OUTCOME_TIMEOUT);
}

}  // namespace
}  // namespace ksearch
