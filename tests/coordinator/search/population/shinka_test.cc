#include "coordinator/search/population/shinka.h"

#include <cmath>
#include <set>

#include "absl/strings/str_join.h"
#include "tests/common/repetitions.h"
#include "tests/coordinator/search/population/population_fixture.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

v1::ShinkaSettings Preset(const std::string& name) {
  v1::ShinkaSettings settings;
  settings.set_preset(name);
  return Completed<Shinka>(settings);
}

void Give(const Shinka& policy, const std::string& id, double score,
          v1::AttemptSearchState* state) {
  Rng rng(1);
  policy.TakeGiven(AddScreened(id, score, state), FeaturesNamed(id, id[0] % 7), state, rng);
}

// Adds a program without a parent to an island.
void Put(const Shinka& policy, const std::string& id, double score, int island,
         v1::AttemptSearchState* state) {
  Rng rng(1);
  v1::AttemptPlan plan;
  plan.set_island(island);
  EndWith(policy, plan, id, score, state, rng, 5 * (id[0] - 'a'));
}

TEST(ShinkaTest, PresetsAndFaults) {
  const v1::ShinkaSettings stock = Preset("");
  EXPECT_EQ(stock.preset(), "shinka-stock");
  EXPECT_DOUBLE_EQ(stock.patch_weight(), 0.6);
  EXPECT_EQ(stock.archive(), 40);
  EXPECT_FALSE(stock.show_results());
  EXPECT_EQ(stock.patch_form(), v1::REPLY_FORM_SEARCH_REPLACE);
  const v1::ShinkaSettings ksearch = Preset("shinka-ksearch");
  EXPECT_EQ(ksearch.patch_weight(), 0);
  EXPECT_EQ(ksearch.cross_weight(), 0);
  EXPECT_TRUE(ksearch.show_results());
  v1::ShinkaSettings wrong;
  wrong.set_preset("other");
  wrong.set_novelty_threshold(1.5);
  wrong.set_patch_weight(0);
  wrong.set_whole_weight(0);
  EXPECT_THAT(FaultsOf<Shinka>(wrong),
              ElementsAre("shinka.preset is \"other\", must be shinka-stock or shinka-ksearch",
                          HasSubstr("shinka.whole_weight and shinka.patch_weight are both 0"),
                          "shinka.novelty_threshold is 1.5, must be in [0, 1]"));
}

TEST(ShinkaTest, AllIslandsBeginWithTheSameProgram) {
  Shinka policy(Preset("shinka-stock"));
  v1::AttemptSearchState given;
  Give(policy, "seed", 1, &given);
  EXPECT_EQ(given.shinka().members_size(), 2);
  EXPECT_EQ(given.shinka().archive_size(), 2);
  v1::AttemptSearchState made;
  Put(policy, "failed", 0, 0, &made);
  EXPECT_EQ(made.shinka().archive_size(), 0) << "only what works is archived";
  Put(policy, "first", 1, 0, &made);
  EXPECT_EQ(made.shinka().members_size(), 3);
  std::set<int> islands;
  for (const auto& member : made.shinka().members()) {
    if (member.candidate_id() == "first") islands.insert(member.island());
  }
  EXPECT_THAT(islands, ElementsAre(0, 1));
}

TEST(ShinkaTest, ParentsAreDrawnByScoreAndByHowFewChildrenTheyHave) {
  v1::ShinkaSettings settings;
  settings.set_islands(1);
  Shinka policy(Completed<Shinka>(settings));
  v1::AttemptSearchState state;
  for (const auto& [id, score] : std::vector<std::pair<std::string, double>>{
           {"a", 1.0}, {"b", 1.1}, {"c", 1.2}, {"d", 1.5}}) {
    Put(policy, id, score, 0, &state);
  }
  state.mutable_shinka()->mutable_members(3)->set_children(3);
  // Median 1.15; deviations 0.15, 0.05, 0.05, 0.35, whose median is 0.1.
  const auto weight = [](double score, int children) {
    return 1 / (1 + std::exp(-10 * (score - 1.15) / 0.1)) / (1 + children);
  };
  Rng rng(5);
  EXPECT_TRUE(
      AgreesWith(Frequencies({"a", "b", "c", "d"},
                             [&] { return policy.DrawParent(state, 0, rng).candidate_id(); }),
                 {0, weight(1.1, 0), weight(1.2, 0), weight(1.5, 3)}))
      << "a's weight of 3e-7 is too small to be seen";
  EXPECT_NEAR(Shinka::ParentWeights(state.log(), MembersThat(state.shinka().members(),
                                                             [](auto&) { return true; }))[0],
              weight(1.0, 0), 1e-12);
}

