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
// recent gains, each exploring the more the less it gains; a ring of migration; another island when
// little improves; new ideas from a model when nothing does; a few repairs of what fails.
// docs/strategies.md lists what differs from it and why.
class AdaEvolve : public AttemptPolicy {
 public:
  // `settings`: completed ones.
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
  // `earned`: by an attempt of the island; else it came from another one.
  void NoteScore(double score, bool earned, v1::AdaEvolveState::Island* island,
                 const v1::AdaEvolveState& books) const;
  void Migrate(State* state) const;
  // Opens an island with the best programs if little has improved lately.
  void SpawnIsland(State* state) const;
  // Share of the last `window` attempts that improved the run's best; nullopt: there were fewer.
  std::optional<double> ImprovementRate(const v1::AdaEvolveState& books, int window) const;
  v1::AdaEvolveState* Books(State* state) const;

  const v1::AdaEvolveSettings settings_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_POPULATION_ADAEVOLVE_H_
