#include "coordinator/search/population/puct.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "coordinator/proposer/attempt_prompt.h"
#include "coordinator/search/reply_form_setting.h"

namespace ksearch {
namespace {

constexpr double kLeastScale = 1e-6;

v1::PuctState::Visits* VisitsOf(int number, v1::PuctState* books) {
  for (v1::PuctState::Visits& visits : *books->mutable_visits()) {
    if (visits.number() == number) return &visits;
  }
  return nullptr;
}

// The number and those of all its ancestors that are in the buffer.
std::vector<int> Lineage(const Members& members, int number) {
  std::vector<int> lineage;
  for (const auto* member = FindMember(members, number); member != nullptr;
       member = FindMember(members, member->parent())) {
    lineage.push_back(member->number());
  }
  return lineage;
}

}  // namespace

void Puct::Complete(v1::PuctSettings* settings, SettingFaults* faults) {
  v1::PuctSettings* s = settings;
  if (!s->has_exploration()) s->set_exploration(1);
  if (!s->has_buffer()) s->set_buffer(1000);
  if (!s->has_children_kept()) s->set_children_kept(2);
  if (!s->has_block_lineages()) s->set_block_lineages(true);
  if (!s->has_history()) s->set_history(0);
  s->set_reply_form(
      CompleteReplyForm("puct.reply_form", s->reply_form(), v1::REPLY_FORM_WHOLE, faults));
  faults->Range("puct.exploration", s->exploration(), 0, 100);
  faults->Range("puct.buffer", s->buffer(), 2, 5000);
  faults->Range("puct.children_kept", s->children_kept(), 1, 100);
  faults->Range("puct.history", s->history(), 0, kKeptAttempts);
}

std::vector<double> Puct::Scores(const State& state) const {
  const v1::PuctState& books = state.puct();
  const auto count = static_cast<size_t>(books.members_size());
  std::vector<double> values;
  double low = INFINITY;
  double high = -INFINITY;
  for (const v1::PopulationMember& member : books.members()) {
    values.push_back(Fitness(state.log(), member));
    if (member.round() == 0) continue;  // given programs do not affect the range
    low = std::min(low, values.back());
    high = std::max(high, values.back());
  }
  if (low > high) {
    for (const double value : values) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  const double scale = std::max(high - low, kLeastScale);
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a] > values[b]; });
  std::vector<double> scores(count);
  const double all = static_cast<double>(count * (count + 1)) / 2;
  for (size_t rank = 0; rank < count; ++rank) {
    const size_t i = order[rank];
    const v1::PuctState::Visits& visits = books.visits(static_cast<int>(i));
    const double best = visits.visits() > 0 && visits.has_child() ? visits.best_child() : values[i];
    const double prior = static_cast<double>(count - rank) / all;
    scores[i] = best + settings_.exploration() * scale * prior *
                           std::sqrt(1.0 + books.total_visits()) / (1 + visits.visits());
  }
  return scores;
}

std::vector<bool> Puct::Blocked(const State& state) const {
  const Members& members = state.puct().members();
  std::vector<bool> blocked(static_cast<size_t>(members.size()), false);
  for (const v1::AttemptState& attempt : state.attempts()) {
    const int chosen = attempt.plan().parent();
    const std::vector<int> above = Lineage(members, chosen);
    for (int i = 0; i < members.size(); ++i) {
      const int number = members.Get(i).number();
      const std::vector<int> own = Lineage(members, number);
      if (std::find(above.begin(), above.end(), number) != above.end() ||
          std::find(own.begin(), own.end(), chosen) != own.end()) {
        blocked[static_cast<size_t>(i)] = true;
      }
    }
  }
  return blocked;
}