TEST(ShinkaTest, IslandsWithAWorkingProgramAreEquallyLikely) {
  v1::ShinkaSettings settings;
  settings.set_islands(3);
  Shinka policy(Completed<Shinka>(settings));
  v1::AttemptSearchState state;
  Rng rng(4);
  EXPECT_EQ(policy.DrawIsland(state, rng), -1);
  Give(policy, "seed", 1, &state);
  (*state.mutable_log()->mutable_screened())["other"] = state.log().screened().at("seed");
  state.mutable_shinka()->mutable_members(1)->set_candidate_id("gone");
  EXPECT_TRUE(AgreesWith(
      Frequencies({"0", "1", "2"}, [&] { return absl::StrCat(policy.DrawIsland(state, rng)); }),
      {1, 0, 1}));
}

TEST(ShinkaTest, OperationsComeAsOftenAsTheirWeightsSay) {
  Shinka policy(Preset("shinka-stock"));
  v1::AttemptSearchState state;
  Rng rng(4);
  const auto operations = [&] {
    return Frequencies({"patch", "whole", "cross"}, [&] {
      const v1::AttemptPlan plan = policy.Plan(&state, rng);
      if (plan.operation() == "patch") {
        EXPECT_EQ(plan.reply_form(), v1::REPLY_FORM_SEARCH_REPLACE);
      }
      return plan.operation();
    });
  };
  Put(policy, "a", 1, 0, &state);
  EXPECT_TRUE(AgreesWith(operations(), {0.6, 0.3, 0})) << "there is nothing to cross with";
  Put(policy, "b", 2, 0, &state);
  Put(policy, "c", 2, 1, &state);
  EXPECT_TRUE(AgreesWith(operations(), {0.6, 0.3, 0.1}));
}

TEST(ShinkaTest, WholeProgramsAreAskedForInFiveWordings) {
  Shinka policy(Preset("shinka-ksearch"));
  v1::AttemptSearchState state;
  Rng rng(4);
  Put(policy, "a", 1, 0, &state);
  EXPECT_TRUE(
      AgreesWith(Frequencies({"1", "2", "3", "4", "5"},
                             [&] { return absl::StrCat(policy.Plan(&state, rng).style()); }),
                 {1, 1, 1, 1, 1}));
}

TEST(ShinkaTest, InspirationsAreOfTheIslandAndTheWorstFirst) {
  v1::ShinkaSettings settings;
  settings.set_archive_inspirations(2);
  settings.set_top_inspirations(1);
  Shinka policy(Completed<Shinka>(settings));
  v1::AttemptSearchState state;
  Put(policy, "a", 5, 0, &state);  // on both islands
  Put(policy, "b", 4, 0, &state);
  Put(policy, "c", 3, 0, &state);
  Put(policy, "d", 2, 0, &state);
  Put(policy, "e", 9, 1, &state);
  Rng rng(4);
  const v1::PopulationMember parent = state.shinka().members(2);
  ASSERT_EQ(parent.candidate_id(), "b");
  const auto counts = Frequencies({"cda", "dca", "ca", "dc"}, [&] {
    std::vector<std::string> ids;
    for (const auto* member : policy.DrawInspirations(state, parent, rng)) {
      ids.push_back(member->candidate_id());
    }
    return absl::StrJoin(ids, "");
  });
  // The best of all lives elsewhere; two of a, c and d are drawn and the best of the rest is added.
  EXPECT_TRUE(AgreesWith(counts, {0, 1, 0, 0}));
}

