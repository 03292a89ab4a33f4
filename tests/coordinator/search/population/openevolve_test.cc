#include "coordinator/search/population/openevolve.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "tests/common/repetitions.h"
#include "tests/coordinator/search/population/population_fixture.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

v1::OpenEvolveSettings Preset(const std::string& name) {
  v1::OpenEvolveSettings settings;
  settings.set_preset(name);
  return Completed<OpenEvolve>(settings);
}

// A program that has come to an island, with features of its own.
const v1::PopulationMember* Put(const OpenEvolve& policy, const std::string& id, double score,
                                int island, v1::AttemptSearchState* state, Rng& rng,
                                int lines = 0) {
  const v1::ScreenedProgram& program = AddScreened(id, score, state);
  policy.Insert(GivenMember(program, FeaturesNamed(id, lines), island), island, state, rng);
  const Members& members = state->openevolve().members();
  return FindMember(members, state->openevolve().last_number());
}

TEST(OpenEvolveTest, PresetsAreThoseOfTheVersionsTheyAreNamedAfter) {
  const v1::OpenEvolveSettings stock = Preset("");
  EXPECT_EQ(stock.preset(), "oe-0.3");
  EXPECT_EQ(stock.population(), 1000);
  EXPECT_EQ(stock.archive(), 100);
  EXPECT_EQ(stock.islands(), 5);
  EXPECT_EQ(stock.inspirations(), 2);
  EXPECT_EQ(stock.migration_interval(), 50);
  EXPECT_EQ(stock.reply_form(), v1::REPLY_FORM_SEARCH_REPLACE);
  const v1::OpenEvolveSettings ksearch = Preset("oe-ksearch");
  EXPECT_EQ(ksearch.population(), 25);
  EXPECT_EQ(ksearch.islands(), 3);
  EXPECT_DOUBLE_EQ(ksearch.exploration() + ksearch.exploitation(), 1);
  EXPECT_TRUE(ksearch.first_island_feeds());
  EXPECT_EQ(ksearch.reply_form(), v1::REPLY_FORM_WHOLE);
  EXPECT_EQ(Preset("oe-tuned").migration_interval(), 10);
  v1::OpenEvolveSettings own;
  own.set_preset("oe-tuned");
  own.set_islands(2);
  own.set_exploration(0);
  EXPECT_EQ(Completed<OpenEvolve>(own).islands(), 2) << "what is given wins";
  EXPECT_EQ(Completed<OpenEvolve>(own).exploration(), 0);
}

TEST(OpenEvolveTest, WrongSettingsAreRefusedByName) {
  v1::OpenEvolveSettings settings;
  settings.set_preset("oe-9");
  settings.set_islands(0);
  settings.set_exploration(0.6);
  settings.set_exploitation(0.6);
  settings.set_reply_form(static_cast<v1::ReplyForm>(9));
  EXPECT_THAT(FaultsOf<OpenEvolve>(settings),
              ElementsAre("openevolve.preset is \"oe-9\", must be oe-0.3, oe-ksearch or oe-tuned",
                          HasSubstr("openevolve.reply_form is 9"),
                          "openevolve.islands is 0, must be in [1, 64]",
                          HasSubstr("openevolve.exploitation is 0.6, must be at most 1")));
}

// Island 0 has a to d, of which a, b and the failed d are in the archive; island 1 has e, archived.
struct Populated {
  Populated() : rng(11) {
    v1::OpenEvolveSettings settings;
    settings.set_islands(2);
    settings.set_archive(4);
    policy = std::make_unique<OpenEvolve>(Completed<OpenEvolve>(settings));
    Put(*policy, "a", 2, 0, &state, rng, 1);
    Put(*policy, "b", 1, 0, &state, rng, 12);
    Put(*policy, "c", 0.5, 0, &state, rng, 25);
    Put(*policy, "d", 0, 0, &state, rng, 38);
    Put(*policy, "e", 3, 1, &state, rng, 50);
    // Numbers are 1 to 5; the archive was full before e, which replaced the failed d.
    EXPECT_THAT(state.openevolve().archive(), ElementsAre(1, 2, 3, 5));
  }
  std::vector<int> Draws(int island, const std::string& operation) {
    std::string how;
    return Frequencies({"a", "b", "c", "d", "e"}, [&] {
      const v1::PopulationMember* parent = nullptr;
      do {
        parent = policy->DrawParent(state, island, rng, &how);
      } while (!operation.empty() && how != operation);
      return parent->candidate_id();
    });
  }
  Rng rng;
  std::unique_ptr<OpenEvolve> policy;
  v1::AttemptSearchState state;
};

