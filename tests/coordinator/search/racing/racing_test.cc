#include "coordinator/search/racing/racing.h"

#include <cmath>
#include <set>

#include "absl/strings/str_join.h"
#include "coordinator/search/racing/race_bounds.h"
#include "tests/common/repetitions.h"
#include "tests/coordinator/search/population/population_fixture.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Line = v1::RacingState::Line;

v1::RacingSettings Settings(int lines, int first_plans = 0) {
  v1::RacingSettings settings;
  settings.set_lines(lines);
  settings.set_first_plans(first_plans);
  SettingFaults faults;
  Racing::Complete(1, &settings, &faults);
  EXPECT_THAT(faults.all(), IsEmpty());
  return settings;
}

const Line& LineOf(const v1::AttemptSearchState& state, int number) {
  return state.racing().lines(number - 1);
}

TEST(RacingTest, DefaultsAndFaults) {
  v1::RacingSettings settings;
  SettingFaults faults;
  Racing::Complete(7, &settings, &faults);
  EXPECT_EQ(settings.lines(), 7);
  EXPECT_EQ(settings.first_plans(), 7);
  settings.set_momentum_decay(2);
  settings.set_lines(0);
  Racing::Complete(7, &settings, &faults);
  EXPECT_THAT(faults.all(), ElementsAre("racing.lines is 0, must be in [1, 64]",
                                        "racing.momentum_decay is 2, must be in [0, 1]"));
}

TEST(RaceBoundsTest, GainsAreSmoothedAndDrawnTowardsThoseOfAll) {
  v1::RacingState books;
  Line* line = books.add_lines();
  EXPECT_EQ(Momentum(*line, 0.5), std::nullopt);
  const Gains usual = GainsOf(books, *line, 0.5);
  EXPECT_DOUBLE_EQ(usual.mean, 0.1);
  EXPECT_DOUBLE_EQ(usual.deviation, 0.2);
  NoteGain(0.4, 0.5, line);
  EXPECT_DOUBLE_EQ(*Momentum(*line, 0.5), 0.4) << "the first one alone, not half of it";
  NoteGain(0, 0.5, line);
  EXPECT_NEAR(*Momentum(*line, 0.5), (0.4 * 0.25 + 0 * 0.5) / 0.75, 1e-12);
  // The line's mean over two attempts is 0.1333; with the prior of two usual ones 0.11667.
  const Gains own = GainsOf(books, *line, 0.5);
  EXPECT_NEAR(own.mean, 0.5 * 0.4 / 3 + 0.5 * (2 * 0.4 / 3 + 0.2) / 4, 1e-9);
  books.add_lines();
  EXPECT_NEAR(GainsOf(books, books.lines(1), 0.5).mean, (2 * 0.4 / 3 + 0.2) / 4, 1e-9)
      << "a line without attempts is expected to do as the others";
}

TEST(RaceBoundsTest, ABoundIsTipIntervalAndWhatMayBeGained) {
  v1::AttemptSearchState state;
  AddScreened("a", std::exp(1), &state);
  (*state.mutable_log()->mutable_screened())["a"].set_score_error(0.05);
  Line* line = state.mutable_racing()->add_lines();
  line->add_chain("a");
  v1::RacingSettings settings = Settings(1);
  settings.set_optimism(2);
  EXPECT_NEAR(UpperBound(state, *line, 4, settings), 1 + 0.05 + 4 * 0.1 + 2 * 2 * 0.2, 1e-9);
  EXPECT_NEAR(*BarToBeat(state.log()), 1 - 0.05, 1e-9);
  // A line without a program has only the other lines' mean.
  Line* empty = state.mutable_racing()->add_lines();
  EXPECT_NEAR(UpperBound(state, *empty, 1, settings), 1 + 0.1 + 2 * 0.2, 1e-9);
  (*state.mutable_log()->mutable_screened())["a"].set_passed(false);
  EXPECT_EQ(TipOf(state.log(), state.racing().lines(0)), "");
  EXPECT_EQ(BarToBeat(state.log()), std::nullopt);
}

