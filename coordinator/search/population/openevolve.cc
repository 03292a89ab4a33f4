#include "coordinator/search/population/openevolve.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/proposer/attempt_prompt.h"
#include "coordinator/search/archive/draw.h"
#include "coordinator/search/archive/program_features.h"
#include "coordinator/search/reply_form_setting.h"

namespace ksearch {
namespace {

constexpr double kLeastWeight = 0.001;
constexpr double kUnknown = -1;  // the diversity has not been computed yet

struct Preset {
  const char* name;
  int population, archive, islands;
  double exploration, exploitation, elite;
  int inspirations, top_programs, diverse_programs, migration_interval;
  double migration_rate;
  v1::ReplyForm reply_form;
  bool first_island_feeds;
};

// oe-0.3: the defaults of 0.3.2; oe-ksearch: what K-Search's comparison ran, OpenEvolve 0.2 with
// its settings; oe-tuned: 0.3.2 with migrations frequent enough for runs of some 100 rounds.
constexpr Preset kPresets[] = {
    {"oe-0.3", 1000, 100, 5, 0.2, 0.7, 0.1, 2, 3, 2, 50, 0.1, v1::REPLY_FORM_SEARCH_REPLACE, false},
    {"oe-ksearch", 25, 12, 3, 0.35, 0.65, 0.3, 3, 3, 2, 50, 0.1, v1::REPLY_FORM_WHOLE, true},
    {"oe-tuned", 1000, 100, 5, 0.2, 0.7, 0.1, 2, 3, 2, 10, 0.1, v1::REPLY_FORM_SEARCH_REPLACE,
     false},
};

MemberList AllOf(const v1::OpenEvolveState& books) {
  return MembersThat(books.members(), [](const v1::PopulationMember&) { return true; });
}

bool LivesOn(const v1::PopulationMember& member, int island) {
  return member.island() == island && !member.displaced();
}

MemberList IslandOf(const v1::OpenEvolveState& books, int island) {
  return MembersThat(books.members(),
                     [&](const v1::PopulationMember& member) { return LivesOn(member, island); });
}

void Widen(double value, v1::OpenEvolveState::Range* range) {
  range->set_low(range->known() ? std::min(range->low(), value) : value);
  range->set_high(range->known() ? std::max(range->high(), value) : value);
  range->set_known(true);
}

int BinOf(double value, const v1::OpenEvolveState::Range& range) {
  const double scaled =
      range.high() > range.low() ? (value - range.low()) / (range.high() - range.low()) : 0.5;
  return std::clamp(static_cast<int>(scaled * OpenEvolve::kBins), 0, OpenEvolve::kBins - 1);
}

}  // namespace

void OpenEvolve::Complete(v1::OpenEvolveSettings* settings, SettingFaults* faults) {
  v1::OpenEvolveSettings* s = settings;
  if (s->preset().empty()) s->set_preset(kPresets[0].name);
  const auto* preset = std::find_if(std::begin(kPresets), std::end(kPresets),
                                    [&](const auto& known) { return s->preset() == known.name; });
  if (preset == std::end(kPresets)) {
    faults->Require(false, absl::StrCat("openevolve.preset is \"", s->preset(),
                                        "\", must be oe-0.3, oe-ksearch or oe-tuned"));
    preset = &kPresets[0];
  }
  if (!s->has_population()) s->set_population(preset->population);
  if (!s->has_archive()) s->set_archive(preset->archive);
  if (!s->has_islands()) s->set_islands(preset->islands);
  if (!s->has_exploration()) s->set_exploration(preset->exploration);
  if (!s->has_exploitation()) s->set_exploitation(preset->exploitation);
  if (!s->has_elite()) s->set_elite(preset->elite);
  if (!s->has_inspirations()) s->set_inspirations(preset->inspirations);
  if (!s->has_top_programs()) s->set_top_programs(preset->top_programs);
  if (!s->has_diverse_programs()) s->set_diverse_programs(preset->diverse_programs);
  if (!s->has_migration_interval()) s->set_migration_interval(preset->migration_interval);
  if (!s->has_migration_rate()) s->set_migration_rate(preset->migration_rate);
  if (!s->has_first_island_feeds()) s->set_first_island_feeds(preset->first_island_feeds);
  s->set_reply_form(
      CompleteReplyForm("openevolve.reply_form", s->reply_form(), preset->reply_form, faults));
  faults->Range("openevolve.population", s->population(), 2, 5000);
  faults->Range("openevolve.archive", s->archive(), 1, 1000);
  faults->Range("openevolve.islands", s->islands(), 1, 64);
  faults->Range("openevolve.exploration", s->exploration(), 0, 1);
  faults->Range("openevolve.exploitation", s->exploitation(), 0, 1);
  faults->Require(
      !(s->exploration() + s->exploitation() > 1 + 1e-9),
      absl::StrCat("openevolve.exploitation is ", s->exploitation(),
                   ", must be at most 1 together with openevolve.exploration, which is ",
                   s->exploration()));
  faults->Range("openevolve.elite", s->elite(), 0, 1);
  faults->Range("openevolve.inspirations", s->inspirations(), 0, 8);
  faults->Range("openevolve.top_programs", s->top_programs(), 0, 8);
  faults->Range("openevolve.diverse_programs", s->diverse_programs(), 0, 8);
  faults->Range("openevolve.migration_interval", s->migration_interval(), 1, 100000);
  faults->Range("openevolve.migration_rate", s->migration_rate(), 0, 1);
}

v1::OpenEvolveState* OpenEvolve::Books(State* state) const {
  v1::OpenEvolveState* books = state->mutable_openevolve();
  while (books->generations_size() < settings_.islands()) books->add_generations(0);
  return books;
}

// ---------------------------------------------------------------- parents and what is shown

int OpenEvolve::TargetIsland(const State& state) const {
  int best = 0;
  std::pair<int, int> least;
  const auto& generations = state.openevolve().generations();
  for (int island = 0; island < settings_.islands(); ++island) {
    int in_flight = 0;
    for (const v1::AttemptState& attempt : state.attempts()) {
      in_flight += attempt.plan().line() == island ? 1 : 0;
    }
    const int ended = island < generations.size() ? generations.Get(island) : 0;
    const std::pair<int, int> load(in_flight, ended + in_flight);
    if (island == 0 || load < least) {
      best = island;
      least = load;
    }
  }
  return best;
}

const v1::PopulationMember* OpenEvolve::DrawParent(const State& state, int island, Rng& rng,
                                                   std::string* operation) const {
  const v1::OpenEvolveState& books = state.openevolve();
  const MemberList all = AllOf(books);
  if (all.empty()) return nullptr;
  // An empty island takes its parent from the first one.
  MemberList home = IslandOf(books, island);
  const bool fed = home.empty();
  if (fed) {
    island = 0;
    home = IslandOf(books, island);
  }
  const double draw = rng.NextDouble();
  if (draw < settings_.exploration()) {
    *operation = "explore";
    return home.empty() ? Fittest(state.log(), all) : DrawOne(home, rng);
  }
  const MemberList archive = MembersOf(books.archive(), books.members());
  if (draw < settings_.exploration() + settings_.exploitation() && !archive.empty()) {
    *operation = "exploit";
    MemberList own;
    for (const v1::PopulationMember* member : archive) {
      if (member->island() == island) own.push_back(member);
    }
    return DrawOne(own.empty() ? archive : own, rng);
  }
  *operation = "roulette";
  if (fed) return DrawOne(all, rng);
  std::vector<double> weights;
  for (const v1::PopulationMember* member : home) {
    weights.push_back(std::max(Fitness(state.log(), *member), kLeastWeight));
  }
  return home[DrawWeighted(weights, rng)];
}

MemberList OpenEvolve::DrawInspirations(State* state, const v1::PopulationMember& parent,
                                        int island, Rng& rng) const {
  const MemberList home = IslandOf(state->openevolve(), island);
  // For an empty island, version 0.2 shows what 0.3 shows, from the parent's island; otherwise any
  // programs of the island.
  if (!settings_.first_island_feeds() || home.empty()) {
    return DrawNear(state, parent, home.empty() ? parent.island() : island, rng);
  }
  MemberList others;
  for (const v1::PopulationMember* member : home) {
    if (member->number() != parent.number()) others.push_back(member);
  }
  return DrawSome(std::move(others), static_cast<size_t>(settings_.inspirations()), rng);
}

MemberList OpenEvolve::DrawNear(State* state, const v1::PopulationMember& parent, int island,
                                Rng& rng) const {
  const auto wanted = static_cast<size_t>(settings_.inspirations());
  v1::OpenEvolveState* books = Books(state);
  const MemberList home = IslandOf(*books, island);
  MemberList drawn;
  if (home.empty()) return drawn;
  const auto take = [&](const v1::PopulationMember* member) {
    if (member->number() != parent.number() && !Contains(drawn, *member)) drawn.push_back(member);
  };
  MemberList ranked = home;
  SortByFitness(state->log(), &ranked);
  take(ranked.front());
  const auto elite = static_cast<size_t>(
      std::max(1, static_cast<int>(settings_.inspirations() * settings_.elite())));
  for (size_t i = 0; i < std::min(elite, ranked.size()); ++i) take(ranked[i]);
  if (home.size() > wanted && drawn.size() < wanted) {
    // The newest one represents its cell.
    std::map<std::pair<int, int>, const v1::PopulationMember*> cells;
    Bins center;
    for (v1::PopulationMember& member : *books->mutable_members()) {
      if (!LivesOn(member, island) && member.number() != parent.number()) continue;
      const Bins bins = BinsOf(&member, state, rng);
      if (member.number() == parent.number()) center = bins;
      if (LivesOn(member, island)) cells[{bins.complexity, bins.diversity}] = &member;
    }
    const size_t tries = 3 * (wanted - drawn.size());
    const auto near = [&](int bin) {
      return std::clamp(bin + static_cast<int>(rng.NextBelow(5)) - 2, 0, kBins - 1);
    };
    for (size_t i = 0; i < tries && drawn.size() < wanted; ++i) {
      const int complexity = near(center.complexity);
      const int diversity = near(center.diversity);
      const auto cell = cells.find({complexity, diversity});
      if (cell != cells.end()) take(cell->second);
    }
    MemberList others;
    for (const v1::PopulationMember* member : home) {
      if (member->number() != parent.number() && !Contains(drawn, *member)) {
        others.push_back(member);
      }
    }
    const size_t missing = wanted - std::min(wanted, drawn.size());
    for (const v1::PopulationMember* member : DrawSome(std::move(others), missing, rng)) {
      drawn.push_back(member);
    }
  }
  if (drawn.size() > wanted) drawn.resize(wanted);
  return drawn;
}

v1::AttemptPlan OpenEvolve::Plan(State* state, Rng& rng) const {
  Books(state);
  const int target = TargetIsland(*state);
  std::string operation;
  const v1::PopulationMember* parent = DrawParent(*state, target, rng, &operation);
  v1::AttemptPlan plan;
  if (parent == nullptr) {
    plan.set_kind(v1::AttemptPlan::SAMPLE);
    plan.set_operation("sample");
    plan.set_island(target);
    plan.set_line(target);
    return plan;
  }
  plan = PlanFrom(state->log(), *parent);
  plan.set_style(kStyleParent);
  plan.set_reply_form(settings_.reply_form());
  plan.set_operation(operation);
  plan.set_line(target);
  plan.set_island(settings_.first_island_feeds() ? parent->island() : target);
  // The best programs of the parent's island and the next ones; the inspirations come from the
  // target island.
  MemberList ranked = IslandOf(state->openevolve(), parent->island());
  SortByFitness(state->log(), &ranked);
  const auto top = static_cast<size_t>(settings_.top_programs() + settings_.diverse_programs());
  if (ranked.size() > top) ranked.resize(top);
  const MemberList inspirations = DrawInspirations(state, *parent, target, rng);
  ShowAlso(ranked, &plan);
  ShowAlso(inspirations, &plan);
  return plan;
}

// ---------------------------------------------------------------- the population

void OpenEvolve::TakeGiven(const v1::ScreenedProgram& program, const v1::ProgramFeatures& features,
                           State* state, Rng& rng) const {
  // The first program goes to the first island, like the original's only one.
  const int island = Books(state)->last_number() % settings_.islands();
  Insert(GivenMember(program, features, island), island, state, rng);
}

void OpenEvolve::TakeEnded(const EndedAttempt& ended, State* state, Rng& rng) const {
  if (ended.program == nullptr) return;  // the iteration brought no program
  v1::OpenEvolveState* books = Books(state);
  Insert(ChildOf(ended), ended.attempt.plan().island(), state, rng);
  // Version 0.2 counts for the child's island, 0.3 for the island of the attempt.
  const int counted =
      settings_.first_island_feeds() ? ended.attempt.plan().island() : ended.attempt.plan().line();
  books->set_generations(counted, books->generations(counted) + 1);
  const int newest = *std::max_element(books->generations().begin(), books->generations().end());
  if (newest - books->last_migration() >= settings_.migration_interval()) Migrate(state, rng);
}

// While there are few programs, all are references; after that the references stay, so that the
// meaning of diversity does not change.
void OpenEvolve::UpdateReferences(v1::OpenEvolveState* books, Rng& rng) const {
  MemberList left = AllOf(*books);
  MemberList chosen;
  if (left.size() <= static_cast<size_t>(kReferencePrograms)) {
    chosen = std::move(left);
  } else {
    // Starts with any program, then greedily adds the one farthest from all chosen before.
    const auto move = [&](size_t at) {
      chosen.push_back(left[at]);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
    };
    move(static_cast<size_t>(rng.NextBelow(left.size())));
    while (chosen.size() < static_cast<size_t>(kReferencePrograms)) {
      size_t farthest = 0;
      double distance = -1;
      for (size_t i = 0; i < left.size(); ++i) {
        double nearest = TextDistance(left[i]->features(), chosen[0]->features());
        for (const v1::PopulationMember* known : chosen) {
          nearest = std::min(nearest, TextDistance(left[i]->features(), known->features()));
        }
        if (nearest > distance) {
          distance = nearest;
          farthest = i;
        }
      }
      move(farthest);
    }
  }
  google::protobuf::RepeatedPtrField<v1::PopulationMember> references;
  for (const v1::PopulationMember* known : chosen) {
    v1::PopulationMember* reference = references.Add();
    reference->set_candidate_id(known->candidate_id());
    *reference->mutable_features() = known->features();
  }
  books->mutable_reference_set()->Swap(&references);
}

double OpenEvolve::DiversityOf(v1::PopulationMember* member, v1::OpenEvolveState* books,
                               Rng& rng) const {
  if (member->diversity() != kUnknown) return member->diversity();
  for (const v1::PopulationMember& other : books->members()) {
    if (other.candidate_id() == member->candidate_id() && other.diversity() != kUnknown) {
      member->set_diversity(other.diversity());
      return member->diversity();
    }
  }
  if (books->reference_set_size() < kReferencePrograms) UpdateReferences(books, rng);
  double sum = 0;
  int count = 0;
  for (const v1::PopulationMember& reference : books->reference_set()) {
    if (reference.candidate_id() == member->candidate_id()) continue;
    sum += TextDistance(member->features(), reference.features());
    ++count;
  }
  member->set_diversity(count > 0 ? sum / count : 0);
  return member->diversity();
}

OpenEvolve::Bins OpenEvolve::BinsOf(v1::PopulationMember* member, State* state, Rng& rng) const {
  v1::OpenEvolveState* books = Books(state);
  Bins bins;
  const double complexity = member->features().characters();
  Widen(complexity, books->mutable_complexity());
  bins.complexity = BinOf(complexity, books->complexity());
  if (books->members_size() < 2) return bins;
  const double diversity = DiversityOf(member, books, rng);
  Widen(diversity, books->mutable_diversity());
  bins.diversity = BinOf(diversity, books->diversity());
  return bins;
}

void OpenEvolve::Insert(v1::PopulationMember newcomer, int island, State* state, Rng& rng) const {
  v1::OpenEvolveState* books = Books(state);
  newcomer.set_island(island);
  if (!newcomer.migrant()) newcomer.set_diversity(kUnknown);
  v1::PopulationMember* member =
      AddMember(newcomer, books->last_number(), books->mutable_members());
  const int number = member->number();
  books->set_last_number(number);
  const Bins bins = BinsOf(member, state, rng);
  auto* cells = books->mutable_cells();
  const auto cell = std::find_if(cells->begin(), cells->end(), [&](const auto& known) {
    return known.island() == island && known.complexity() == bins.complexity &&
           known.diversity() == bins.diversity;
  });
  int displaced = 0;
  if (cell == cells->end()) {
    v1::OpenEvolveState::Cell* added = cells->Add();
    added->set_island(island);
    added->set_complexity(bins.complexity);
    added->set_diversity(bins.diversity);
    added->set_owner(number);
  } else {
    const v1::PopulationMember* owner = FindMember(books->members(), cell->owner());
    if (owner == nullptr || Fitness(state->log(), *member) > Fitness(state->log(), *owner)) {
      displaced = cell->owner();
      cell->set_owner(number);
    }
  }
  if (displaced != 0) {
    // The new program takes its place in the archive. It no longer owns a cell or belongs to an
    // island; version 0.2 keeps it nevertheless.
    auto* archive = books->mutable_archive();
    const auto archived = std::find(archive->begin(), archive->end(), displaced);
    if (archived != archive->end()) {
      archive->erase(archived);
      archive->Add(number);
    }
    if (settings_.first_island_feeds()) {
      v1::PopulationMember* kept = FindMember(displaced, books->mutable_members());
      if (kept != nullptr) kept->set_displaced(true);
    } else {
      Remove(displaced, books);
    }
  }
  UpdateArchive(state->log(), books->members(), *FindMember(books->members(), number),
                settings_.archive(), books->mutable_archive());
  EnforceLimit(number, state);
}

void OpenEvolve::EnforceLimit(int newcomer, State* state) const {
  v1::OpenEvolveState* books = state->mutable_openevolve();
  if (books->members_size() <= settings_.population()) return;
  std::set<int> owners;
  for (const auto& cell : books->cells()) owners.insert(cell.owner());
  const MemberList all = AllOf(*books);
  const int best = Fittest(state->log(), all)->number();
  std::vector<std::pair<bool, const v1::PopulationMember*>> order;  // owns a cell, member
  for (const v1::PopulationMember* member : all) {
    if (member->number() == best || member->number() == newcomer) continue;
    order.emplace_back(!settings_.first_island_feeds() && owners.count(member->number()) > 0,
                       member);
  }
  // Members without a cell first (not in version 0.2), the worst first; of equal ones the oldest.
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return !a.first;
    return Fitness(state->log(), *a.second) < Fitness(state->log(), *b.second);
  });
  std::vector<int> numbers;
  for (const auto& entry : order) numbers.push_back(entry.second->number());
  const auto count = static_cast<size_t>(books->members_size() - settings_.population());
  for (size_t i = 0; i < std::min(count, numbers.size()); ++i) Remove(numbers[i], books);
}