TEST(OpenEvolveTest, ParentsComeAsOftenAsTheFormulasSay) {
  Populated p;
  EXPECT_TRUE(AgreesWith(p.Draws(0, "explore"), {1, 1, 1, 1, 0}));
  EXPECT_TRUE(AgreesWith(p.Draws(0, "exploit"), {1, 1, 1, 0, 0}));
  EXPECT_TRUE(AgreesWith(p.Draws(0, "roulette"), {2, 1, 0.5, 0.001, 0}));
  // All three together, 0.2 to 0.7 to 0.1.
  const double sum = 3.501;
  EXPECT_TRUE(
      AgreesWith(p.Draws(0, ""), {0.05 + 0.7 / 3 + 0.1 * 2 / sum, 0.05 + 0.7 / 3 + 0.1 * 1 / sum,
                                  0.05 + 0.7 / 3 + 0.1 * 0.5 / sum, 0.05 + 0.1 * 0.001 / sum, 0}));
  EXPECT_TRUE(AgreesWith(p.Draws(1, ""), {0, 0, 0, 0, 1}));
}

TEST(OpenEvolveTest, AnEmptyIslandTakesItsParentsFromTheFirstOne) {
  v1::OpenEvolveSettings settings = Preset("oe-ksearch");
  OpenEvolve policy(settings);
  v1::AttemptSearchState state;
  Rng rng(3);
  Put(policy, "a", 2, 0, &state, rng, 1);
  Put(policy, "b", 1, 0, &state, rng, 20);
  Put(policy, "c", 9, 1, &state, rng, 40);
  std::string how;
  const auto counts = Frequencies(
      {"a", "b", "c"}, [&] { return policy.DrawParent(state, 2, rng, &how)->candidate_id(); });
  EXPECT_TRUE(AgreesWith(counts, {1, 1, 0})) << "either way from those of island 0";
  // In version 0.2 the child lives on its parent's island.
  v1::AttemptPlan plan;
  do {
    plan = policy.Plan(&state, rng);
    EndWith(policy, plan, absl::StrCat("x", state.rounds_started()), 1, &state, rng, 3);
  } while (plan.line() != 2);
  EXPECT_EQ(plan.island(), 0);
}

TEST(OpenEvolveTest, InspirationsAreTheBestThenNeighborsThenAny) {
  Populated p;
  const auto shown = [&](const char* parent_id) {
    std::vector<std::string> ids;
    const Members members = p.state.openevolve().members();
    const auto parent = std::find_if(members.begin(), members.end(), [&](const auto& member) {
      return member.candidate_id() == parent_id;
    });
    for (const auto* member : p.policy->DrawInspirations(&p.state, *parent, 0, p.rng)) {
      ids.push_back(member->candidate_id());
    }
    return absl::StrJoin(ids, "");
  };
  // a is the island's best and its elite of one; the second is any other than the parent. Their
  // cells are too far from each other to be neighbors.
  EXPECT_TRUE(AgreesWith(Frequencies({"ac", "ad"}, [&] { return shown("b"); }), {1, 1}));
  EXPECT_TRUE(
      AgreesWith(Frequencies({"bc", "cb", "bd", "db", "cd", "dc"}, [&] { return shown("a"); }),
                 {1, 1, 1, 1, 1, 1}));
}

TEST(OpenEvolveTest, InVersion02InspirationsAreAnyOthers) {
  OpenEvolve policy(Preset("oe-ksearch"));
  v1::AttemptSearchState state;
  Rng rng(5);
  for (const char* id : {"a", "b", "c", "d", "e"}) {
    Put(policy, id, 1, 0, &state, rng, 7 * (id[0] - 'a'));
  }
  std::map<std::string, int> counts;
  const v1::PopulationMember parent = state.openevolve().members(0);
  for (int i = 0; i < Repetitions(40'000, 8'000); ++i) {
    const MemberList drawn = policy.DrawInspirations(&state, parent, 0, rng);
    ASSERT_THAT(drawn, SizeIs(3));
    for (const auto* member : drawn) ++counts[member->candidate_id()];
  }
  EXPECT_EQ(counts.count("a"), 0u);
  EXPECT_TRUE(AgreesWith({counts["b"], counts["c"], counts["d"], counts["e"]}, {1, 1, 1, 1}));
}