TEST(RacingTest, EveryLineHasItsFirstAttemptsInTurnThenTheMostPromisingOne) {
  Racing policy(Settings(3), 100);
  v1::AttemptSearchState state;
  Rng rng(1);
  std::vector<int> lines;
  // Line 2 gains 20 % with every attempt and the others nothing; all are about equally good.
  for (int i = 0; i < 9; ++i) {
    const v1::AttemptPlan plan = policy.Plan(&state, rng);
    lines.push_back(plan.line());
    const int tries = LineOf(state, plan.line()).attempts();
    EndWith(policy, plan, absl::StrCat("p", i), plan.line() == 2 ? std::pow(1.2, tries) : 0.99,
            &state, rng);
  }
  EXPECT_THAT(lines, ElementsAre(1, 2, 3, 2, 1, 3, 2, 2, 2));
}

TEST(RacingTest, ALineThatCannotWinAnyMoreIsDropped) {
  Racing policy(Settings(2), 100);
  v1::AttemptSearchState state;
  Rng rng(1);
  for (int i = 0; i < 8; ++i) {
    const v1::AttemptPlan plan = policy.Plan(&state, rng);
    EndWith(policy, plan, absl::StrCat("p", i), plan.line() == 1 ? 8 + i : 0.5, &state, rng);
  }
  EXPECT_EQ(LineOf(state, 1).phase(), Line::OPEN);
  EXPECT_EQ(LineOf(state, 2).phase(), Line::DROPPED);
  EXPECT_EQ(LineOf(state, 2).attempts(), 2) << "as soon as it had its least attempts";
  EXPECT_EQ(LineOf(state, 3).parent_line(), 1)
      << "another one takes its place, not from its program";
}

TEST(RacingTest, ALineWithoutMomentumGoesBackAndIsClosedInTheEnd) {
  Racing policy(Settings(1), 200);
  v1::AttemptSearchState state;
  Rng rng(1);
  double score = 1;
  for (int i = 0; i < 4; ++i) {
    EndWith(policy, policy.Plan(&state, rng), absl::StrCat("up", i), score, &state, rng);
    score *= 1.5;
  }
  EXPECT_THAT(LineOf(state, 1).chain(), ElementsAre("up0", "up1", "up2", "up3"));
  std::set<std::string> bases;
  int attempts = 0;
  while (LineOf(state, 1).phase() == Line::OPEN) {
    const v1::AttemptPlan plan = policy.Plan(&state, rng);
    ASSERT_EQ(plan.line(), 1);
    bases.insert(plan.base_id());
    EndWith(policy, plan, absl::StrCat("slow", attempts), 0.1, &state, rng);
    ASSERT_LT(++attempts, 60);
  }
  EXPECT_GT(bases.size(), 1u) << "it went back";
  EXPECT_LE(LineOf(state, 1).back_tracks(), 2);
}

TEST(RacingTest, OnAPlateauItMovesOn) {
  int moved = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Racing policy(Settings(1), 200);
    v1::AttemptSearchState state;
    Rng rng(seed);
    std::set<std::string> bases;
    for (int i = 0; i < 4; ++i) {
      const v1::AttemptPlan plan = policy.Plan(&state, rng);
      bases.insert(plan.base_id());
      EndWith(policy, plan, absl::StrCat("flat", i), 2, &state, rng);
    }
    moved += bases.size() > 2 ? 1 : 0;
    EXPECT_EQ(LineOf(state, 1).chain_size(), 1) << "an equal program takes the place of the last";
  }
  EXPECT_GT(moved, 10) << "three of four times an equal program is the next base";
  EXPECT_LT(moved, 20);
}

TEST(RacingTest, WhatFailsIsRepairedLessWhereSomethingWorks) {
  Racing policy(Settings(1), 200);
  v1::AttemptSearchState state;
  Rng rng(1);
  std::vector<std::string> kinds;
  for (const double score : {0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0}) {
    const v1::AttemptPlan plan = policy.Plan(&state, rng);
    kinds.push_back(v1::AttemptPlan::Kind_Name(plan.kind()));
    EndWith(policy, plan, absl::StrCat("p", kinds.size()), score, &state, rng);
  }
  EXPECT_THAT(kinds, ElementsAre("SAMPLE", "REPAIR", "REPAIR", "REPAIR", "SAMPLE", "REFINE",
                                 "REPAIR", "REFINE"));
}

