#include "coordinator/search/population/puct.h"

#include <cmath>

#include "absl/strings/str_join.h"
#include "tests/coordinator/search/population/population_fixture.h"

namespace ksearch {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

v1::PuctSettings Defaults() { return Completed<Puct>(v1::PuctSettings()); }

v1::AttemptPlan From(int parent) {
  v1::AttemptPlan plan;
  plan.set_parent(parent);
  return plan;
}

std::vector<std::string> Ids(const v1::AttemptSearchState& state) {
  std::vector<std::string> ids;
  for (const auto& member : state.puct().members()) ids.push_back(member.candidate_id());
  return ids;
}

TEST(PuctTest, DefaultsAndFaults) {
  EXPECT_EQ(Defaults().exploration(), 1);
  EXPECT_EQ(Defaults().buffer(), 1000);
  EXPECT_EQ(Defaults().children_kept(), 2);
  EXPECT_TRUE(Defaults().block_lineages());
  v1::PuctSettings wrong;
  wrong.set_exploration(-1);
  wrong.set_children_kept(0);
  EXPECT_THAT(FaultsOf<Puct>(wrong), ElementsAre("puct.exploration is -1, must be in [0, 100]",
                                                 "puct.children_kept is 0, must be in [1, 100]"));
}

TEST(PuctTest, ScoresAreTheFormula) {
  Puct policy(Defaults());
  v1::AttemptSearchState state;
  Rng rng(1);
  policy.TakeGiven(AddScreened("seed", 1, &state), FeaturesNamed("seed"), &state, rng);
  // One candidate: prior 1, no range.
  EXPECT_THAT(policy.Scores(state), ElementsAre(DoubleNear(1 + 1e-6, 1e-9)));
  EndWith(policy, From(1), "a", 2, &state, rng);
  EndWith(policy, From(1), "b", 1.5, &state, rng);
  EndWith(policy, From(2), "c", 0, &state, rng);  // a failure still counts as a choice
  EXPECT_THAT(Ids(state), ElementsAre("seed", "a", "b"));
  // n: seed 3, a 1, b 0; T 3. Q: seed's best child 2; a none that works, its own 2; b 1.5. The
  // range is that of a and b; priors by rank a, b, seed.
  const double root = std::sqrt(1 + 3.0);
  EXPECT_THAT(policy.Scores(state), ElementsAre(DoubleNear(2 + 0.5 * (1.0 / 6) * root / 4, 1e-9),
                                                DoubleNear(2 + 0.5 * (3.0 / 6) * root / 2, 1e-9),
                                                DoubleNear(1.5 + 0.5 * (2.0 / 6) * root, 1e-9)));
  EXPECT_EQ(policy.Plan(&state, rng).base_id(), "a");
}

TEST(PuctTest, OfEveryProgramTheBestChildrenAreKept) {
  Puct policy(Defaults());
  v1::AttemptSearchState state;
  Rng rng(1);
  policy.TakeGiven(AddScreened("seed", 1, &state), FeaturesNamed("seed"), &state, rng);
  for (const auto& [id, score] :
       std::vector<std::pair<std::string, double>>{{"a", 2}, {"b", 3}, {"c", 1}, {"d", 4}}) {
    EndWith(policy, From(1), id, score, &state, rng);
  }
  EXPECT_THAT(Ids(state), ElementsAre("seed", "b", "d"));
  EXPECT_EQ(state.puct().visits_size(), 3);
}

TEST(PuctTest, AFullBufferLosesItsWorstButNoGivenOne) {
  v1::PuctSettings settings;
  settings.set_buffer(3);
  Puct policy(Completed<Puct>(settings));
  v1::AttemptSearchState state;
  Rng rng(1);
  policy.TakeGiven(AddScreened("seed", 0.1, &state), FeaturesNamed("seed"), &state, rng);
  EndWith(policy, From(1), "a", 2, &state, rng);
  EndWith(policy, From(2), "b", 3, &state, rng);
  EndWith(policy, From(3), "c", 4, &state, rng);
  EXPECT_THAT(Ids(state), ElementsAre("seed", "b", "c"));
}

TEST(PuctTest, AttemptsInFlightAvoidEachOthersLineage) {
  for (const bool blocks : {true, false}) {
    v1::PuctSettings settings;
    settings.set_block_lineages(blocks);
    Puct policy(Completed<Puct>(settings));
    v1::AttemptSearchState state;
    Rng rng(1);
    for (const char* id : {"seed", "other"}) {
      policy.TakeGiven(AddScreened(id, id[0] == 's' ? 1 : 0.2, &state), FeaturesNamed(id), &state,
                       rng);
    }
    EndWith(policy, From(1), "a", 3, &state, rng);
    EndWith(policy, From(3), "b", 9, &state, rng);
    const v1::AttemptPlan first = policy.Plan(&state, rng);
    EXPECT_EQ(first.base_id(), "b");
    *state.add_attempts()->mutable_plan() = first;
    EXPECT_EQ(policy.Plan(&state, rng).base_id(), blocks ? "other" : "b");
    if (!blocks) continue;
    *state.add_attempts()->mutable_plan() = From(2);
    EXPECT_EQ(policy.Plan(&state, rng).base_id(), "b") << "all are blocked: the best again";
  }
}

TEST(PuctTest, WhileNothingWorksFailuresAreRepaired) {
  Puct policy(Defaults());
  v1::AttemptSearchState state;
  Rng rng(1);
  EXPECT_EQ(policy.Plan(&state, rng).kind(), v1::AttemptPlan::SAMPLE);
  EndWith(policy, policy.Plan(&state, rng), "a", 0, &state, rng);
  const v1::AttemptPlan repair = policy.Plan(&state, rng);
  EXPECT_EQ(repair.kind(), v1::AttemptPlan::REPAIR);
  EndWith(policy, repair, "b", 2, &state, rng);
  EXPECT_THAT(Ids(state), ElementsAre("b")) << "failures are forgotten then";
  EndWith(policy, policy.Plan(&state, rng), "c", 0, &state, rng);
  EXPECT_THAT(Ids(state), ElementsAre("b"));
}

std::unique_ptr<SearchStrategy> Make(const SearchContext& context) {
  return std::make_unique<AttemptSearch>(
      "puct", context, FakeAttemptProposer(),
      std::make_unique<Puct>(Completed<Puct>(context.config.puct())));
}

TEST(PuctTest, ATrace) {
  AttemptDriver driver(AttemptContext(6, 2), Make, [](const AskModel& ask) {
    const char* replies[] = {"one score=1",     "a typo",    "two score=2",
                             "three score=1.5", "four fail", "five score=3"};
    return std::string(replies[ask.labels.attempt - 1]);
  });
  driver.Start();
  driver.Run();
  EXPECT_EQ(absl::StrJoin(driver.transcript, "--\n"), R"(ask 1 sample/1 base=[none]
ask 2 sample/2 base=[none]
--
screen attempt/1 [one score=1] of call 1
CANDIDATE_PROPOSED 1
--
screen attempt/2 [a typo] of call 2
CANDIDATE_PROPOSED 2
--
ask 3 improve/3 base=[one score=1] us=100 style=1
CANDIDATE_PASSED 1 score 1.000, 100.00 us
--
ask 4 improve/4 base=[one score=1] us=100 style=1
CANDIDATE_FAILED 2 compile_error: expected ';'
--
screen attempt/3 [two score=2] of call 3 from a parent
CANDIDATE_PROPOSED 3
--
screen attempt/4 [three score=1.5] of call 4 from a parent
CANDIDATE_PROPOSED 4
--
ask 5 improve/5 base=[two score=2] us=50 style=1
CANDIDATE_PASSED 3 score 2.000, 50.00 us
--
ask 6 improve/6 base=[three score=1.5] us=66.6667 style=1
CANDIDATE_PASSED 4 score 1.500, 66.67 us
--
screen attempt/5 [four fail] of call 5 from a parent
CANDIDATE_PROPOSED 5
--
screen attempt/6 [five score=3] of call 6 from a parent
CANDIDATE_PROPOSED 6
--
CANDIDATE_FAILED 5 compile_error: expected ';'
--
CANDIDATE_PASSED 6 score 3.000, 33.33 us
finished: budget of 6 rounds is spent
)");
}

}  // namespace
}  // namespace ksearch
