#include "coordinator/search/population/evoengineer.h"

#include "absl/strings/str_join.h"
#include "tests/coordinator/search/population/population_fixture.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

v1::EvoEngineerSettings Preset(const std::string& name) {
  v1::EvoEngineerSettings settings;
  settings.set_preset(name);
  return Completed<EvoEngineer>(settings);
}

TEST(EvoEngineerTest, PresetsAndFaults) {
  EXPECT_EQ(Preset("").preset(), "full");
  EXPECT_EQ(Preset("full").valid_required(), 2);
  EXPECT_EQ(Preset("insight").valid_required(), 0);
  EXPECT_EQ(Preset("insight").ideas(), 3);
  EXPECT_EQ(Preset("free").ideas(), 0);
  v1::EvoEngineerSettings wrong;
  wrong.set_preset("half");
  wrong.set_samples(1);
  wrong.set_valid_required(6);
  EXPECT_THAT(FaultsOf<EvoEngineer>(wrong),
              ElementsAre("evoengineer.preset is \"half\", must be full, insight or free",
                          "evoengineer.samples is 1, must be in [2, 64]",
                          "evoengineer.valid_required is 6, must be in [0, 5]"));
}

TEST(EvoEngineerTest, ParentsAreDrawnByRank) {
  v1::AttemptSearchState state;
  Rng rng(2);
  MemberList ranked;
  for (const char* id : {"a", "b", "c", "d", "e"}) {
    v1::PopulationMember member;
    member.set_candidate_id(id);
    ranked.push_back(AddMember(member, static_cast<int>(ranked.size()),
                               state.mutable_evoengineer()->mutable_members()));
  }
  EXPECT_TRUE(
      AgreesWith(Frequencies({"a", "b", "c", "d", "e"},
                             [&] { return EvoEngineer::DrawByRank(ranked, rng).candidate_id(); }),
                 {1.0 / 5, 1.0 / 6, 1.0 / 7, 1.0 / 8, 1.0 / 9}));
}

TEST(EvoEngineerTest, AGenerationIsWaitedFor) {
  EvoEngineer policy(Preset("free"));
  v1::AttemptSearchState state;
  Rng rng(2);
  std::vector<v1::AttemptPlan> plans;
  while (policy.MayBegin(state)) plans.push_back(policy.Plan(&state, rng));
  ASSERT_EQ(plans.size(), 4u);
  for (size_t i = 0; i < 3; ++i) EndWith(policy, plans[i], absl::StrCat("p", i), 1, &state, rng);
  EXPECT_FALSE(policy.MayBegin(state));
  // A reply without a program also counts as a sample.
  v1::AttemptState empty;
  *empty.mutable_plan() = plans[3];
  policy.TakeEnded({empty, nullptr, false}, &state, rng);
  EXPECT_TRUE(policy.MayBegin(state));
  EXPECT_EQ(state.evoengineer().generation(), 1);
}

TEST(EvoEngineerTest, TheFirstPhaseOfFullLastsUntilEnoughWork) {
  EvoEngineer policy(Preset("full"));
  v1::AttemptSearchState state;
  Rng rng(2);
  int made = 0;
  const auto generation = [&](double score) {
    std::vector<v1::AttemptPlan> plans;
    while (policy.MayBegin(state)) plans.push_back(policy.Plan(&state, rng));
    std::vector<std::string> operations;
    for (const auto& plan : plans) {
      operations.push_back(plan.operation());
      ++made;
      EndWith(policy, plan, absl::StrCat("p", made), made % 4 == 1 ? score : 0, &state, rng);
    }
    return operations;
  };
  EXPECT_THAT(generation(0), ElementsAre("init", "init", "init", "init"));
  EXPECT_THAT(generation(1), ElementsAre("init", "init", "init", "init"));
  EXPECT_EQ(state.evoengineer().generation(), 0);
  EXPECT_THAT(generation(2), ElementsAre("init", "init", "init", "init")) << "one works so far";
  EXPECT_THAT(generation(3), ElementsAre("crossover", "crossover", "mutation", "mutation"));
}

TEST(EvoEngineerTest, ThePopulationIsTheBestThatWorkThenTheLatest) {
  EvoEngineer policy(Preset("insight"));
  v1::AttemptSearchState state;
  Rng rng(2);
  const double scores[] = {0, 3, 0, 1, 0, 2, 0, 5};
  for (int i = 0; i < 8; ++i) {
    EndWith(policy, policy.Plan(&state, rng), absl::StrCat("p", i), scores[i], &state, rng);
  }
  std::vector<std::string> kept;
  for (const auto& member : state.evoengineer().members()) kept.push_back(member.candidate_id());
  EXPECT_THAT(kept, ElementsAre("p1", "p3", "p5", "p6", "p7"));
}