void OpenEvolve::Remove(int number, v1::OpenEvolveState* books) const {
  RemoveMember(number, books->mutable_members());
  auto* archive = books->mutable_archive();
  archive->erase(std::remove(archive->begin(), archive->end(), number), archive->end());
  auto* cells = books->mutable_cells();
  cells->erase(std::remove_if(cells->begin(), cells->end(),
                              [&](const auto& cell) { return cell.owner() == number; }),
               cells->end());
}

void OpenEvolve::Migrate(State* state, Rng& rng) const {
  v1::OpenEvolveState* books = Books(state);
  const int islands = settings_.islands();
  for (int island = 0; island < islands && islands > 1; ++island) {
    MemberList ranked = IslandOf(*books, island);
    if (ranked.empty()) continue;
    SortByFitness(state->log(), &ranked);
    const auto count = static_cast<size_t>(std::max(
        1, static_cast<int>(static_cast<double>(ranked.size()) * settings_.migration_rate())));
    std::vector<v1::PopulationMember> migrants;
    for (size_t i = 0; i < count; ++i) migrants.push_back(*ranked[i]);
    for (const v1::PopulationMember& migrant : migrants) {
      if (migrant.migrant()) continue;  // copies of copies would fill the islands
      for (const int target : {(island + 1) % islands, (island + islands - 1) % islands}) {
        const MemberList there = IslandOf(*books, target);
        const bool known = std::any_of(there.begin(), there.end(), [&](const auto* member) {
          return member->candidate_id() == migrant.candidate_id();
        });
        if (known) continue;
        v1::PopulationMember copy = migrant;
        copy.set_parent(migrant.number());
        copy.set_migrant(true);
        Insert(std::move(copy), target, state, rng);
      }
    }
  }
  books->set_last_migration(
      *std::max_element(books->generations().begin(), books->generations().end()));
}

}  // namespace ksearch
