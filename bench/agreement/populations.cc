// What population-based strategies choose, drawn often from one state; and what a population is
// after some programs were added.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/agreement/agreement_case.h"
#include "common/log.h"
#include "common/rng.h"
#include "coordinator/search/archive/program_features.h"
#include "coordinator/search/population/evoengineer.h"
#include "coordinator/search/population/openevolve.h"
#include "coordinator/search/population/shinka.h"
#include "coordinator/search/setting_faults.h"

namespace ksearch {
namespace {

using Counts = std::map<std::string, int64_t>;

template <typename Strategy, typename Settings>
Strategy Make(const Json& json) {
  Settings settings;
  ReadMessage(json, &settings);
  SettingFaults faults;
  Strategy::Complete(&settings, &faults);
  CHECK(faults.all().empty());
  return Strategy(settings);
}

std::string NumbersOf(const MemberList& members) {
  std::string text;
  for (const v1::PopulationMember* member : members) {
    absl::StrAppend(&text, text.empty() ? "" : " ", member->number());
  }
  return text;
}

void DrawOpenEvolve(const Json& each, const std::string& what, int64_t draws, Rng* rng,
                    const v1::AttemptSearchState& state, Counts* counts) {
  const auto strategy = Make<OpenEvolve, v1::OpenEvolveSettings>(each.at("settings"));
  const int island = each.at("island");
  for (int64_t i = 0; i < draws; ++i) {
    if (what == "parent") {
      std::string operation;
      const v1::PopulationMember* parent = strategy.DrawParent(state, island, *rng, &operation);
      ++(*counts)[absl::StrCat(operation, " ", parent->number())];
      continue;
    }
    CHECK(what == "inspirations");
    v1::AttemptSearchState changing = state;
    const v1::PopulationMember parent =
        *FindMember(state.openevolve().members(), each.at("parent"));
    ++(*counts)[NumbersOf(strategy.DrawInspirations(&changing, parent, island, *rng))];
  }
}

void DrawShinka(const Json& each, const std::string& what, int64_t draws, Rng* rng,
                const v1::AttemptSearchState& state, Counts* counts) {
  const auto strategy = Make<Shinka, v1::ShinkaSettings>(each.at("settings"));
  for (int64_t i = 0; i < draws; ++i) {
    if (what == "island") {
      ++(*counts)[absl::StrCat(strategy.DrawIsland(state, *rng))];
    } else if (what == "parent") {
      ++(*counts)[absl::StrCat(strategy.DrawParent(state, each.at("island"), *rng).number())];
    } else if (what == "inspirations") {
      const v1::PopulationMember* parent = FindMember(state.shinka().members(), each.at("parent"));
      ++(*counts)[NumbersOf(strategy.DrawInspirations(state, *parent, *rng))];
    } else if (what == "migration") {
      v1::AttemptSearchState changing = state;
      strategy.Migrate(&changing, *rng);
      std::string moves;
      for (const v1::PopulationMember& member : changing.shinka().members()) {
        const int before = FindMember(state.shinka().members(), member.number())->island();
        if (member.island() != before) {
          absl::StrAppend(&moves, moves.empty() ? "" : " ", member.number(), ">", member.island());
        }
      }
      ++(*counts)[moves];
    } else {
      CHECK(what == "operation");
      v1::AttemptSearchState changing = state;
      const v1::AttemptPlan plan = strategy.Plan(&changing, *rng);
      ++(*counts)[plan.operation() == "whole" ? absl::StrCat("whole ", plan.style())
                                              : plan.operation()];
    }
  }
}

void DrawEvoEngineer(const Json& each, const std::string& what, int64_t draws, Rng* rng,
                     const v1::AttemptSearchState& state, Counts* counts) {
  const auto strategy = Make<EvoEngineer, v1::EvoEngineerSettings>(each.at("settings"));
  MemberList ranked =
      MembersThat(state.evoengineer().members(),
                  [&](const v1::PopulationMember& member) { return Works(state.log(), member); });
  SortByFitness(state.log(), &ranked);
  for (int64_t i = 0; i < draws; ++i) {
    if (what == "rank") {
      ++(*counts)[absl::StrCat(EvoEngineer::DrawByRank(ranked, *rng).number())];
      continue;
    }
    CHECK(what == "plan");
    // Which program is changed, and whose ideas are shown with it, in any order.
    v1::AttemptSearchState changing = state;
    const v1::AttemptPlan plan = strategy.Plan(&changing, *rng);
    std::vector<std::string> notes(plan.notes().begin(), plan.notes().end());
    std::sort(notes.begin(), notes.end());
    std::string text = absl::StrCat(plan.operation(), " ", plan.base_id(), " |");
    for (const std::string& note : notes) absl::StrAppend(&text, " ", note);
    ++(*counts)[text];
  }
}

struct Row {
  const char* strategy;
  void (*draw)(const Json&, const std::string&, int64_t, Rng*, const v1::AttemptSearchState&,
               Counts*);
};

constexpr Row kRows[] = {
    {"openevolve", DrawOpenEvolve}, {"shinka", DrawShinka}, {"evoengineer", DrawEvoEngineer}};

}  // namespace

Json Draws(const Json& each) {
  v1::AttemptSearchState state;
  ReadMessage(each.at("state"), &state);
  Rng rng(each.at("seed").get<uint64_t>());
  Counts counts;
  for (const Row& row : kRows) {
    if (each.at("strategy") == row.strategy) {
      row.draw(each, each.at("what"), each.at("draws"), &rng, state, &counts);
    }
  }
  return counts;
}

Json Inserted(const Json& each) {
  const auto strategy = Make<OpenEvolve, v1::OpenEvolveSettings>(each.at("settings"));
  v1::AttemptSearchState state;
  Rng rng(1);
  const auto add = [&](const Json& program) {
    v1::Sources sources;
    sources.add_files()->set_content(program.at("code").get<std::string>());
    const std::string id = absl::StrCat(program.at("number").get<int>());
    v1::ScreenedProgram& known = (*state.mutable_log()->mutable_screened())[id];
    known.set_candidate_id(id);
    known.set_score(program.at("fitness"));
    known.set_passed(known.score() > 0);
    v1::PopulationMember member;
    member.set_candidate_id(id);
    *member.mutable_features() = FeaturesOf(sources, /*with_sketch=*/false);
    strategy.Insert(member, program.at("island"), &state, rng);
  };
  Json steps = Json::array();
  for (const Json& step : each.at("programs")) {
    if (step.contains("migrate")) {
      strategy.Migrate(&state, rng);
    } else {
      add(step);
    }
    // Members by island and program: copies have their own numbers.
    const v1::OpenEvolveState& books = state.openevolve();
    std::map<int, std::string> names;
    for (const v1::PopulationMember& member : books.members()) {
      names[member.number()] = absl::StrCat(member.candidate_id(), "@", member.island());
    }
    Json shown = {{"members", Json::array()}, {"archive", Json::array()}, {"cells", Json::array()}};
    for (const auto& [number, name] : names) shown["members"].push_back(name);
    for (const int number : books.archive()) shown["archive"].push_back(names.at(number));
    for (const auto& cell : books.cells()) {
      shown["cells"].push_back(
          absl::StrCat(names.at(cell.owner()), ":", cell.complexity(), "-", cell.diversity()));
    }
    for (auto& [key, list] : shown.items()) std::sort(list.begin(), list.end());
    steps.push_back(std::move(shown));
  }
  return steps;
}

}  // namespace ksearch