TEST(EvoEngineerTest, TheLevelsShowWhatTheyAreCalledFor) {
  for (const char* level : {"free", "insight"}) {
    EvoEngineer policy(Preset(level));
    v1::AttemptSearchState state;
    Rng rng(2);
    for (int i = 0; i < 4; ++i) {
      EndWith(policy, policy.Plan(&state, rng), absl::StrCat("p", i), i, &state, rng);
    }
    const v1::AttemptPlan plan = policy.Plan(&state, rng);
    EXPECT_EQ(plan.base_id(), "p3") << "the best";
    EXPECT_THAT(plan.inspiration_ids(), IsEmpty());
    const bool free = std::string(level) == "free";
    EXPECT_EQ(plan.hides_results(), free);
    EXPECT_EQ(policy.shows_results(), !free);
    EXPECT_EQ(plan.notes_size(), free ? 0 : 3) << "ideas of any";
  }
}

TEST(EvoEngineerTest, FullMatesTwoAndShowsTheBest) {
  EvoEngineer policy(Preset("full"));
  v1::AttemptSearchState state;
  Rng rng(2);
  for (int i = 0; i < 4; ++i) {
    EndWith(policy, policy.Plan(&state, rng), absl::StrCat("p", i), 1 + i, &state, rng);
  }
  int crossed = 0;
  for (int i = 0; i < 200; ++i) {
    v1::AttemptSearchState copy = state;
    const v1::AttemptPlan plan = policy.Plan(&copy, rng);
    ASSERT_EQ(plan.operation(), "crossover");
    ASSERT_LE(plan.inspiration_ids_size(), 2);
    const bool shows_best =
        plan.base_id() == "p3" ||
        absl::StrJoin(plan.inspiration_ids(), " ").find("p3") != std::string::npos;
    ASSERT_TRUE(shows_best);
    crossed += plan.kind() == v1::AttemptPlan::CROSS ? 1 : 0;
    if (plan.inspiration_ids_size() == 0) {
      EXPECT_EQ(plan.kind(), v1::AttemptPlan::REFINE);
    }
  }
  EXPECT_GT(crossed, 100);
}

std::unique_ptr<SearchStrategy> Make(const SearchContext& context) {
  return std::make_unique<AttemptSearch>(
      "evoengineer", context, FakeAttemptProposer(),
      std::make_unique<EvoEngineer>(Completed<EvoEngineer>(context.config.evoengineer())));
}

TEST(EvoEngineerTest, ATrace) {
  SearchContext context = AttemptContext(6, 3);
  context.config.mutable_evoengineer()->set_samples(2);
  context.config.mutable_evoengineer()->set_valid_required(1);
  const std::vector<std::string> replies = {"a typo",     "one score=1",  "two score=2",
                                            "three fail", "four score=4", "five score=3"};
  AttemptDriver driver(context, Make, [&](const AskModel& ask) {
    return replies.at(static_cast<size_t>(ask.labels.attempt) - 1);
  });
  driver.Start();
  driver.Run();
  EXPECT_EQ(absl::StrJoin(driver.transcript, "--\n"), R"(ask 1 sample/1 base=[none]
ask 2 sample/2 base=[none]
--
screen attempt/1 [a typo] of call 1
CANDIDATE_PROPOSED 1
--
screen attempt/2 [one score=1] of call 2
CANDIDATE_PROPOSED 2
--
CANDIDATE_FAILED 1 compile_error: expected ';'
--
ask 3 improve/3 base=[one score=1] us=100 style=1 notes=one score=1 / a typo
ask 4 improve/4 base=[one score=1] us=100 style=1 notes=a typo / one score=1
CANDIDATE_PASSED 2 score 1.000, 100.00 us
--
screen attempt/3 [two score=2] of call 3 from a parent
CANDIDATE_PROPOSED 3
--
screen attempt/4 [three fail] of call 4 from a parent
CANDIDATE_PROPOSED 4
--
CANDIDATE_PASSED 3 score 2.000, 50.00 us
--
ask 5 cross/5 base=[two score=2] us=50 with=[one score=1] style=1 notes=two score=2 / a typo / one score=1
ask 6 improve/6 base=[two score=2] us=50 style=1 notes=a typo / one score=1 / three fail
CANDIDATE_FAILED 4 compile_error: expected ';'
--
screen attempt/5 [four score=4] of call 5 from a parent
CANDIDATE_PROPOSED 5
--
screen attempt/6 [five score=3] of call 6 from a parent
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