TEST(OpenEvolveTest, InVersion02AnEmptyIslandIsShownTheBestOfItsParentsIsland) {
  OpenEvolve policy(Preset("oe-ksearch"));
  v1::AttemptSearchState state;
  Rng rng(5);
  for (const char* id : {"a", "b", "c", "d", "e", "f"}) {
    Put(policy, id, 'z' - id[0], 0, &state, rng, 7 * (id[0] - 'a'));
  }
  const v1::PopulationMember parent = state.openevolve().members(5);
  for (int i = 0; i < 200; ++i) {
    const MemberList drawn = policy.DrawInspirations(&state, parent, 2, rng);
    ASSERT_THAT(drawn, SizeIs(3));
    ASSERT_EQ(drawn[0]->candidate_id(), "a");
  }
}

TEST(OpenEvolveTest, InVersion02AProgramWithoutItsCellCountsButLivesNowhere) {
  v1::OpenEvolveSettings settings;
  settings.set_preset("oe-ksearch");
  settings.set_population(OpenEvolve::kReferencePrograms + 3);
  settings.set_exploration(0);
  settings.set_exploitation(0);
  OpenEvolve policy(Completed<OpenEvolve>(settings));
  v1::AttemptSearchState state;
  Rng rng(5);
  for (int i = 0; i < OpenEvolve::kReferencePrograms; ++i) {
    Put(policy, absl::StrCat("reference", i), 5, 0, &state, rng, 2 * i);
  }
  const auto put = [&](const std::string& id, double score) {
    const v1::ScreenedProgram& program = AddScreened(id, score, &state);
    policy.Insert(GivenMember(program, FeaturesNamed("same", 5), 1), 1, &state, rng);
    return state.openevolve().last_number();
  };
  const int loser = put("loser", 1);
  const int winner = put("winner", 2);
  const v1::PopulationMember* kept = FindMember(state.openevolve().members(), loser);
  ASSERT_NE(kept, nullptr);
  EXPECT_TRUE(kept->displaced());
  std::string how;
  std::set<std::string> of_its_island, of_an_empty_one;
  for (int i = 0; i < 3000; ++i) {
    of_its_island.insert(policy.DrawParent(state, 1, rng, &how)->candidate_id());
    of_an_empty_one.insert(policy.DrawParent(state, 2, rng, &how)->candidate_id());
  }
  EXPECT_THAT(of_its_island, ElementsAre("winner"));
  EXPECT_EQ(of_an_empty_one.count("loser"), 1u) << "drawn from all there are";
  // The population is full with it, and the worst goes first, whether it has a cell or not.
  Put(policy, "one", 4, 0, &state, rng, 60);
  Put(policy, "more", 4, 0, &state, rng, 70);
  EXPECT_EQ(FindMember(state.openevolve().members(), loser), nullptr);
  Put(policy, "yet one", 4, 0, &state, rng, 80);
  EXPECT_EQ(FindMember(state.openevolve().members(), winner), nullptr) << "it owned a cell";
}

TEST(OpenEvolveTest, AFitterProgramTakesACellItsPlaceInTheArchiveAndItsIsland) {
  v1::OpenEvolveSettings settings;
  settings.set_archive(1);
  OpenEvolve policy(Completed<OpenEvolve>(settings));
  v1::AttemptSearchState state;
  Rng rng(5);
  // Once the references are complete, equal features give equal cells.
  for (int i = 0; i < OpenEvolve::kReferencePrograms; ++i) {
    Put(policy, absl::StrCat("reference", i), 0, 1, &state, rng, 2 * i);
  }
  const auto put = [&](const std::string& id, double score) {
    const v1::ScreenedProgram& program = AddScreened(id, score, &state);
    policy.Insert(GivenMember(program, FeaturesNamed("same", 5), 0), 0, &state, rng);
    return state.openevolve().last_number();
  };
  const auto owner = [&] { return state.openevolve().cells().rbegin()->owner(); };
  const int first = put("first", 1);
  ASSERT_EQ(owner(), first);
  const int equal = put("equal", 1);
  EXPECT_EQ(owner(), first);
  EXPECT_NE(FindMember(state.openevolve().members(), equal), nullptr)
      << "the loser is of the island all the same";
  EXPECT_THAT(state.openevolve().archive(), ElementsAre(first));
  const int better = put("better", 2);
  EXPECT_EQ(owner(), better);
  EXPECT_EQ(FindMember(state.openevolve().members(), first), nullptr) << "owns nothing any more";
  EXPECT_THAT(state.openevolve().archive(), ElementsAre(better));
}

