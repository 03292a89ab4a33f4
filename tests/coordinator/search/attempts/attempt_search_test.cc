// The behavior that all strategies of attempts share: budget, duplicates, failures, resuming, and a
// state without programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/rng.h"
#include "coordinator/search/attempts/best_of_n.h"
#include "coordinator/search/attempts/sequential.h"
#include "tests/common/repetitions.h"
#include "tests/coordinator/search/attempts/attempt_driver.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::unique_ptr<SearchStrategy> MakeSequential(const SearchContext& context) {
  v1::SequentialSettings settings = context.config.sequential();
  SettingFaults faults;
  Sequential::Complete(&settings, &faults);
  return std::make_unique<AttemptSearch>("sequential", context, FakeAttemptProposer(),
                                         std::make_unique<Sequential>(settings));
}

std::unique_ptr<SearchStrategy> MakeBestOfN(const SearchContext& context) {
  v1::BestOfNSettings settings = context.config.best_of_n();
  SettingFaults faults;
  BestOfN::Complete(&settings, &faults);
  return std::make_unique<AttemptSearch>("best_of_n", context, FakeAttemptProposer(),
                                         std::make_unique<BestOfN>(settings));
}

// A model that answers anything, as a pure function of seed and call.
std::string RandomReply(uint64_t seed, const AskModel& ask) {
  Rng rng(seed * 1000003 + static_cast<uint64_t>(ask.call_number));
  const uint64_t kind = rng.NextBelow(10);
  if (kind == 0) return "unusable";
  if (kind == 1) return "popular score=0.75";  // a duplicate sooner or later
  if (kind < 5) return absl::StrCat("program ", ask.call_number, " fail");
  return absl::StrCat("program ", ask.call_number, " score=", 0.5 + 2 * rng.NextDouble());
}

class AttemptPropertyTest : public testing::TestWithParam<std::tuple<bool, int>> {
 protected:
  std::vector<std::string> Transcript(uint64_t seed, bool restart) {
    const auto [best_of_n, parallel] = GetParam();
    SearchContext context = AttemptContext(5 + static_cast<int>(seed % 23), parallel);
    context.task.set_device(seed % 2 == 0 ? v1::DEVICE_CLASS_CUDA : v1::DEVICE_CLASS_CPU);
    context.config.set_profile(seed % 3 == 0 ? v1::PROFILE_POLICY_ALL : v1::PROFILE_POLICY_AUTO);
    context.config.mutable_evaluation()->set_time_baseline_first(seed % 5 != 0);
    context.config.mutable_evaluation()->set_examine_new_bests(true);
    context.config.set_judge(seed % 3 == 1);
    if (seed % 4 == 1) {
      context.config.add_seed_solution()->set_path("kernel.cpp");
      context.config.mutable_seed_solution(0)->set_content(seed % 8 == 1 ? "seed score=0.6"
                                                                         : "seed fail");
    }
    AttemptDriver driver(context, best_of_n ? MakeBestOfN : MakeSequential,
                         [seed](const AskModel& ask) { return RandomReply(seed, ask); });
    Rng order(seed);
    driver.pick = [&](size_t count) { return static_cast<size_t>(order.NextBelow(count)); };
    driver.restart_before_every_step = restart;
    const auto by_size = [](size_t divisor) {
      return [divisor](const v1::Sources& sources) {
        return sources.files(0).content().size() % divisor == 0 ? v1::OUTCOME_INCORRECT
                                                                : v1::OUTCOME_PASSED;
      };
    };
    driver.confirm = by_size(3);
    driver.examine = by_size(4);
    driver.loses = [](const std::string& tag) { return absl::EndsWith(tag, "7"); };
    driver.fault = [](const AskModel& ask) {
      return ask.call_number % 11 == 5 ? absl::UnavailableError("down") : absl::OkStatus();
    };
    const int rounds = context.config.rounds();
    driver.after_step = [&, parallel = parallel](AttemptDriver& self) {
      const v1::AttemptSearchState state = self.state();
      // The bytes kept from one save to the next equal those of a fresh save.
      ASSERT_EQ(
          self.strategy().Save(),
          SavedPrograms().Encode(state, state.log(), v1::AttemptSearchState::kLogFieldNumber));
      ASSERT_LE(state.rounds_started(), rounds);
      ASSERT_EQ(state.rounds_done() + state.attempts_size(), state.rounds_started());
      ASSERT_LE(state.attempts_size(), parallel);
      ASSERT_LE(state.ended_size(), kKeptAttempts);
      // Only ids, never sources, and only the outcomes of results.
      for (const auto& [id, program] : state.log().screened()) {
        ASSERT_EQ(program.sources().files_size(), 0);
        ASSERT_EQ(program.result().workloads_size(), 0);
        ASSERT_FALSE(program.verdict().empty());
      }
      ASSERT_EQ(state.log().seed().sources().files_size(), 0);
    };
    driver.Start();
    driver.Run();
    EXPECT_FALSE(driver.failed()) << driver.finish_reason();
    EXPECT_EQ(driver.state().rounds_done(), rounds);
    std::set<std::string> programs;
    for (const ScreenCandidate& screen : driver.screened) {
      if (!absl::EndsWith(screen.tag, "7")) {
        EXPECT_TRUE(programs.insert(screen.candidate_id).second)
            << "screened twice: " << screen.tag;
      }
    }
    for (const AskModel& ask : driver.asked) verdicts_ += ask.labels.purpose == "judge" ? 1 : 0;
    profiles_ += driver.profiled;
    examinations_ += driver.examined;
    return driver.transcript;
  }