TEST(ShinkaTest, TheArchiveKeepsTheBestThatWork) {
  v1::ShinkaSettings settings;
  settings.set_archive(3);
  settings.set_islands(1);
  Shinka policy(Completed<Shinka>(settings));
  for (uint64_t seed = 1; seed <= Repetitions<uint64_t>(20, 4); ++seed) {
    v1::AttemptSearchState state;
    Rng rng(seed);
    Evolve(policy, 60, &state, rng);
    std::vector<double> scores;
    for (const auto& [id, program] : state.log().screened()) {
      if (program.passed()) scores.push_back(program.score());
    }
    std::sort(scores.rbegin(), scores.rend());
    scores.resize(3);
    std::vector<double> archived;
    for (const int number : state.shinka().archive()) {
      archived.push_back(Fitness(state.log(), *FindMember(state.shinka().members(), number)));
    }
    std::sort(archived.rbegin(), archived.rend());
    ASSERT_EQ(archived, scores);
  }
}

TEST(ShinkaTest, MigrationMovesAnyButTheBestAndTheGiven) {
  v1::ShinkaSettings settings;
  settings.set_migration_rate(0.5);
  settings.set_migration_interval(100000);
  Shinka policy(Completed<Shinka>(settings));
  v1::AttemptSearchState start;
  Give(policy, "seed", 1, &start);
  for (const char* id : {"a", "b", "c"}) Put(policy, id, 10 - (id[0] - 'a'), 0, &start);
  Put(policy, "failed", 0, 0, &start);
  Rng rng(4);
  std::map<std::string, int> moved;
  constexpr int kTimes = Repetitions(1000, 100);
  for (int i = 0; i < kTimes; ++i) {
    v1::AttemptSearchState state = start;
    policy.Migrate(&state, rng);
    ASSERT_EQ(state.shinka().members_size(), start.shinka().members_size()) << "moved, not copied";
    for (const auto& member : state.shinka().members()) {
      if (member.migrant()) ++moved[member.candidate_id()];
    }
  }
  // Two of five move: b and c are the only ones that are neither best, nor given, nor failed.
  EXPECT_THAT(moved, ElementsAre(testing::Pair("b", kTimes), testing::Pair("c", kTimes)));
}

TEST(ShinkaTest, WhileNothingWorksAnyFailureIsRepairedWithItsAncestors) {
  Shinka policy(Preset("shinka-stock"));
  v1::AttemptSearchState state;
  Rng rng(4);
  EXPECT_EQ(policy.Plan(&state, rng).kind(), v1::AttemptPlan::SAMPLE);
  Put(policy, "a", 0, 0, &state);
  v1::AttemptPlan plan = policy.Plan(&state, rng);
  EXPECT_EQ(plan.kind(), v1::AttemptPlan::REPAIR);
  EXPECT_EQ(plan.failed_id(), "a");
  EndWith(policy, plan, "b", 0, &state, rng);
  EXPECT_TRUE(AgreesWith(Frequencies({"a:", "b:a"},
                                     [&] {
                                       const v1::AttemptPlan fix = policy.Plan(&state, rng);
                                       return absl::StrCat(
                                           fix.failed_id(), ":",
                                           absl::StrJoin(fix.inspiration_ids(), ""));
                                     }),
                         {1, 1}));
}

TEST(ShinkaTest, WhatIsKnownToItsIslandIsNotEvaluated) {
  Shinka policy(Preset("shinka-stock"));
  v1::AttemptSearchState state;
  v1::AttemptState attempt;
  *attempt.mutable_features() = FeaturesNamed("a", 30);
  EXPECT_EQ(policy.ObjectionTo(attempt, state), std::nullopt) << "no island has a program";
  Rng rng(1);
  policy.TakeGiven(AddScreened("a", 1, &state), FeaturesNamed("a", 30), &state, rng);
  const auto objection = policy.ObjectionTo(attempt, state);
  ASSERT_TRUE(objection.has_value());
  EXPECT_THAT(objection->why, HasSubstr("1.000 of it is in program a"));
  EXPECT_FALSE(objection->ends_attempt);
  attempt.set_replies(2);
  EXPECT_TRUE(policy.ObjectionTo(attempt, state)->ends_attempt) << "of three replies";
  *attempt.mutable_features() = FeaturesNamed("b", 30);
  EXPECT_EQ(policy.ObjectionTo(attempt, state), std::nullopt);
}

