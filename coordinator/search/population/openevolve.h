#ifndef KSEARCH_COORDINATOR_SEARCH_POPULATION_OPENEVOLVE_H_
#define KSEARCH_COORDINATOR_SEARCH_POPULATION_OPENEVOLVE_H_

#include <string>

#include "coordinator/search/archive/members.h"
#include "coordinator/search/attempts/attempt_policy.h"
#include "coordinator/search/setting_faults.h"
#include "proto/config.pb.h"

namespace ksearch {

// Strategy openevolve, after OpenEvolve 0.3.2 (openevolve/database.py): islands, each with a map of
// cells by size and diversity, in which the fittest program owns its cell; one archive of the
// fittest programs; parents drawn from the island, from the archive, or by fitness; migration
// around a ring. docs/strategies.md lists the differences and the reasons.
class OpenEvolve : public AttemptPolicy {
 public:
  // Bins of each of the two features.
  static constexpr int kBins = 10;
  static constexpr int kReferencePrograms = 20;

  // `settings` must be complete.
  explicit OpenEvolve(const v1::OpenEvolveSettings& settings) : settings_(settings) {}

  static void Complete(v1::OpenEvolveSettings* settings, SettingFaults* faults);

  bool shows_results() const override { return true; }
  v1::AttemptPlan Plan(State* state, Rng& rng) const override;
  void TakeGiven(const v1::ScreenedProgram& program, const v1::ProgramFeatures& features,
                 State* state, Rng& rng) const override;
  void TakeEnded(const EndedAttempt& ended, State* state, Rng& rng) const override;

  // For tests, in the order in which a plan calls them.
  int TargetIsland(const State& state) const;
  // Null if there are no programs. `operation` says how the parent was drawn.
  const v1::PopulationMember* DrawParent(const State& state, int island, Rng& rng,
                                         std::string* operation) const;
  // `island` is the one that the attempt is for.
  MemberList DrawInspirations(State* state, const v1::PopulationMember& parent, int island,
                              Rng& rng) const;
  // Adds a program to an island; updates its cell and the archive, and enforces the population
  // limit.
  void Insert(v1::PopulationMember newcomer, int island, State* state, Rng& rng) const;
  void Migrate(State* state, Rng& rng) const;

 private:
  struct Bins {
    int complexity = 0;
    int diversity = 0;
  };
  // The best programs of an island, those in cells near the parent's, and any.
  MemberList DrawNear(State* state, const v1::PopulationMember& parent, int island, Rng& rng) const;
  // Widens the ranges that the bins divide. `member` is one of state's.
  Bins BinsOf(v1::PopulationMember* member, State* state, Rng& rng) const;
  double DiversityOf(v1::PopulationMember* member, v1::OpenEvolveState* books, Rng& rng) const;
  void UpdateReferences(v1::OpenEvolveState* books, Rng& rng) const;
  void EnforceLimit(int newcomer, State* state) const;
  void Remove(int number, v1::OpenEvolveState* books) const;
  v1::OpenEvolveState* Books(State* state) const;

  const v1::OpenEvolveSettings settings_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_POPULATION_OPENEVOLVE_H_