  int profiles_ = 0;
  int examinations_ = 0;
  int verdicts_ = 0;
};

TEST_P(AttemptPropertyTest, InvariantsHoldAndARestartBeforeEveryEventChangesNothing) {
  for (uint64_t seed = 1; seed <= Repetitions<uint64_t>(40, 10); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const auto undisturbed = Transcript(seed, false);
    ASSERT_EQ(undisturbed, Transcript(seed, true));
    if (HasFailure()) return;
  }
  EXPECT_GT(profiles_, 20);
  EXPECT_GT(examinations_, 20);
  if (!std::get<0>(GetParam())) {
    EXPECT_GT(verdicts_, 20);
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, AttemptPropertyTest,
                         testing::Combine(testing::Bool(), testing::Values(1, 4)));

// ---------------------------------------------------------------- a judge (RunConfig.judge)

SearchContext JudgedContext(int rounds, int parallel = 1) {
  SearchContext context = AttemptContext(rounds, parallel);
  context.config.set_judge(true);
  return context;
}

// The n-th program scores n; the judge says "plan of CALL".
std::string JudgedReply(const AskModel& ask) {
  if (ask.role == kJudgeRole) return absl::StrCat("plan of ", ask.call_number);
  return absl::StrCat("program score=", ask.labels.attempt);
}

TEST(AttemptJudgeTest, LooksAtEveryProgramThatIsToBeMadeFaster) {
  AttemptDriver driver(JudgedContext(3), MakeSequential, JudgedReply);
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls(),
              ElementsAre("sample/1", "judge/2", "improve/2", "judge/3", "improve/3"));
  EXPECT_EQ(driver.asked[1].role, "judge");
  EXPECT_THAT(driver.asked[1].user, HasSubstr("judge=[program score=1]"));
  EXPECT_THAT(driver.asked[2].user, HasSubstr("verdict=plan of 2"));
  EXPECT_THAT(driver.asked[3].user, HasSubstr("judge=[program score=2]"));
  EXPECT_THAT(driver.asked[4].user, HasSubstr("verdict=plan of 4"));
  EXPECT_THAT(driver.events,
              testing::Contains(testing::Property(&v1::RunEvent::text,
                                                  "judge: limited by compute; unroll: plan of 2")));
}

