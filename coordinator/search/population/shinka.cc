#include "coordinator/search/population/shinka.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/proposer/attempt_prompt.h"
#include "coordinator/search/archive/draw.h"
#include "coordinator/search/reply_form_setting.h"

namespace ksearch {
namespace {

constexpr double kSelection = 10;  // lambda of the sigmoid
constexpr double kLeastDeviation = 1e-6;
constexpr int kMostMembers = 1000;  // beyond, members that are not archived are forgotten
constexpr size_t kAncestorsShown = 2;
constexpr int kTips = 5;
constexpr int kProgramsOfNotes = 3;
constexpr int kHistoryOfNotes = 10;

struct Preset {
  const char* name;
  double patch_weight, whole_weight, cross_weight;
  bool show_results;
};

// shinka-stock: the defaults of the original; shinka-ksearch: what K-Search's comparison ran, only
// whole programs, with feedback in words.
constexpr Preset kPresets[] = {
    {"shinka-stock", 0.6, 0.3, 0.1, false},
    {"shinka-ksearch", 0, 1, 0, true},
};

// The wordings of a request for a whole program, drawn with equal chances.
constexpr int kStyles[] = {kStyleParent, kStyleNewAlgorithm, kStyleFromContext, kStyleStructure,
                           kStyleParameters};

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double Sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

// Working archived programs of an island.
MemberList ArchiveOf(const v1::AttemptSearchState& state, int island) {
  MemberList archive = MembersOf(state.shinka().archive(), state.shinka().members());
  archive.erase(std::remove_if(archive.begin(), archive.end(),
                               [&](const v1::PopulationMember* member) {
                                 return member->island() != island || !Works(state.log(), *member);
                               }),
                archive.end());
  return archive;
}

MemberList WorkingOf(const v1::AttemptSearchState& state, int island) {
  return MembersThat(state.shinka().members(), [&](const v1::PopulationMember& member) {
    return member.island() == island && Works(state.log(), member);
  });
}

MemberList AllWorking(const v1::AttemptSearchState& state) {
  return MembersThat(state.shinka().members(), [&](const v1::PopulationMember& member) {
    return Works(state.log(), member);
  });
}

}  // namespace

void Shinka::Complete(v1::ShinkaSettings* settings, SettingFaults* faults) {
  v1::ShinkaSettings* s = settings;
  if (s->preset().empty()) s->set_preset(kPresets[0].name);
  const auto* preset = std::find_if(std::begin(kPresets), std::end(kPresets),
                                    [&](const auto& known) { return s->preset() == known.name; });
  if (preset == std::end(kPresets)) {
    faults->Require(false, absl::StrCat("shinka.preset is \"", s->preset(),
                                        "\", must be shinka-stock or shinka-ksearch"));
    preset = &kPresets[0];
  }
  if (!s->has_islands()) s->set_islands(2);
  if (!s->has_archive()) s->set_archive(40);
  if (!s->has_elite()) s->set_elite(0.3);
  if (!s->has_archive_inspirations()) s->set_archive_inspirations(1);
  if (!s->has_top_inspirations()) s->set_top_inspirations(1);
  if (!s->has_patch_weight()) s->set_patch_weight(preset->patch_weight);
  if (!s->has_whole_weight()) s->set_whole_weight(preset->whole_weight);
  if (!s->has_cross_weight()) s->set_cross_weight(preset->cross_weight);
  if (!s->has_migration_interval()) s->set_migration_interval(10);
  if (!s->has_migration_rate()) s->set_migration_rate(0);
  if (!s->has_novelty_threshold()) s->set_novelty_threshold(0.99);
  if (!s->has_novelty_attempts()) s->set_novelty_attempts(3);
  if (!s->has_notes_interval()) s->set_notes_interval(10);
  if (!s->has_show_results()) s->set_show_results(preset->show_results);
  s->set_patch_form(CompleteReplyForm("shinka.patch_form", s->patch_form(),
                                      v1::REPLY_FORM_SEARCH_REPLACE, faults));
  faults->Range("shinka.islands", s->islands(), 1, 64);
  faults->Range("shinka.archive", s->archive(), 1, 1000);
  faults->Range("shinka.elite", s->elite(), 0, 1);
  faults->Range("shinka.archive_inspirations", s->archive_inspirations(), 0, 8);
  faults->Range("shinka.top_inspirations", s->top_inspirations(), 0, 8);
  faults->Range("shinka.patch_weight", s->patch_weight(), 0, 1e6);
  faults->Range("shinka.whole_weight", s->whole_weight(), 0, 1e6);
  faults->Range("shinka.cross_weight", s->cross_weight(), 0, 1e6);
  faults->Require(
      s->patch_weight() + s->whole_weight() > 0,
      "shinka.whole_weight and shinka.patch_weight are both 0: one of them must not be");
  faults->Range("shinka.migration_interval", s->migration_interval(), 1, 100000);
  faults->Range("shinka.migration_rate", s->migration_rate(), 0, 1);
  faults->Range("shinka.novelty_threshold", s->novelty_threshold(), 0, 1);
  faults->Range("shinka.novelty_attempts", s->novelty_attempts(), 1, 10);
  faults->Range("shinka.notes_interval", s->notes_interval(), 0, 1000);
}

// ---------------------------------------------------------------- what the next attempt is

int Shinka::DrawIsland(const State& state, Rng& rng) const {
  std::set<int> islands;
  for (const v1::PopulationMember* member : AllWorking(state)) islands.insert(member->island());
  if (islands.empty()) return -1;
  return DrawOne(std::vector<int>(islands.begin(), islands.end()), rng);
}

std::vector<double> Shinka::ParentWeights(const v1::EvaluationLogState& log,
                                          const MemberList& candidates) {
  std::vector<double> scores;
  for (const v1::PopulationMember* member : candidates) scores.push_back(Fitness(log, *member));
  const double median = Median(scores);
  std::vector<double> deviations;
  for (const double score : scores) deviations.push_back(std::abs(score - median));
  const double scale = std::max(Median(deviations), kLeastDeviation);
  std::vector<double> weights;
  for (size_t i = 0; i < scores.size(); ++i) {
    weights.push_back(Sigmoid(kSelection * (scores[i] - median) / scale) /
                      (1 + candidates[i]->children()));
  }
  return weights;
}

const v1::PopulationMember& Shinka::DrawParent(const State& state, int island, Rng& rng) const {
  const MemberList archive = ArchiveOf(state, island);
  if (!archive.empty()) return *archive[DrawWeighted(ParentWeights(state.log(), archive), rng)];
  // The island has no archived program: take the best of all if it is the island's, or any that
  // works.
  const MemberList own = WorkingOf(state, island);
  const v1::PopulationMember* best = Fittest(state.log(), AllWorking(state));
  return best != nullptr && best->island() == island ? *best : *DrawOne(own, rng);
}

MemberList Shinka::DrawInspirations(const State& state, const v1::PopulationMember& parent,
                                    Rng& rng) const {
  MemberList drawn;
  const auto wanted = static_cast<size_t>(settings_.archive_inspirations());
  const auto fresh = [&](const v1::PopulationMember* member) {
    return member->number() != parent.number() && !Contains(drawn, *member);
  };
  MemberList archive = ArchiveOf(state, parent.island());
  SortByFitness(state.log(), &archive);
  if (wanted > 0) {
    const v1::PopulationMember* best = Fittest(state.log(), AllWorking(state));
    if (best != nullptr && best->island() == parent.island() && fresh(best)) drawn.push_back(best);
    const size_t used = drawn.size() + 1;
    const auto elites = static_cast<size_t>(static_cast<double>(wanted) * settings_.elite());
    for (size_t i = 0; elites > 0 && i < std::min(elites + used, archive.size()); ++i) {
      if (drawn.size() < wanted && fresh(archive[i])) drawn.push_back(archive[i]);
    }
    MemberList left;
    std::copy_if(archive.begin(), archive.end(), std::back_inserter(left), fresh);
    const size_t missing = wanted - std::min(wanted, drawn.size());
    for (const v1::PopulationMember* member : DrawSome(std::move(left), missing, rng)) {
      drawn.push_back(member);
    }
  }
  const size_t all = drawn.size() + static_cast<size_t>(settings_.top_inspirations());
  for (const v1::PopulationMember* member : archive) {
    if (drawn.size() < all && fresh(member)) drawn.push_back(member);
  }
  SortByFitness(state.log(), &drawn);
  std::reverse(drawn.begin(), drawn.end());
  return drawn;
}

v1::AttemptPlan Shinka::PlanRepair(const State& state, Rng& rng) const {
  v1::AttemptPlan plan;
  plan.set_style(kStyleParent);
  const MemberList failed = MembersThat(state.shinka().members(), [](const auto&) { return true; });
  if (failed.empty()) {
    plan.set_kind(v1::AttemptPlan::SAMPLE);
    plan.set_operation("sample");
    return plan;
  }
  const v1::PopulationMember* one = DrawOne(failed, rng);
  plan = PlanFrom(state.log(), *one);
  plan.set_style(kStyleParent);
  plan.set_operation("fix");
  plan.set_island(one->island());
  MemberList ancestors;
  for (const auto* member = FindMember(state.shinka().members(), one->parent());
       member != nullptr && ancestors.size() < kAncestorsShown;
       member = FindMember(state.shinka().members(), member->parent())) {
    ancestors.push_back(member);
  }
  std::reverse(ancestors.begin(), ancestors.end());
  ShowAlso(ancestors, &plan);
  return plan;
}

v1::AttemptPlan Shinka::Plan(State* state, Rng& rng) const {
  const int island = DrawIsland(*state, rng);
  if (island < 0) return PlanRepair(*state, rng);
  const v1::PopulationMember& parent = DrawParent(*state, island, rng);
  MemberList inspirations = DrawInspirations(*state, parent, rng);
  v1::AttemptPlan plan = PlanFrom(state->log(), parent);
  plan.set_island(island);
  plan.set_style(kStyleParent);
  plan.set_hides_results(!settings_.show_results());
  const size_t way = DrawWeighted({settings_.patch_weight(), settings_.whole_weight(),
                                   inspirations.empty() ? 0 : settings_.cross_weight()},
                                  rng);
  if (way == 2) {
    plan.set_operation("cross");
    plan.set_kind(v1::AttemptPlan::CROSS);
    ShowAlso({DrawOne(inspirations, rng)}, &plan);
    // Both members are the same program: there is nothing to combine.
    if (plan.inspiration_ids_size() == 0) plan.set_kind(v1::AttemptPlan::REFINE);
    return plan;
  }
  plan.set_operation(way == 0 ? "patch" : "whole");
  if (way == 0) plan.set_reply_form(settings_.patch_form());
  if (way == 1) {
    plan.set_style(kStyles[static_cast<size_t>(rng.NextBelow(std::size(kStyles)))]);
  }
  ShowAlso(inspirations, &plan);
  const auto& tips = state->shinka().tips();
  if (!tips.empty()) {
    plan.set_direction(tips[static_cast<int>(rng.NextBelow(static_cast<uint64_t>(tips.size())))]);
  }
  return plan;
}

std::optional<Objection> Shinka::ObjectionTo(const v1::AttemptState& attempt,
                                             const State& state) const {
  // Only once every island has a program.
  std::set<int> islands;
  for (const v1::PopulationMember* member : AllWorking(state)) islands.insert(member->island());
  if (static_cast<int>(islands.size()) < settings_.islands()) return std::nullopt;
  const v1::PopulationMember* nearest = nullptr;
  Similarity likeness;
  for (const v1::PopulationMember& member : state.shinka().members()) {
    if (member.island() != attempt.plan().island()) continue;
    const Similarity found = embeddings_.Compare(attempt.features(), member.features());
    if (nearest == nullptr || found.value > likeness.value) {
      nearest = &member;
      likeness = found;
    }
  }
  if (nearest == nullptr || !(likeness.value > settings_.novelty_threshold())) return std::nullopt;
  Objection objection;
  const std::string name = nearest->candidate_id().substr(0, 12);
  objection.why =
      likeness.by_meaning
          ? absl::StrFormat(
                "its embedding has the cosine %.4f with that of program %s of its island",
                likeness.value, name)
          : absl::StrFormat("%.3f of it is in program %s of its island", likeness.value, name);
  objection.ends_attempt = attempt.replies() + 1 >= settings_.novelty_attempts();
  return objection;
}

// ---------------------------------------------------------------- the population

void Shinka::TakeGiven(const v1::ScreenedProgram& program, const v1::ProgramFeatures& features,
                       State* state, Rng& /*rng*/) const {
  if (!program.passed()) return Add(GivenMember(program, features, 0), state);
  for (int island = 0; island < settings_.islands(); ++island) {
    Add(GivenMember(program, features, island), state);
  }
}

void Shinka::TakeEnded(const EndedAttempt& ended, State* state, Rng& rng) const {
  v1::ShinkaState* books = state->mutable_shinka();
  books->set_generation(books->generation() + 1);
  if (ended.program != nullptr) {
    const v1::PopulationMember child = ChildOf(ended);
    const bool first = ended.program->passed() && AllWorking(*state).empty();
    if (v1::PopulationMember* parent = FindMember(child.parent(), books->mutable_members());
        parent != nullptr) {
      parent->set_children(parent->children() + 1);
    }
    Add(child, state);
    // All islands begin with the first program that works.
    for (int island = 0; first && island < settings_.islands(); ++island) {
      if (island == child.island()) continue;
      v1::PopulationMember copy = child;
      copy.set_island(island);
      Add(std::move(copy), state);
    }
    EnforceLimit(state);
  }
  if (books->generation() - books->last_migration() >= settings_.migration_interval()) {
    Migrate(state, rng);
  }
}

void Shinka::Add(v1::PopulationMember member, State* state) const {
  v1::ShinkaState* books = state->mutable_shinka();
  const v1::PopulationMember* added =
      AddMember(member, books->last_number(), books->mutable_members());
  books->set_last_number(added->number());
  if (!Works(state->log(), *added)) return;
  UpdateArchive(state->log(), books->members(), *added, settings_.archive(),
                books->mutable_archive());
}

void Shinka::EnforceLimit(State* state) const {
  v1::ShinkaState* books = state->mutable_shinka();
  const std::set<int> archived(books->archive().begin(), books->archive().end());
  for (int i = 0; i < books->members_size() && books->members_size() > kMostMembers;) {
    if (archived.count(books->members(i).number()) > 0) {
      ++i;
    } else {
      books->mutable_members()->DeleteSubrange(i, 1);
    }
  }
}

void Shinka::Migrate(State* state, Rng& rng) const {
  v1::ShinkaState* books = state->mutable_shinka();
  books->set_last_migration(books->generation());
  if (settings_.islands() < 2 || !(settings_.migration_rate() > 0)) return;
  std::set<int> moved;
  for (int island = 0; island < settings_.islands(); ++island) {
    const auto size = std::count_if(books->members().begin(), books->members().end(),
                                    [&](const auto& member) { return member.island() == island; });
    if (size <= 1) continue;
    // Working programs, except for given ones and the island's best.
    MemberList candidates;
    for (const v1::PopulationMember* member : WorkingOf(*state, island)) {
      if (member->round() > 0) candidates.push_back(member);
    }
    const v1::PopulationMember* best = Fittest(state->log(), candidates);
    candidates.erase(std::remove(candidates.begin(), candidates.end(), best), candidates.end());
    const auto count = static_cast<size_t>(
        std::max(1, static_cast<int>(static_cast<double>(size) * settings_.migration_rate())));
    for (const v1::PopulationMember* member : DrawSome(std::move(candidates), count, rng)) {
      // A migrant that has just come may be drawn; then nothing else moves instead.
      if (moved.count(member->number()) > 0) continue;
      int target = static_cast<int>(rng.NextBelow(static_cast<uint64_t>(settings_.islands() - 1)));
      if (target >= island) ++target;
      v1::PopulationMember* migrant = FindMember(member->number(), books->mutable_members());
      migrant->set_island(target);
      migrant->set_migrant(true);
      moved.insert(migrant->number());
    }
  }
}

// ---------------------------------------------------------------- notes

std::optional<v1::NoteState> Shinka::WantedNote(const State& state) const {
  const v1::ShinkaState& books = state.shinka();
  if (settings_.notes_interval() == 0 || state.notes_size() > 0 ||
      books.generation() - books.last_notes() < settings_.notes_interval()) {
    return std::nullopt;
  }
  v1::NoteState note;
  note.set_kind(v1::NoteState::LESSONS);
  note.set_purpose("notes");
  note.set_wanted(kTips);
  note.set_history(kHistoryOfNotes);
  *note.mutable_known() = books.tips();
  MemberList best = AllWorking(state);
  SortByFitness(state.log(), &best);
  v1::AttemptPlan shown;
  ShowAlso(best, &shown);  // each program once
  for (int i = 0; i < std::min(kProgramsOfNotes, shown.inspiration_ids_size()); ++i) {
    note.add_program_ids(shown.inspiration_ids(i));
  }
  return note;
}

void Shinka::TakeNote(const v1::NoteState& /*note*/, const std::vector<std::string>& points,
                      State* state) const {
  v1::ShinkaState* books = state->mutable_shinka();
  books->set_last_notes(books->generation());
  if (points.empty()) return;
  books->clear_tips();
  for (const std::string& point : points) books->add_tips(point);
}

}  // namespace ksearch
