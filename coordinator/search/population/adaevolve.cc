#include "coordinator/search/population/adaevolve.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/proposer/attempt_prompt.h"
#include "coordinator/search/archive/draw.h"
#include "coordinator/search/reply_form_setting.h"

namespace ksearch {
namespace {

constexpr double kEpsilon = 1e-8;
constexpr double kLeastWeight = 0.001;
constexpr int kHistoryOfIdeas = 12;
constexpr int kMostHistory = 256;

MemberList IslandOf(const v1::AdaEvolveState& books, int island) {
  return MembersThat(books.members(),
                     [&](const v1::PopulationMember& member) { return member.island() == island; });
}

MemberList BestOf(const v1::AttemptSearchState& state) {
  MemberList all =
      MembersThat(state.adaevolve().members(),
                  [&](const v1::PopulationMember& member) { return Works(state.log(), member); });
  SortByFitness(state.log(), &all);
  return all;
}

}  // namespace

void AdaEvolve::Complete(v1::AdaEvolveSettings* settings, SettingFaults* faults) {
  v1::AdaEvolveSettings* s = settings;
  if (!s->has_population()) s->set_population(20);
  if (!s->has_islands()) s->set_islands(2);
  if (!s->has_most_islands()) s->set_most_islands(std::max(5, s->islands()));
  if (!s->has_least_intensity()) s->set_least_intensity(0.15);
  if (!s->has_most_intensity()) s->set_most_intensity(0.5);
  if (!s->has_exploitation()) s->set_exploitation(0.7);
  if (!s->has_decay()) s->set_decay(0.9);
  if (!s->has_island_exploration()) s->set_island_exploration(1.41);
  if (!s->has_least_visits()) s->set_least_visits(3);
  if (!s->has_migration_interval()) s->set_migration_interval(15);
  if (!s->has_migrants()) s->set_migrants(5);
  if (!s->has_spawn_productivity()) s->set_spawn_productivity(0.015);
  if (!s->has_spawn_cooldown()) s->set_spawn_cooldown(30);
  if (!s->has_stagnation_window()) s->set_stagnation_window(10);
  if (!s->has_stagnation_gain()) s->set_stagnation_gain(0.12);
  if (!s->has_ideas()) s->set_ideas(3);
  if (!s->has_idea_uses()) s->set_idea_uses(2);
  if (!s->has_retries()) s->set_retries(2);
  if (!s->has_inspirations()) s->set_inspirations(4);
  s->set_reply_form(
      CompleteReplyForm("adaevolve.reply_form", s->reply_form(), v1::REPLY_FORM_WHOLE, faults));
  faults->Range("adaevolve.population", s->population(), 2, 1000);
  faults->Range("adaevolve.islands", s->islands(), 1, 64);
  faults->Range("adaevolve.most_islands", s->most_islands(), s->islands(), 64);
  faults->Range("adaevolve.least_intensity", s->least_intensity(), 0, 1);
  faults->Range("adaevolve.most_intensity", s->most_intensity(), s->least_intensity(), 1);
  faults->Range("adaevolve.exploitation", s->exploitation(), 0, 1);
  faults->Range("adaevolve.decay", s->decay(), 0, 1);
  faults->Range("adaevolve.island_exploration", s->island_exploration(), 0, 100);
  faults->Range("adaevolve.least_visits", s->least_visits(), 0, 1000);
  faults->Range("adaevolve.migration_interval", s->migration_interval(), 1, 100000);
  faults->Range("adaevolve.migrants", s->migrants(), 0, 100);
  faults->Range("adaevolve.spawn_productivity", s->spawn_productivity(), 0, 1);
  faults->Range("adaevolve.spawn_cooldown", s->spawn_cooldown(), 1, 100000);
  faults->Range("adaevolve.stagnation_window", s->stagnation_window(), 1, kMostHistory - 1);
  faults->Range("adaevolve.stagnation_gain", s->stagnation_gain(), 0, 1);
  faults->Range("adaevolve.ideas", s->ideas(), 0, 16);
  faults->Range("adaevolve.idea_uses", s->idea_uses(), 1, 100);
  faults->Range("adaevolve.retries", s->retries(), 0, 16);
  faults->Range("adaevolve.inspirations", s->inspirations(), 0, 8);
}

v1::AdaEvolveState* AdaEvolve::Books(State* state) const {
  v1::AdaEvolveState* books = state->mutable_adaevolve();
  while (books->islands_size() < settings_.islands()) books->add_islands();
  return books;
}

// ---------------------------------------------------------------- what the next attempt is

double AdaEvolve::Intensity(const v1::AdaEvolveState::Island& island) const {
  return settings_.least_intensity() + (settings_.most_intensity() - settings_.least_intensity()) /
                                           (1 + std::sqrt(island.gains() + kEpsilon));
}

int AdaEvolve::ChooseIsland(const State& state, Rng& rng) const {
  const auto& islands = state.adaevolve().islands();
  std::vector<int> seldom;
  for (int i = 0; i < islands.size(); ++i) {
    if (islands.Get(i).chosen() < settings_.least_visits()) seldom.push_back(i);
  }
  if (!seldom.empty()) return DrawOne(seldom, rng);
  int best = 0;
  double highest = -INFINITY;
  for (int i = 0; i < islands.size(); ++i) {
    const v1::AdaEvolveState::Island& island = islands.Get(i);
    const double reward = island.visits() > 0 ? island.rewards() / island.visits() : 0;
    const double bonus =
        island.chosen() > 0
            ? settings_.island_exploration() *
                  std::sqrt(std::log(state.adaevolve().attempts() + 1.0) / island.chosen())
            : INFINITY;
    if (reward + bonus > highest) {
      highest = reward + bonus;
      best = i;
    }
  }
  return best;
}

const v1::PopulationMember& AdaEvolve::DrawParent(const State& state, int island, Rng& rng) const {
  MemberList home = IslandOf(state.adaevolve(), island);
  const double intensity = Intensity(state.adaevolve().islands(island));
  const double draw = rng.NextDouble();
  if (draw < intensity) return *DrawOne(home, rng);
  if (draw < intensity + (1 - intensity) * settings_.exploitation()) {
    SortByFitness(state.log(), &home);
    home.resize(std::max<size_t>(1, home.size() / 4));
    return *DrawOne(home, rng);
  }
  std::vector<double> weights;
  for (const v1::PopulationMember* member : home) {
    weights.push_back(std::max(Fitness(state.log(), *member), kLeastWeight));
  }
  return *home[DrawWeighted(weights, rng)];
}

v1::AttemptPlan AdaEvolve::Plan(State* state, Rng& rng) const {
  v1::AdaEvolveState* books = Books(state);
  v1::AttemptPlan plan;
  plan.set_style(kStyleParent);
  plan.set_reply_form(settings_.reply_form());
  if (books->repairs_size() > 0) {
    const v1::AdaEvolveState::Repair repair = books->repairs(0);
    books->mutable_repairs()->DeleteSubrange(0, 1);
    plan.set_kind(v1::AttemptPlan::REPAIR);
    plan.set_failed_id(repair.candidate_id());
    plan.set_island(repair.island());
    plan.set_parent(repair.parent());
    plan.set_line(repair.tries());
    plan.set_operation("retry");
    return plan;
  }
  const int island = ChooseIsland(*state, rng);
  plan.set_island(island);
  if (IslandOf(*books, island).empty()) {
    plan.set_kind(v1::AttemptPlan::SAMPLE);
    plan.set_operation("sample");
    return plan;
  }
  const v1::PopulationMember& parent = DrawParent(*state, island, rng);
  const v1::AttemptPlan from = PlanFrom(state->log(), parent);
  plan.MergeFrom(from);
  plan.set_operation("evolve");
  MemberList shown;
  for (const v1::PopulationMember* member : BestOf(*state)) {
    if (member->candidate_id() != parent.candidate_id()) shown.push_back(member);
  }
  ShowAlso(shown, &plan);
  if (const int more = plan.inspiration_ids_size() - settings_.inspirations(); more > 0) {
    plan.mutable_inspiration_ids()->DeleteSubrange(settings_.inspirations(), more);
  }
  // Ideas are used in turn.
  v1::AdaEvolveState::Idea* idea = nullptr;
  for (v1::AdaEvolveState::Idea& known : *books->mutable_ideas()) {
    if (known.uses() < settings_.idea_uses() && (idea == nullptr || known.uses() < idea->uses())) {
      idea = &known;
    }
  }
  if (idea != nullptr) {
    idea->set_uses(idea->uses() + 1);
    plan.set_direction(idea->text());
    plan.set_operation("idea");
  }
  return plan;
}

// ---------------------------------------------------------------- the population

void AdaEvolve::NoteScore(double score, bool earned, v1::AdaEvolveState::Island* island,
                          const v1::AdaEvolveState& books) const {
  // The island's best determines its intensity, the best of all islands its reward.
  double reward = 0;
  if (score > 0 && (!island->has_best() || score > island->best())) {
    double best_of_all = 0;
    for (const auto& other : books.islands()) {
      if (other.has_best()) best_of_all = std::max(best_of_all, other.best());
    }
    const double gained = island->has_best() ? score - island->best() : score;
    const double own =
        island->has_best() ? std::min(1.0, gained / (std::abs(island->best()) + kEpsilon)) : 1;
    reward = best_of_all > 0 ? std::min(1.0, gained / (best_of_all + kEpsilon)) : 1;
    island->set_gains(settings_.decay() * island->gains() + (1 - settings_.decay()) * own * own);
    island->set_best(score);
    island->set_has_best(true);
  }
  if (!earned) return;
  island->set_chosen(island->chosen() + 1);
  island->set_visits(settings_.decay() * island->visits() + 1);
  island->set_rewards(settings_.decay() * island->rewards() + reward);
}

void AdaEvolve::Add(v1::PopulationMember member, State* state) const {
  v1::AdaEvolveState* books = Books(state);
  const int island = member.island();
  const v1::PopulationMember* added =
      AddMember(member, books->last_number(), books->mutable_members());
  books->set_last_number(added->number());
  const int newcomer = added->number();
  MemberList home = IslandOf(*books, island);
  if (static_cast<int>(home.size()) <= settings_.population()) return;
  SortByFitness(state->log(), &home);
  const bool newest_is_worst = home.back()->number() == newcomer;
  RemoveMember(home[home.size() - (newest_is_worst ? 2 : 1)]->number(), books->mutable_members());
}

void AdaEvolve::AddToAllIslands(const v1::PopulationMember& member, State* state) const {
  v1::AdaEvolveState* books = Books(state);
  for (int island = 0; island < books->islands_size(); ++island) {
    v1::PopulationMember copy = member;
    copy.set_island(island);
    Add(std::move(copy), state);
  }
}

void AdaEvolve::TakeGiven(const v1::ScreenedProgram& program, const v1::ProgramFeatures& features,
                          State* state, Rng& /*rng*/) const {
  v1::AdaEvolveState* books = Books(state);
  if (!program.passed()) {
    if (settings_.retries() == 0) return;
    books->add_repairs()->set_candidate_id(program.candidate_id());
    return;
  }
  AddToAllIslands(GivenMember(program, features, 0), state);
  for (v1::AdaEvolveState::Island& island : *books->mutable_islands()) {
    NoteScore(program.score(), /*earned=*/false, &island, *books);
  }
}

void AdaEvolve::TakeEnded(const EndedAttempt& ended, State* state, Rng& /*rng*/) const {
  v1::AdaEvolveState* books = Books(state);
  const v1::AttemptPlan& plan = ended.attempt.plan();
  books->set_attempts(books->attempts() + 1);
  const bool works = ended.program != nullptr && ended.program->passed();
  const double best_before = books->best_history_size() > 0 ? *books->best_history().rbegin() : 0;
  books->add_best_history(std::max(best_before, works ? ended.program->score() : 0));
  if (books->best_history_size() > kMostHistory) {
    books->mutable_best_history()->erase(books->best_history().begin());
  }
  const bool first = books->members_size() == 0;
  NoteScore(works ? ended.program->score() : 0, /*earned=*/true,
            books->mutable_islands(plan.island()), *books);
  if (works) {
    const v1::PopulationMember child = ChildOf(ended);
    if (first) {
      AddToAllIslands(child, state);  // like a given program
    } else {
      Add(child, state);
    }
  } else if (ended.program != nullptr && !ended.repeated && plan.line() < settings_.retries()) {
    v1::AdaEvolveState::Repair* repair = books->add_repairs();
    repair->set_candidate_id(ended.attempt.candidate_id());
    repair->set_tries(plan.line() + 1);
    repair->set_island(plan.island());
    repair->set_parent(plan.parent());
  }
  if (books->attempts() - books->last_migration() >= settings_.migration_interval()) Migrate(state);
  SpawnIsland(state);
}

void AdaEvolve::Migrate(State* state) const {
  v1::AdaEvolveState* books = Books(state);
  books->set_last_migration(books->attempts());
  const int islands = books->islands_size();
  for (int island = 0; island < islands && islands > 1; ++island) {
    const int target = (island + 1) % islands;
    MemberList ranked = IslandOf(*books, island);
    SortByFitness(state->log(), &ranked);
    std::vector<v1::PopulationMember> migrants;
    for (size_t i = 0; i < std::min(ranked.size(), static_cast<size_t>(settings_.migrants()));
         ++i) {
      migrants.push_back(*ranked[i]);
    }
    for (v1::PopulationMember& migrant : migrants) {
      const MemberList there = IslandOf(*books, target);
      const bool known = std::any_of(there.begin(), there.end(), [&](const auto* member) {
        return member->candidate_id() == migrant.candidate_id();
      });
      if (known || !Works(state->log(), migrant)) continue;
      const double score = Fitness(state->log(), migrant);
      migrant.set_parent(migrant.number());
      migrant.set_island(target);
      migrant.set_migrant(true);
      Add(std::move(migrant), state);
      NoteScore(score, /*earned=*/false, books->mutable_islands(target), *books);
    }
  }
}

std::optional<double> AdaEvolve::ImprovementRate(const v1::AdaEvolveState& books,
                                                 int window) const {
  const auto& history = books.best_history();
  window = std::min(window, kMostHistory - 1);
  if (history.size() < window) return std::nullopt;
  int improved = 0;
  for (int i = history.size() - window; i < history.size(); ++i) {
    const double before = i > 0 ? history.Get(i - 1) : 0;
    improved += history.Get(i) > before ? 1 : 0;
  }
  return static_cast<double>(improved) / window;
}

void AdaEvolve::SpawnIsland(State* state) const {
  v1::AdaEvolveState* books = Books(state);
  if (books->islands_size() >= settings_.most_islands() || books->members_size() == 0 ||
      books->attempts() - books->last_spawn() < settings_.spawn_cooldown()) {
    return;
  }
  const auto rate = ImprovementRate(*books, settings_.spawn_cooldown());
  if (!rate.has_value() || *rate >= settings_.spawn_productivity()) return;
  books->set_last_spawn(books->attempts());
  const int island = books->islands_size();
  books->add_islands();
  v1::AttemptPlan each_once;
  std::vector<v1::PopulationMember> founders;
  for (const v1::PopulationMember* member : BestOf(*state)) {
    const int before = each_once.inspiration_ids_size();
    ShowAlso({member}, &each_once);
    if (each_once.inspiration_ids_size() > before) founders.push_back(*member);
  }
  if (founders.size() > static_cast<size_t>(std::max(1, settings_.migrants()))) {
    founders.resize(static_cast<size_t>(std::max(1, settings_.migrants())));
  }
  for (v1::PopulationMember& founder : founders) {
    const double score = Fitness(state->log(), founder);
    founder.set_parent(founder.number());
    founder.set_island(island);
    founder.set_migrant(true);
    Add(std::move(founder), state);
    NoteScore(score, /*earned=*/false, books->mutable_islands(island), *books);
  }
}

// ---------------------------------------------------------------- ideas

std::optional<v1::NoteState> AdaEvolve::WantedNote(const State& state) const {
  const v1::AdaEvolveState& books = state.adaevolve();
  if (settings_.ideas() == 0 || state.notes_size() > 0) return std::nullopt;
  const bool unused =
      std::any_of(books.ideas().begin(), books.ideas().end(),
                  [&](const auto& idea) { return idea.uses() < settings_.idea_uses(); });
  const auto rate = ImprovementRate(books, settings_.stagnation_window());
  // The latest ideas have had a whole window to prove themselves.
  if (unused || !rate.has_value() || *rate >= settings_.stagnation_gain() ||
      (books.ideas_asked_at() > 0 &&
       books.attempts() - books.ideas_asked_at() < settings_.stagnation_window())) {
    return std::nullopt;
  }
  v1::NoteState note;
  note.set_kind(v1::NoteState::PLANS);
  note.set_purpose("ideas");
  note.set_wanted(settings_.ideas());
  note.set_history(kHistoryOfIdeas);
  for (const v1::AdaEvolveState::Idea& idea : books.ideas()) note.add_known(idea.text());
  const MemberList best = BestOf(state);
  if (!best.empty()) note.add_program_ids(best.front()->candidate_id());
  return note;
}

void AdaEvolve::TakeNote(const v1::NoteState& /*note*/, const std::vector<std::string>& points,
                         State* state) const {
  v1::AdaEvolveState* books = Books(state);
  books->set_ideas_asked_at(books->attempts());
  if (points.empty()) return;
  // Keeps the latest ideas as a record of what was tried.
  while (books->ideas_size() > 2 * settings_.ideas()) {
    books->mutable_ideas()->DeleteSubrange(0, 1);
  }
  for (const std::string& point : points) books->add_ideas()->set_text(point);
}

}  // namespace ksearch
