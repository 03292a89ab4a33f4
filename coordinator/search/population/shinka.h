#ifndef KSEARCH_COORDINATOR_SEARCH_POPULATION_SHINKA_H_
#define KSEARCH_COORDINATOR_SEARCH_POPULATION_SHINKA_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/search/archive/known_embeddings.h"
#include "coordinator/search/archive/members.h"
#include "coordinator/search/attempts/attempt_policy.h"
#include "coordinator/search/setting_faults.h"
#include "proto/config.pb.h"

namespace ksearch {

// Strategy shinka, after ShinkaEvolve (shinka/database, shinka/core): islands that all start with
// the same program, one archive of programs that work, parents drawn by score and by a small number
// of children, three ways of changing a program, a novelty test before evaluation, notes on
// lessons, and repairs while no program works. docs/strategies.md lists what differs from it and
// why. Models are chosen as in all strategies (RunConfig.model_choice, whose UCB is
// ShinkaEvolve's).
class Shinka : public AttemptPolicy {
 public:
  // `settings` must be complete. `shelf` contains the embeddings; null: there are none.
  explicit Shinka(const v1::ShinkaSettings& settings,
                  std::shared_ptr<const ProgramShelf> shelf = nullptr)
      : settings_(settings), embeddings_(std::move(shelf)) {}

  static void Complete(v1::ShinkaSettings* settings, SettingFaults* faults);

  bool shows_results() const override { return settings_.show_results(); }
  bool sketches() const override { return true; }
  bool embeds() const override { return settings_.embeddings(); }
  v1::AttemptPlan Plan(State* state, Rng& rng) const override;
  void TakeGiven(const v1::ScreenedProgram& program, const v1::ProgramFeatures& features,
                 State* state, Rng& rng) const override;
  void TakeEnded(const EndedAttempt& ended, State* state, Rng& rng) const override;
  std::optional<Objection> ObjectionTo(const v1::AttemptState& attempt,
                                       const State& state) const override;
  std::optional<v1::NoteState> WantedNote(const State& state) const override;
  void TakeNote(const v1::NoteState& note, const std::vector<std::string>& points,
                State* state) const override;

  // For tests, in the order in which a plan calls them. -1: no island has a program that works.
  int DrawIsland(const State& state, Rng& rng) const;
  // sigmoid(10 (score - median) / median absolute deviation) / (1 + children), of `candidates`.
  static std::vector<double> ParentWeights(const v1::EvaluationLogState& log,
                                           const MemberList& candidates);
  const v1::PopulationMember& DrawParent(const State& state, int island, Rng& rng) const;
  // The worst first.
  MemberList DrawInspirations(const State& state, const v1::PopulationMember& parent,
                              Rng& rng) const;
  void Migrate(State* state, Rng& rng) const;

 private:
  // While no program works: a program to repair, with its ancestors.
  v1::AttemptPlan PlanRepair(const State& state, Rng& rng) const;
  void Add(v1::PopulationMember member, State* state) const;
  void EnforceLimit(State* state) const;

  const v1::ShinkaSettings settings_;
  mutable KnownEmbeddings embeddings_;  // caches what it has read
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_POPULATION_SHINKA_H_