TEST(ShinkaTest, NotesAreAskedForAfterEveryInterval) {
  v1::ShinkaSettings settings;
  settings.set_notes_interval(3);
  Shinka policy(Completed<Shinka>(settings));
  v1::AttemptSearchState state;
  for (const char* id : {"a", "b"}) Put(policy, id, 1, 0, &state);
  EXPECT_EQ(policy.WantedNote(state), std::nullopt);
  Put(policy, "c", 2, 0, &state);
  const auto note = policy.WantedNote(state);
  ASSERT_TRUE(note.has_value());
  EXPECT_THAT(note->program_ids(), ElementsAre("c", "a", "b"));
  policy.TakeNote(*note, {"tip"}, &state);
  EXPECT_EQ(policy.WantedNote(state), std::nullopt);
  Rng rng(1);
  int shown = 0;
  for (int i = 0; i < 100; ++i) {
    const v1::AttemptPlan plan = policy.Plan(&state, rng);
    EXPECT_EQ(plan.direction(), plan.operation() == "cross" ? "" : "tip");
    shown += plan.direction().empty() ? 0 : 1;
  }
  EXPECT_GT(shown, 70);
  policy.TakeNote(*note, {}, &state);
  EXPECT_THAT(state.shinka().tips(), ElementsAre("tip")) << "no answer leaves what there is";
}

std::unique_ptr<SearchStrategy> Make(const SearchContext& context) {
  return std::make_unique<AttemptSearch>(
      "shinka", context, FakeAttemptProposer(),
      std::make_unique<Shinka>(Completed<Shinka>(context.config.shinka())));
}

TEST(ShinkaTest, ATrace) {
  SearchContext context = AttemptContext(5);
  context.config.mutable_shinka()->set_notes_interval(3);
  int calls = 0;
  AttemptDriver driver(context, Make, [&](const AskModel& ask) -> std::string {
    ++calls;
    if (ask.role == "notes") return "tile it / fuse it";
    switch (calls) {
      case 1:
        return "a typo";
      case 2:
        return "this one is right and long enough score=1";
      case 3:
        return "this one is right and long enough score=1";  // not novel
      case 4:
        return "here is something else that is faster score=2";
      default:
        return absl::StrCat("and now program number ", calls, " of many others score=3");
    }
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
screen attempt/2 [this one is right and long enough score=1] of call 2 from a parent
CANDIDATE_PROPOSED 2
--
ask 3 improve/3 base=[this one is right and long enough score=1] style=1 patch
CANDIDATE_PASSED 2 score 1.000, 100.00 us
--
ask 4 improve/3 base=[this one is right and long enough score=1] style=1 patch
NOTE 3 not evaluated: 1.000 of it is in program eb109f8a2838 of its island
--
screen attempt/3 [here is something else that is faster score=2] of call 4 from a parent
CANDIDATE_PROPOSED 3
--
ask 5 notes/0 LESSONS 5 [here is something else that is faster score=2] [this one is right and long enough score=1]
ask 6 improve/4 base=[here is something else that is faster score=2] with=[this one is right and long enough score=1] style=1 patch
CANDIDATE_PASSED 3 score 2.000, 50.00 us
--
NOTE 0 notes: 2 points
--
screen attempt/4 [and now program number 6 of many others score=3] of call 6 from a parent
CANDIDATE_PROPOSED 4
--
ask 7 improve/5 base=[this one is right and long enough score=1] style=3 direction=fuse it
CANDIDATE_PASSED 4 score 3.000, 33.33 us
--
screen attempt/5 [and now program number 7 of many others score=3] of call 7 from a parent
CANDIDATE_PROPOSED 5
--
CANDIDATE_PASSED 5 score 3.000, 33.33 us
finished: budget of 5 rounds is spent
)");
}

}  // namespace
}  // namespace ksearch
