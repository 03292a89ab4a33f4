#ifndef KSEARCH_COORDINATOR_SEARCH_POPULATION_ADAEVOLVE_H_
#define KSEARCH_COORDINATOR_SEARCH_POPULATION_ADAEVOLVE_H_

#include <optional>
#include <string>
#include <vector>

#include "coordinator/search/archive/members.h"
#include "coordinator/search/attempts/attempt_policy.h"
#include "coordinator/search/setting_faults.h"
#include "proto/config.pb.h"

namespace ksearch {

// Strategy adaevolve, after AdaEvolve (skydiscover/search/adaevolve): islands chosen by their
// recent gains, where an island explores more the less it gains; migration around a ring; a new
// island when there is little improvement; new ideas from a model when there is none; a few repairs
// of failed programs. docs/strategies.md lists the differences and the reasons.
class AdaEvolve : public AttemptPolicy {
 public:
  // `settings` must be complete.
  explicit AdaEvolve(const v1::AdaEvolveSettings& settings) : settings_(settings) {}

  static void Complete(v1::AdaEvolveSettings* settings, SettingFaults* faults);

  bool shows_results() const override { return true; }
  v1::AttemptPlan Plan(State* state, Rng& rng) const override;
  void TakeGiven(const v1::ScreenedProgram& program, const v1::ProgramFeatures& features,
                 State* state, Rng& rng) const override;
  void TakeEnded(const EndedAttempt& ended, State* state, Rng& rng) const override;
  std::optional<v1::NoteState> WantedNote(const State& state) const override;
  void TakeNote(const v1::NoteState& note, const std::vector<std::string>& points,
                State* state) const override;

  // For tests: low + (high - low) / (1 + sqrt(gains)).
  double Intensity(const v1::AdaEvolveState::Island& island) const;
  int ChooseIsland(const State& state, Rng& rng) const;
  const v1::PopulationMember& DrawParent(const State& state, int island, Rng& rng) const;

 private:
  void Add(v1::PopulationMember member, State* state) const;
  void AddToAllIslands(const v1::PopulationMember& member, State* state) const;
  // `earned`: the score comes from an attempt of the island, not from another island.
  void NoteScore(double score, bool earned, v1::AdaEvolveState::Island* island,
                 const v1::AdaEvolveState& books) const;
  void Migrate(State* state) const;
  // Opens an island with the best programs if little has improved lately.
  void SpawnIsland(State* state) const;
  // The share of the last `window` attempts that improved the run's best; nullopt if there were
  // fewer attempts.
  std::optional<double> ImprovementRate(const v1::AdaEvolveState& books, int window) const;
  v1::AdaEvolveState* Books(State* state) const;

  const v1::AdaEvolveSettings settings_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_POPULATION_ADAEVOLVE_H_