TEST(OpenEvolveTest, MigrationCopiesTheBestRoundTheRingOnce) {
  v1::OpenEvolveSettings settings;
  settings.set_islands(4);
  settings.set_migration_rate(0.5);
  OpenEvolve policy(Completed<OpenEvolve>(settings));
  v1::AttemptSearchState state;
  Rng rng(5);
  Put(policy, "a", 4, 0, &state, rng, 1);
  Put(policy, "b", 3, 0, &state, rng, 10);
  Put(policy, "c", 2, 0, &state, rng, 20);
  Put(policy, "d", 1, 0, &state, rng, 30);
  const auto islands = [&](const std::string& id) {
    std::set<int> found;
    for (const auto& member : state.openevolve().members()) {
      if (member.candidate_id() == id) found.insert(member.island());
    }
    return found;
  };
  policy.Migrate(&state, rng);
  EXPECT_THAT(islands("a"), ElementsAre(0, 1, 3));
  EXPECT_THAT(islands("b"), ElementsAre(0, 1, 3));
  EXPECT_THAT(islands("c"), ElementsAre(0)) << "half of four migrate";
  policy.Migrate(&state, rng);
  EXPECT_THAT(islands("a"), ElementsAre(0, 1, 3)) << "copies stay where they are";
  EXPECT_EQ(state.openevolve().members_size(), 8) << "what is there is not copied again";
}

TEST(OpenEvolveTest, MigrationComesAfterTheIntervalOfGenerations) {
  v1::OpenEvolveSettings settings;
  settings.set_islands(2);
  settings.set_migration_interval(3);
  OpenEvolve policy(Completed<OpenEvolve>(settings));
  v1::AttemptSearchState state;
  Rng rng(5);
  Evolve(policy, 4, &state, rng);
  EXPECT_THAT(state.openevolve().generations(), ElementsAre(2, 2));
  EXPECT_EQ(state.openevolve().last_migration(), 0);
  Evolve(policy, 1, &state, rng);
  EXPECT_EQ(state.openevolve().last_migration(), 3);
  // A reply without a program does not count as a generation.
  v1::AttemptState empty;
  *empty.mutable_plan() = policy.Plan(&state, rng);
  policy.TakeEnded({empty, nullptr, false}, &state, rng);
  EXPECT_THAT(state.openevolve().generations(), ElementsAre(3, 2));
}

TEST(OpenEvolveTest, InVersion02GenerationsAreThoseOfTheIslandTheChildLivesOn) {
  v1::OpenEvolveSettings settings;
  settings.set_preset("oe-ksearch");
  settings.set_migration_interval(6);
  OpenEvolve policy(Completed<OpenEvolve>(settings));
  v1::AttemptSearchState state;
  Rng rng(5);
  Put(policy, "a", 2, 0, &state, rng, 1);
  // The attempts of all three islands draw on the first island, and live there.
  Evolve(policy, 5, &state, rng);
  EXPECT_THAT(state.openevolve().generations(), ElementsAre(5, 0, 0));
  EXPECT_EQ(state.openevolve().last_migration(), 0);
  Evolve(policy, 1, &state, rng);
  EXPECT_EQ(state.openevolve().last_migration(), 6);
}

TEST(OpenEvolveTest, IslandsHaveEqualSharesOfTheAttempts) {
  OpenEvolve policy(Preset("oe-0.3"));
  v1::AttemptSearchState state;
  Rng rng(5);
  for (int i = 0; i < 7; ++i) {
    const v1::AttemptPlan plan = policy.Plan(&state, rng);
    *state.add_attempts()->mutable_plan() = plan;
  }
  std::vector<int> lines;
  for (const auto& attempt : state.attempts()) lines.push_back(attempt.plan().line());
  EXPECT_THAT(lines, ElementsAre(0, 1, 2, 3, 4, 0, 1));
}

