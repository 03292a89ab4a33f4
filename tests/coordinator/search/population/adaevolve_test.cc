#include "coordinator/search/population/adaevolve.h"

#include <cmath>

#include "absl/strings/str_join.h"
#include "tests/coordinator/search/population/population_fixture.h"

namespace ksearch {
namespace {

using testing::ElementsAre;

v1::AdaEvolveSettings Defaults() { return Completed<AdaEvolve>(v1::AdaEvolveSettings()); }

v1::AttemptPlan On(int island) {
  v1::AttemptPlan plan;
  plan.set_island(island);
  return plan;
}

TEST(AdaEvolveTest, DefaultsAndFaults) {
  EXPECT_EQ(Defaults().population(), 20);
  EXPECT_EQ(Defaults().most_islands(), 5);
  v1::AdaEvolveSettings wrong;
  wrong.set_islands(7);
  wrong.set_most_islands(6);
  wrong.set_least_intensity(0.6);
  EXPECT_THAT(FaultsOf<AdaEvolve>(wrong),
              ElementsAre("adaevolve.most_islands is 6, must be in [7, 64]",
                          "adaevolve.most_intensity is 0.5, must be in [0.6, 1]"));
}

TEST(AdaEvolveTest, IntensityFallsWithGains) {
  AdaEvolve policy(Defaults());
  v1::AdaEvolveState::Island island;
  EXPECT_NEAR(policy.Intensity(island), 0.5, 1e-3);
  island.set_gains(1);
  EXPECT_NEAR(policy.Intensity(island), 0.15 + 0.35 / 2, 1e-6);
}

TEST(AdaEvolveTest, GainsAreMeasuredByTheIslandAndRewardsByTheBestOfAll) {
  AdaEvolve policy(Defaults());
  v1::AttemptSearchState state;
  Rng rng(1);
  EndWith(policy, On(0), "a", 2, &state, rng);    // the first of all: 1 and 1
  EndWith(policy, On(1), "b", 1, &state, rng);    // the first of its island: 1, and 1 of 2
  EndWith(policy, On(1), "c", 1.5, &state, rng);  // 0.5 of 1, and 0.5 of 2
  const auto& islands = state.adaevolve().islands();
  EXPECT_NEAR(islands[0].gains(), 0.1, 1e-6);
  EXPECT_NEAR(islands[1].gains(), 0.9 * 0.1 + 0.1 * 0.25, 1e-6);
  EXPECT_NEAR(islands[0].rewards(), 1, 1e-6);
  EXPECT_NEAR(islands[1].rewards(), 0.9 * 0.5 + 0.25, 1e-6);
  EXPECT_NEAR(islands[1].visits(), 1.9, 1e-6);
  EndWith(policy, On(1), "d", 0, &state, rng);
  EXPECT_NEAR(islands[1].rewards(), 0.9 * (0.9 * 0.5 + 0.25), 1e-6);
  EXPECT_NEAR(islands[1].gains(), 0.9 * 0.1 + 0.1 * 0.25, 1e-6) << "only gains move it";
}

TEST(AdaEvolveTest, IslandsAreChosenByRewardAndVisits) {
  AdaEvolve policy(Defaults());
  v1::AttemptSearchState state;
  Rng rng(1);
  for (int i = 0; i < 2; ++i) EndWith(policy, On(0), absl::StrCat("a", i), 1, &state, rng);
  for (int i = 0; i < 3; ++i) EndWith(policy, On(1), absl::StrCat("b", i), 1, &state, rng);
  EXPECT_EQ(policy.ChooseIsland(state, rng), 0) << "it has fewer than three visits";
  EndWith(policy, On(0), "a2", 1, &state, rng);
  const auto bound = [&](int island) {
    const auto& one = state.adaevolve().islands(island);
    return one.rewards() / one.visits() + 1.41 * std::sqrt(std::log(7) / one.chosen());
  };
  EXPECT_EQ(policy.ChooseIsland(state, rng), bound(1) > bound(0) ? 1 : 0);
  // Many visits without reward make the other island likelier.
  for (int i = 0; i < 12; ++i) EndWith(policy, On(0), absl::StrCat("x", i), 0.1, &state, rng);
  EXPECT_EQ(policy.ChooseIsland(state, rng), 1);
}

TEST(AdaEvolveTest, ParentsComeAsOftenAsTheFormulasSay) {
  v1::AdaEvolveSettings settings;
  settings.set_islands(1);
  AdaEvolve policy(Completed<AdaEvolve>(settings));
  v1::AttemptSearchState state;
  Rng rng(1);
  for (int i = 0; i < 8; ++i) {
    EndWith(policy, On(0), absl::StrCat("p", i), 1 + i, &state, rng);
  }
  const double intensity = policy.Intensity(state.adaevolve().islands(0));
  std::vector<std::string> ids;
  std::vector<double> expected;
  for (int i = 0; i < 8; ++i) {
    ids.push_back(absl::StrCat("p", i));
    expected.push_back(intensity / 8 + (1 - intensity) * 0.7 * (i >= 6 ? 0.5 : 0) +
                       (1 - intensity) * 0.3 * (1 + i) / 36);
  }
  EXPECT_TRUE(AgreesWith(
      Frequencies(ids, [&] { return policy.DrawParent(state, 0, rng).candidate_id(); }), expected));
}

TEST(AdaEvolveTest, APopulationLosesItsWorstButNotTheNewest) {
  v1::AdaEvolveSettings settings;
  settings.set_population(2);
  settings.set_islands(1);
  AdaEvolve policy(Completed<AdaEvolve>(settings));
  v1::AttemptSearchState state;
  Rng rng(1);
  for (const auto& [id, score] :
       std::vector<std::pair<std::string, double>>{{"a", 3}, {"b", 2}, {"c", 1}}) {
    EndWith(policy, On(0), id, score, &state, rng);
  }
  std::vector<std::string> ids;
  for (const auto& member : state.adaevolve().members()) ids.push_back(member.candidate_id());
  EXPECT_THAT(ids, ElementsAre("a", "c"));
}

TEST(AdaEvolveTest, FailuresAreRepairedAFewTimes) {
  AdaEvolve policy(Defaults());
  v1::AttemptSearchState state;
  Rng rng(1);
  EndWith(policy, policy.Plan(&state, rng), "a", 0, &state, rng);
  for (int i = 1; i <= 2; ++i) {
    const v1::AttemptPlan plan = policy.Plan(&state, rng);
    EXPECT_EQ(plan.kind(), v1::AttemptPlan::REPAIR);
    EXPECT_EQ(plan.failed_id(), i == 1 ? "a" : "b1");
    EndWith(policy, plan, absl::StrCat("b", i), 0, &state, rng);
  }
  EXPECT_EQ(policy.Plan(&state, rng).kind(), v1::AttemptPlan::SAMPLE);
}

TEST(AdaEvolveTest, IslandsBeginWithTheFirstProgramAndTheBestMoveRoundTheRing) {
  v1::AdaEvolveSettings settings;
  settings.set_islands(3);
  settings.set_migration_interval(4);
  settings.set_migrants(1);
  AdaEvolve policy(Completed<AdaEvolve>(settings));
  v1::AttemptSearchState state;
  Rng rng(1);
  EndWith(policy, On(0), "a", 1, &state, rng);
  EXPECT_EQ(state.adaevolve().members_size(), 3);
  EndWith(policy, On(0), "b", 5, &state, rng);
  EndWith(policy, On(1), "c", 2, &state, rng);
  EndWith(policy, On(1), "d", 0, &state, rng);
  std::vector<std::string> places;
  for (const auto& member : state.adaevolve().members()) {
    if (member.migrant()) places.push_back(absl::StrCat(member.candidate_id(), member.island()));
  }
  EXPECT_THAT(places, ElementsAre("b1", "b2")) << "the copy on 1 is the best there by then";
}

TEST(AdaEvolveTest, WithoutGainsThereAreIdeasAndAnotherIsland) {
  v1::AdaEvolveSettings settings;
  settings.set_spawn_cooldown(12);
  AdaEvolve policy(Completed<AdaEvolve>(settings));
  v1::AttemptSearchState state;
  Rng rng(1);
  EndWith(policy, On(0), "a", 1, &state, rng);
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(policy.WantedNote(state).has_value(), false);
    EndWith(policy, On(i % 2), absl::StrCat("b", i), 0.5, &state, rng);
  }
  const auto note = policy.WantedNote(state);
  ASSERT_TRUE(note.has_value()) << "one of ten attempts improved the best, below 0.12";
  EXPECT_EQ(note->kind(), v1::NoteState::PLANS);
  EXPECT_EQ(note->wanted(), 3);
  policy.TakeNote(*note, {"x", "y"}, &state);
  EXPECT_EQ(policy.WantedNote(state), std::nullopt);
  std::vector<std::string> directions;
  for (int i = 0; i < 5; ++i) directions.push_back(policy.Plan(&state, rng).direction());
  EXPECT_THAT(directions, ElementsAre("x", "y", "x", "y", "")) << "each is used twice";
  EXPECT_EQ(state.adaevolve().islands_size(), 2);
  for (int i = 0; i < 3; ++i) EndWith(policy, On(0), absl::StrCat("c", i), 0.5, &state, rng);
  EXPECT_EQ(state.adaevolve().islands_size(), 3) << "none of the last 12 improved the best";
  bool founded = false;
  for (const auto& member : state.adaevolve().members()) {
    founded = founded || (member.island() == 2 && member.candidate_id() == "a");
  }
  EXPECT_TRUE(founded);
}

std::unique_ptr<SearchStrategy> Make(const SearchContext& context) {
  return std::make_unique<AttemptSearch>(
      "adaevolve", context, FakeAttemptProposer(),
      std::make_unique<AdaEvolve>(Completed<AdaEvolve>(context.config.adaevolve())));
}

TEST(AdaEvolveTest, ATrace) {
  SearchContext context = AttemptContext(6);
  context.config.mutable_adaevolve()->set_stagnation_window(3);
  AttemptDriver driver(context, Make, [](const AskModel& ask) {
    if (ask.role == "notes") return std::string("another way / a third");
    const char* replies[] = {"a typo",          "one score=2",  "two score=1",
                             "three score=1.5", "four score=1", "five score=3"};
    return std::string(replies[ask.labels.attempt - 1]);
  });
  driver.Start();
  driver.Run();
  EXPECT_EQ(absl::StrJoin(driver.transcript, "--\n"), R"(ask 1 sample/1 base=[none] style=1
--
screen attempt/1 [a typo] of call 1
CANDIDATE_PROPOSED 1
--
ask 2 debug/2 base=[none] failed=[a typo] expected ';' style=1
CANDIDATE_FAILED 1 compile_error: expected ';'
--
screen attempt/2 [one score=2] of call 2 from a parent
CANDIDATE_PROPOSED 2
--
ask 3 improve/3 base=[one score=2] us=50 style=1
CANDIDATE_PASSED 2 score 2.000, 50.00 us
--
screen attempt/3 [two score=1] of call 3 from a parent
CANDIDATE_PROPOSED 3
--
ask 4 improve/4 base=[one score=2] us=50 with=[two score=1] style=1
CANDIDATE_PASSED 3 score 1.000, 100.00 us
--
screen attempt/4 [three score=1.5] of call 4 from a parent
CANDIDATE_PROPOSED 4
--
ask 5 improve/5 base=[three score=1.5] us=66.6667 with=[one score=2] with=[two score=1] style=1
CANDIDATE_PASSED 4 score 1.500, 66.67 us
--
screen attempt/5 [four score=1] of call 5 from a parent
CANDIDATE_PROPOSED 5
--
ask 6 ideas/0 PLANS 3 [one score=2]
ask 7 improve/6 base=[one score=2] us=50 with=[three score=1.5] with=[two score=1] with=[four score=1] style=1
CANDIDATE_PASSED 5 score 1.000, 100.00 us
--
NOTE 0 ideas: 2 points
--
screen attempt/6 [five score=3] of call 7 from a parent
CANDIDATE_PROPOSED 6
--
CANDIDATE_PASSED 6 score 3.000, 33.33 us
finished: budget of 6 rounds is spent
)");
}

}  // namespace
}  // namespace ksearch