TEST(AttemptJudgeTest, IsAskedOnceMoreAndThenDoneWithout) {
  AttemptDriver driver(JudgedContext(2), MakeSequential, [](const AskModel& ask) {
    return ask.role == kJudgeRole ? "unusable" : JudgedReply(ask);
  });
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls(), ElementsAre("sample/1", "judge/2", "judge/2", "improve/2"));
  EXPECT_THAT(driver.asked[2].user, HasSubstr("complaint=[no METHOD]"));
  EXPECT_THAT(driver.asked[3].user, Not(HasSubstr("verdict")));
  EXPECT_EQ(driver.state().rounds_done(), 2);
}

TEST(AttemptJudgeTest, AFailedCallCostsTheVerdictAndNotTheAttempt) {
  AttemptDriver driver(JudgedContext(2), MakeSequential, JudgedReply);
  driver.fault = [](const AskModel& ask) {
    return ask.role == kJudgeRole ? absl::UnavailableError("down") : absl::OkStatus();
  };
  driver.Start();
  driver.Run();
  EXPECT_FALSE(driver.failed());
  EXPECT_THAT(driver.Calls(), ElementsAre("sample/1", "judge/2", "improve/2"));
  EXPECT_EQ(driver.state().log().passed(), 2);
}

TEST(AttemptJudgeTest, AModelThatCannotBeUsedFailsTheRunAndIsAskedAgainOnResume) {
  bool down = true;
  AttemptDriver driver(JudgedContext(2), MakeSequential, JudgedReply);
  driver.fault = [&](const AskModel& ask) {
    return down && ask.role == kJudgeRole ? absl::UnauthenticatedError("no key") : absl::OkStatus();
  };
  driver.Start();
  driver.Run();
  EXPECT_TRUE(driver.failed());
  down = false;
  driver.Restart(JudgedContext(2));
  driver.Run();
  EXPECT_THAT(driver.Calls(), ElementsAre("sample/1", "judge/2", "judge/2", "improve/2"));
}

TEST(AttemptJudgeTest, TheVerdictStaysWhenTheProgramIsAskedForAgain) {
  AttemptDriver driver(JudgedContext(2), MakeSequential, [](const AskModel& ask) {
    return ask.call_number == 3 ? "unusable" : JudgedReply(ask);
  });
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls(), ElementsAre("sample/1", "judge/2", "improve/2", "improve/2"));
  EXPECT_THAT(driver.asked[3].user, HasSubstr("verdict=plan of 2"));
}

TEST(AttemptJudgeTest, AProgramThatFailedIsNotJudged) {
  AttemptDriver driver(JudgedContext(3), MakeSequential, [](const AskModel& ask) {
    return ask.role == kJudgeRole ? JudgedReply(ask) : "program fail";
  });
  driver.Start();
  driver.Run();
  for (const AskModel& ask : driver.asked) EXPECT_NE(ask.role, kJudgeRole);
}

TEST(AttemptJudgeTest, WithItEvenAStrategyThatHidesResultsIsProfiled) {
  SearchContext context = JudgedContext(2);
  context.task.set_device(v1::DEVICE_CLASS_CUDA);
  context.config.set_profile(v1::PROFILE_POLICY_AUTO);
  context.config.add_seed_solution()->set_path("kernel.cpp");
  context.config.mutable_seed_solution(0)->set_content("seed score=0.6");
  AttemptDriver driver(context, MakeBestOfN, JudgedReply);
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls(), ElementsAre("judge/1", "vary/1", "judge/2", "vary/2"));
  EXPECT_THAT(driver.asked[0].user, HasSubstr("judge=[seed score=0.6] profile="));
}

// ---------------------------------------------------------------- an end near the floor

SearchContext FloorContext(int rounds, int parallel = 1) {
  SearchContext context = AttemptContext(rounds, parallel);
  context.config.set_floor_share(0.9);
  return context;
}

// The floor is 10 us, and the n-th program takes 100 us / n.
std::string NearerAndNearer(const AskModel& ask) {
  return absl::StrCat("floor=10 program score=", ask.labels.attempt);
}