TEST(OpenEvolveTest, InvariantsHoldWhateverHappens) {
  for (uint64_t seed = 1; seed <= Repetitions<uint64_t>(30, 5); ++seed) {
    v1::OpenEvolveSettings settings;
    settings.set_preset(seed % 2 == 0 ? "oe-0.3" : "oe-ksearch");
    settings.set_population(5 + static_cast<int>(seed));
    settings.set_archive(1 + static_cast<int>(seed % 9));
    settings.set_islands(1 + static_cast<int>(seed % 4));
    settings.set_migration_interval(1 + static_cast<int>(seed % 6));
    OpenEvolve policy(Completed<OpenEvolve>(settings));
    v1::AttemptSearchState state;
    Rng rng(seed);
    double best = 0;
    for (int i = 0; i < 120; ++i) {
      Evolve(policy, 1, &state, rng);
      const v1::OpenEvolveState& books = state.openevolve();
      ASSERT_LE(books.members_size(), settings.population());
      ASSERT_LE(books.archive_size(), settings.archive());
      ASSERT_LE(books.reference_set_size(), OpenEvolve::kReferencePrograms);
      std::set<std::tuple<int, int, int>> cells;
      for (const auto& cell : books.cells()) {
        const v1::PopulationMember* owner = FindMember(books.members(), cell.owner());
        ASSERT_NE(owner, nullptr);
        ASSERT_EQ(owner->island(), cell.island()) << "a cell's owner lives on its island";
        ASSERT_TRUE(cells.emplace(cell.island(), cell.complexity(), cell.diversity()).second);
      }
      std::set<int> archived(books.archive().begin(), books.archive().end());
      ASSERT_EQ(archived.size(), static_cast<size_t>(books.archive_size()));
      double least_archived = 1e9;
      for (const int number : archived) {
        const v1::PopulationMember* member = FindMember(books.members(), number);
        ASSERT_NE(member, nullptr);
        least_archived = std::min(least_archived, Fitness(state.log(), *member));
      }
      double found = 0;
      for (const auto& member : books.members()) {
        ASSERT_GE(member.island(), 0);
        ASSERT_LT(member.island(), settings.islands());
        found = std::max(found, Fitness(state.log(), member));
      }
      for (const auto& [id, program] : state.log().screened())
        best = std::max(best, program.score());
      ASSERT_EQ(found, best) << "the best is never lost";
    }
  }
}

std::unique_ptr<SearchStrategy> Make(const SearchContext& context) {
  return std::make_unique<AttemptSearch>(
      "openevolve", context, FakeAttemptProposer(),
      std::make_unique<OpenEvolve>(Completed<OpenEvolve>(context.config.openevolve())));
}

TEST(OpenEvolveTest, ATrace) {
  SearchContext context = AttemptContext(6);
  context.config.mutable_openevolve()->set_islands(2);
  context.config.mutable_openevolve()->set_migration_interval(2);
  const std::vector<std::string> replies = {"one score=1",   "patch one -> two",
                                            "three score=3", "patch nowhere -> x",
                                            "a typo",        "six score=2"};
  int calls = 0;
  AttemptDriver driver(context, Make, [&](const AskModel& ask) {
    ++calls;
    return replies.at(static_cast<size_t>(ask.labels.attempt) - 1);
  });
  driver.Start();
  driver.Run();
  EXPECT_EQ(calls, 7) << "a patch that does not fit is asked for once more";
  EXPECT_EQ(absl::StrJoin(driver.transcript, "--\n"), R"(ask 1 sample/1 base=[none]
--
screen attempt/1 [one score=1] of call 1
CANDIDATE_PROPOSED 1
--
ask 2 improve/2 base=[one score=1] us=100 style=1 patch
CANDIDATE_PASSED 1 score 1.000, 100.00 us
--
screen attempt/2 [two score=1] of call 2 from a parent
CANDIDATE_PROPOSED 2
--
ask 3 improve/3 base=[one score=1] us=100 style=1 patch
CANDIDATE_PASSED 2 score 1.000, 100.00 us
--
screen attempt/3 [three score=3] of call 3 from a parent
CANDIDATE_PROPOSED 3
--
ask 4 improve/4 base=[three score=3] us=33.3333 with=[two score=1] style=1 patch
CANDIDATE_PASSED 3 score 3.000, 33.33 us
--
ask 5 improve/4 base=[three score=3] us=33.3333 with=[two score=1] style=1 patch misfit complaint=not found: nowhere
REPLY_UNUSABLE 4 not found: nowhere
--
ask 6 improve/5 base=[two score=1] us=100 with=[three score=3] style=1 patch
REPLY_UNUSABLE 4 not found: nowhere
CANDIDATE_FAILED 4 no usable program: not found: nowhere
--
screen attempt/5 [a typo] of call 6 from a parent
CANDIDATE_PROPOSED 5
--
ask 7 improve/6 base=[three score=3] us=33.3333 with=[one score=1] style=1 patch
CANDIDATE_FAILED 5 compile_error: expected ';'
--
screen attempt/6 [six score=2] of call 7 from a parent
CANDIDATE_PROPOSED 6
--
CANDIDATE_PASSED 6 score 2.000, 50.00 us
finished: budget of 6 rounds is spent
)");
}

}  // namespace
}  // namespace ksearch