TEST(RacingTest, PlansAreWaitedForAndShownUntilTheyAreRealized) {
  Racing policy(Settings(2, 3), 100);
  v1::AttemptSearchState state;
  Rng rng(1);
  EXPECT_FALSE(policy.MayBegin(state));
  const auto note = policy.WantedNote(state);
  ASSERT_TRUE(note.has_value());
  EXPECT_EQ(note->wanted(), 3);
  policy.TakeNote(*note, {"tile", "fuse", "split"}, &state);
  EXPECT_TRUE(policy.MayBegin(state));
  EXPECT_EQ(policy.WantedNote(state), std::nullopt);
  v1::AttemptPlan plan = policy.Plan(&state, rng);
  EXPECT_EQ(plan.direction(), "tile");
  EndWith(policy, plan, "a", 1, &state, rng);
  plan = policy.Plan(&state, rng);
  EXPECT_EQ(plan.direction(), "fuse");
  EXPECT_THAT(plan.notes(), ElementsAre("tile: score 1.000 after 1 attempts"))
      << "what one line has shown is told to the others at once";
  EndWith(policy, plan, "b", 1, &state, rng);
  plan = policy.Plan(&state, rng);
  EXPECT_EQ(plan.line(), 1);
  EXPECT_EQ(plan.direction(), "");
  EXPECT_THAT(state.racing().waiting_plans(), ElementsAre("split"));
  // Without an answer the search continues without plans.
  v1::AttemptSearchState without;
  policy.TakeNote(*note, {}, &without);
  EXPECT_TRUE(policy.MayBegin(without));
  EXPECT_EQ(policy.Plan(&without, rng).direction(), "");
}

TEST(RacingTest, GivenProgramsAreLinesOfTheirOwn) {
  Racing policy(Settings(3), 100);
  v1::AttemptSearchState state;
  Rng rng(1);
  policy.TakeGiven(AddScreened("fast", 2, &state), {}, &state, rng);
  policy.TakeGiven(AddScreened("broken", 0, &state), {}, &state, rng);
  std::vector<std::string> shown;
  for (int i = 0; i < 3; ++i) {
    const v1::AttemptPlan plan = policy.Plan(&state, rng);
    shown.push_back(plan.base_id() + plan.failed_id());
    *state.add_attempts()->mutable_plan() = plan;
  }
  EXPECT_THAT(shown, ElementsAre("fast", "broken", ""));
}

TEST(RacingTest, ARefusedProgramIsNoTip) {
  Racing policy(Settings(1), 100);
  v1::AttemptSearchState state;
  Rng rng(1);
  EndWith(policy, policy.Plan(&state, rng), "a", 1, &state, rng);
  EndWith(policy, policy.Plan(&state, rng), "cheat", 9, &state, rng);
  (*state.mutable_log()->mutable_screened())["cheat"].set_passed(false);
  const v1::AttemptPlan plan = policy.Plan(&state, rng);
  EXPECT_EQ(plan.base_id(), "a");
  EndWith(policy, plan, "b", 1.2, &state, rng);
  EXPECT_THAT(LineOf(state, 1).chain(), ElementsAre("a", "b"));
}

TEST(RacingTest, InvariantsHoldWhateverHappens) {
  for (uint64_t seed = 1; seed <= Repetitions<uint64_t>(30, 8); ++seed) {
    const int lines = 1 + static_cast<int>(seed % 5);
    Racing policy(Settings(lines), 150);
    v1::AttemptSearchState state;
    Rng rng(seed);
    double best = 0;
    for (int i = 0; i < 150; ++i) {
      Evolve(policy, 1, &state, rng);
      for (const auto& [id, program] : state.log().screened()) {
        if (program.passed()) best = std::max(best, program.score());
      }
      int open = 0;
      for (const Line& line : state.racing().lines()) {
        open += line.phase() == Line::OPEN ? 1 : 0;
        ASSERT_TRUE(line.phase() == Line::OPEN || line.chain_size() <= 1);
        ASSERT_LE(line.back_tracks(), 2);
        if (line.phase() != Line::DROPPED) continue;
        ASSERT_LT(*LogScore(state.log(), line.chain(0)), std::log(best))
            << "the best line is never dropped";
      }
      ASSERT_LE(open, lines);
    }
  }
}