TEST(AttemptFloorTest, NothingBeginsOnceAProgramIsNearTheFloor) {
  for (const auto& make : {MakeSequential, MakeBestOfN}) {
    AttemptDriver driver(FloorContext(30), make, NearerAndNearer);
    driver.Start();
    driver.Run();
    EXPECT_TRUE(driver.finished());
    EXPECT_FALSE(driver.failed());
    EXPECT_EQ(driver.state().rounds_done(), 9);
    EXPECT_THAT(driver.finish_reason(), HasSubstr("runs at 90 % of the fastest possible"));
  }
}

TEST(AttemptFloorTest, WhatIsUnderWayIsFinishedAndCounted) {
  AttemptDriver driver(FloorContext(30, 4), MakeBestOfN, NearerAndNearer);
  driver.Start();
  driver.Run();
  EXPECT_EQ(driver.state().rounds_done(), 12);
  EXPECT_EQ(driver.state().attempts_size(), 0);
}

TEST(AttemptFloorTest, WithoutAKnownFloorOrTheSettingItGoesOn) {
  AttemptDriver unknown(FloorContext(12), MakeSequential, [](const AskModel& ask) {
    return absl::StrCat("program score=", ask.labels.attempt);
  });
  unknown.Start();
  unknown.Run();
  EXPECT_EQ(unknown.state().rounds_done(), 12);
  AttemptDriver unset(AttemptContext(12), MakeSequential, NearerAndNearer);
  unset.Start();
  unset.Run();
  EXPECT_EQ(unset.state().rounds_done(), 12);
}

TEST(AttemptFloorTest, AGivenProgramAtTheFloorNeedsNoModel) {
  SearchContext context = FloorContext(5);
  context.config.add_seed_solution()->set_path("kernel.cpp");
  context.config.mutable_seed_solution(0)->set_content("floor=95 seed score=1");
  AttemptDriver driver(context, MakeSequential, NearerAndNearer);
  driver.Start();
  driver.Run();
  EXPECT_TRUE(driver.finished());
  EXPECT_THAT(driver.asked, testing::IsEmpty());
}

TEST(AttemptFloorTest, ARefusedProgramWasNotAtTheFloorAndTheSearchGoesOn) {
  for (const bool restart : {false, true}) {
    AttemptDriver driver(FloorContext(11), MakeSequential, NearerAndNearer);
    driver.restart_before_every_step = restart;
    driver.confirm = [](const v1::Sources& sources) {
      return absl::EndsWith(sources.files(0).content(), "score=9") ? v1::OUTCOME_INCORRECT
                                                                   : v1::OUTCOME_PASSED;
    };
    driver.Start();
    driver.Run();
    EXPECT_TRUE(driver.finished());
    EXPECT_EQ(driver.state().rounds_done(), 10) << "the tenth is at the floor and stands";
  }
}

TEST(AttemptSearchTest, AnUnusableReplyIsAskedForOnceMore) {
  AttemptDriver driver(AttemptContext(2), MakeSequential, [](const AskModel& ask) {
    return ask.labels.attempt == 1 ? "unusable" : "good score=2";
  });
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls(), ElementsAre("sample/1", "sample/1", "sample/2"));
  EXPECT_THAT(driver.asked[1].user, HasSubstr("complaint=no <file> block"));
  EXPECT_THAT(driver.asked[2].user, Not(HasSubstr("complaint")));
  EXPECT_EQ(driver.finish_reason(), "budget of 2 rounds is spent");
}

TEST(AttemptSearchTest, TheSameProgramInFlightTwiceIsScreenedOnce) {
  AttemptDriver driver(AttemptContext(2, 2), MakeBestOfN,
                       [](const AskModel&) { return "same score=2"; });
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.screened, SizeIs(1));
  EXPECT_THAT(driver.events.back().text(), HasSubstr("the same program as in round 1"));
  EXPECT_EQ(driver.state().rounds_done(), 2);
}