v1::AttemptPlan Puct::Plan(State* state, Rng& /*rng*/) const {
  v1::PuctState* books = state->mutable_puct();
  v1::AttemptPlan plan;
  const std::vector<double> scores = Scores(*state);
  std::vector<bool> blocked(scores.size(), false);
  if (settings_.block_lineages()) blocked = Blocked(*state);
  const bool all = std::all_of(blocked.begin(), blocked.end(), [](bool each) { return each; });
  const v1::PopulationMember* parent = nullptr;
  size_t chosen = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    const v1::PopulationMember& member = books->members(static_cast<int>(i));
    if (blocked[i] && !all) continue;
    const bool better = parent == nullptr || scores[i] > scores[chosen] ||
                        (scores[i] == scores[chosen] &&
                         Fitness(state->log(), member) > Fitness(state->log(), *parent));
    if (!better) continue;
    chosen = i;
    parent = &member;
  }
  if (parent == nullptr) {
    plan.set_kind(v1::AttemptPlan::SAMPLE);
    plan.set_operation("sample");
    return plan;
  }
  plan = PlanFrom(state->log(), *parent);
  plan.set_style(kStyleParent);
  plan.set_reply_form(settings_.reply_form());
  plan.set_history(settings_.history());
  plan.set_operation("expand");
  return plan;
}

void Puct::Add(const v1::PopulationMember& member, State* state) const {
  v1::PuctState* books = state->mutable_puct();
  const v1::PopulationMember* added =
      AddMember(member, books->last_number(), books->mutable_members());
  books->set_last_number(added->number());
  books->add_visits()->set_number(added->number());
}

void Puct::TakeGiven(const v1::ScreenedProgram& program, const v1::ProgramFeatures& features,
                     State* state, Rng& /*rng*/) const {
  Add(GivenMember(program, features, 0), state);
}

void Puct::TakeEnded(const EndedAttempt& ended, State* state, Rng& /*rng*/) const {
  v1::PuctState* books = state->mutable_puct();
  const int parent = ended.attempt.plan().parent();
  // A choice counts whatever its result.
  if (parent != 0) {
    for (const int number : Lineage(books->members(), parent)) {
      if (v1::PuctState::Visits* visits = VisitsOf(number, books); visits != nullptr) {
        visits->set_visits(visits->visits() + 1);
      }
    }
    books->set_total_visits(books->total_visits() + 1);
  }
  const bool works = ended.program != nullptr && ended.program->passed();
  if (works && parent != 0) {
    if (v1::PuctState::Visits* visits = VisitsOf(parent, books); visits != nullptr) {
      const double score = ended.program->score();
      visits->set_best_child(visits->has_child() ? std::max(visits->best_child(), score) : score);
      visits->set_has_child(true);
    }
  }
  if (ended.program == nullptr || ended.repeated) return;  // no program, or one already known
  // Failed programs are kept only while none works, to be repaired.
  const bool nothing =
      std::none_of(books->members().begin(), books->members().end(),
                   [&](const v1::PopulationMember& member) { return Works(state->log(), member); });
  if (!works && !nothing) return;
  if (works && nothing) {
    books->clear_members();
    books->clear_visits();
  }
  v1::PopulationMember child = ChildOf(ended);
  if (works && nothing) child.set_parent(0);
  Add(child, state);
  if (child.parent() != 0) KeepBestChildren(child.parent(), state);
  EnforceLimit(state);
}

void Puct::KeepBestChildren(int parent, State* state) const {
  v1::PuctState* books = state->mutable_puct();
  MemberList children = MembersThat(books->members(), [&](const v1::PopulationMember& member) {
    return member.parent() == parent;
  });
  SortByFitness(state->log(), &children);
  std::vector<int> removed;
  for (size_t i = static_cast<size_t>(settings_.children_kept()); i < children.size(); ++i) {
    removed.push_back(children[i]->number());
  }
  for (const int number : removed) Remove(number, books);
}

void Puct::EnforceLimit(State* state) const {
  v1::PuctState* books = state->mutable_puct();
  if (books->members_size() <= settings_.buffer()) return;
  MemberList made = MembersThat(
      books->members(), [](const v1::PopulationMember& member) { return member.round() > 0; });
  SortByFitness(state->log(), &made);
  if (!made.empty()) Remove(made.back()->number(), books);
}

void Puct::Remove(int number, v1::PuctState* books) const {
  RemoveMember(number, books->mutable_members());
  auto* visits = books->mutable_visits();
  visits->erase(std::remove_if(visits->begin(), visits->end(),
                               [&](const auto& each) { return each.number() == number; }),
                visits->end());
}

}  // namespace ksearch