std::unique_ptr<SearchStrategy> Make(const SearchContext& context) {
  v1::RacingSettings settings = context.config.racing();
  SettingFaults faults;
  Racing::Complete(context.config.parallel(), &settings, &faults);
  EXPECT_THAT(faults.all(), IsEmpty());
  return std::make_unique<AttemptSearch>(
      "racing", context, FakeAttemptProposer(),
      std::make_unique<Racing>(settings, context.config.rounds()));
}

TEST(RacingTest, ATrace) {
  SearchContext context = AttemptContext(6, 2);
  context.config.mutable_racing()->set_lines(2);
  context.config.mutable_racing()->set_least_attempts(1);
  AttemptDriver driver(context, Make, [](const AskModel& ask) {
    if (ask.role == "notes") return std::string("tile it / fuse it");
    const char* replies[] = {"one score=1",     "a typo",       "two score=2",
                             "three score=1.5", "four score=4", "five score=3"};
    return std::string(replies[ask.labels.attempt - 1]);
  });
  driver.Start();
  driver.Run();
  EXPECT_EQ(absl::StrJoin(driver.transcript, "--\n"), R"(ask 1 plan/0 PLANS 2
--
ask 2 sample/1 base=[none] style=1 direction=tile it
ask 3 sample/2 base=[none] style=1 direction=fuse it
NOTE 0 plan: 2 points
--
screen attempt/1 [one score=1] of call 2
CANDIDATE_PROPOSED 1
--
screen attempt/2 [a typo] of call 3
CANDIDATE_PROPOSED 2
--
ask 4 improve/3 base=[one score=1] us=100 history=attempt 1: score 1.000, 100.00 us; it said: one score=1
CANDIDATE_PASSED 1 score 1.000, 100.00 us
--
ask 5 debug/4 base=[none] failed=[a typo] expected ';' history=attempt 1: score 1.000, 100.00 us; it said: one score=1 / attempt 2: compile_error: expected ';'; it said: a typo style=1 direction=fuse it notes=tile it: score 1.000 after 1 attempts
CANDIDATE_FAILED 2 compile_error: expected ';'
--
screen attempt/3 [two score=2] of call 4 from a parent
CANDIDATE_PROPOSED 3
--
screen attempt/4 [three score=1.5] of call 5 from a parent
CANDIDATE_PROPOSED 4
--
ask 6 improve/5 base=[two score=2] us=50 history=attempt 1: score 1.000, 100.00 us; it said: one score=1 / attempt 2: compile_error: expected ';'; it said: a typo / attempt 3: score 2.000, 50.00 us; it said: two score=2 notes=fuse it: nothing works after 1 attempts
CANDIDATE_PASSED 3 score 2.000, 50.00 us
--
ask 7 improve/6 base=[two score=2] us=50 history=attempt 1: score 1.000, 100.00 us; it said: one score=1 / attempt 2: compile_error: expected ';'; it said: a typo / attempt 3: score 2.000, 50.00 us; it said: two score=2 / attempt 4: score 1.500, 66.67 us; it said: three score=1.5 notes=fuse it: score 1.500 after 2 attempts
CANDIDATE_PASSED 4 score 1.500, 66.67 us
--
screen attempt/5 [four score=4] of call 6 from a parent
CANDIDATE_PROPOSED 5
--
screen attempt/6 [five score=3] of call 7 from a parent
CANDIDATE_PROPOSED 6
--
CANDIDATE_PASSED 5 score 4.000, 25.00 us
--
CANDIDATE_PASSED 6 score 3.000, 33.33 us
finished: budget of 6 rounds is spent
)");
}

}  // namespace
}  // namespace ksearch