TEST(AttemptSearchTest, ALostScreeningIsAskedForAgainByWhoeverWaitsForIt) {
  AttemptDriver driver(AttemptContext(2, 2), MakeBestOfN,
                       [](const AskModel&) { return "same score=2"; });
  driver.loses = [](const std::string& tag) { return tag == "attempt/1"; };
  driver.Start();
  driver.Run();
  ASSERT_THAT(driver.screened, SizeIs(2));
  EXPECT_EQ(driver.screened[1].tag, "attempt/2");
  EXPECT_EQ(driver.state().log().passed(), 1);
}

TEST(AttemptSearchTest, AModelThatCannotBeUsedFailsTheRunWhichMayBeResumed) {
  bool down = true;
  AttemptDriver driver(AttemptContext(3, 2), MakeSequential,
                       [](const AskModel&) { return "good score=2"; });
  driver.fault = [&](const AskModel&) {
    return down ? absl::UnauthenticatedError("no key") : absl::OkStatus();
  };
  driver.Start();
  driver.Run();
  EXPECT_TRUE(driver.failed());
  EXPECT_THAT(driver.finish_reason(), HasSubstr("the model cannot be used"));
  EXPECT_EQ(driver.state().rounds_done(), 0) << "nothing is lost";
  down = false;
  driver.Restart(AttemptContext(3, 2));
  driver.Run();
  EXPECT_FALSE(driver.failed());
  EXPECT_EQ(driver.state().rounds_done(), 3);
}

TEST(AttemptSearchTest, AProgramThatCannotBeReadFailsTheRunWhichMayBeResumed) {
  AttemptDriver driver(AttemptContext(3), MakeSequential, [](const AskModel& ask) {
    return absl::StrCat("good score=", ask.labels.attempt);
  });
  driver.after_step = [](AttemptDriver& self) {
    self.shelf().broken = self.state().rounds_started() == 1;
  };
  driver.Start();
  driver.Run();
  EXPECT_TRUE(driver.failed());
  EXPECT_THAT(driver.finish_reason(), HasSubstr("the disk is gone"));
  driver.after_step = [](AttemptDriver&) {};
  driver.shelf().broken = false;
  driver.Restart(AttemptContext(3));
  driver.Run();
  EXPECT_FALSE(driver.failed());
  EXPECT_EQ(driver.state().rounds_done(), 3);
}

TEST(AttemptSearchTest, ALargerBudgetGoesOnWhereItStopped) {
  AttemptDriver driver(AttemptContext(2), MakeSequential, [](const AskModel& ask) {
    return absl::StrCat("good score=", ask.labels.attempt);
  });
  driver.Start();
  driver.Run();
  driver.Restart(AttemptContext(4));
  driver.Run();
  EXPECT_THAT(driver.Calls(), ElementsAre("sample/1", "improve/2", "improve/3", "improve/4"));
}

TEST(AttemptSearchTest, GarbageAndStatesOfOthersAreDataLoss) {
  const auto sequential = MakeSequential(AttemptContext(2));
  EXPECT_EQ(sequential->Restore("\xff garbage").status().code(), absl::StatusCode::kDataLoss);
  const auto best_of_n = MakeBestOfN(AttemptContext(2));
  best_of_n->Start();
  const auto restored = sequential->Restore(best_of_n->Save());
  EXPECT_EQ(restored.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(restored.status().message()), HasSubstr("'best_of_n'"));
  v1::AttemptSearchState newer;
  newer.set_version(99);
  newer.set_strategy("sequential");
  EXPECT_THAT(std::string(sequential->Restore(newer.SerializeAsString()).status().message()),
              HasSubstr("version 99"));
}

TEST(AttemptSearchTest, AStateIsSmall) {
  AttemptDriver driver(AttemptContext(300), MakeSequential, [](const AskModel& ask) {
    return absl::StrCat(std::string(20000, 'x'), " score=1.", ask.labels.attempt);
  });
  driver.Start();
  driver.Run();
  // The state contains no program of 20 kB, only some 250 bytes for each attempt.
  EXPECT_LT(driver.strategy().Save().size(), 300u * 300u + 32u * 600u);
}

}  // namespace
}  // namespace ksearch
