#ifndef KSEARCH_COORDINATOR_SEARCH_POPULATION_EVOENGINEER_H_
#define KSEARCH_COORDINATOR_SEARCH_POPULATION_EVOENGINEER_H_

#include "coordinator/search/archive/members.h"
#include "coordinator/search/attempts/attempt_policy.h"
#include "coordinator/search/setting_faults.h"
#include "proto/config.pb.h"

namespace ksearch {

// Strategy evoengineer, after EvoEngineer (arXiv 2510.03760): a population of a few programs, a
// barrier after each generation, and three amounts of information. "free" shows only the best
// program, "insight" also its measurements and ideas of other programs, and "full" also combines or
// changes programs drawn by rank. Failed programs are never shown.
class EvoEngineer : public AttemptPolicy {
 public:
  // `settings` must be complete.
  explicit EvoEngineer(const v1::EvoEngineerSettings& settings)
      : settings_(settings),
        full_(settings.preset() == "full"),
        shows_results_(settings.preset() != "free") {}

  static void Complete(v1::EvoEngineerSettings* settings, SettingFaults* faults);

  bool shows_results() const override { return shows_results_; }
  bool MayBegin(const State& state) const override;
  v1::AttemptPlan Plan(State* state, Rng& rng) const override;
  void TakeGiven(const v1::ScreenedProgram& program, const v1::ProgramFeatures& features,
                 State* state, Rng& rng) const override;
  void TakeEnded(const EndedAttempt& ended, State* state, Rng& rng) const override;

  // For tests. Among N programs that work, one of rank r is drawn with weight 1 / (r + N).
  static const v1::PopulationMember& DrawByRank(const MemberList& ranked, Rng& rng);

 private:
  int GenerationSize(const v1::EvoEngineerState& books) const;
  void EndGeneration(State* state) const;

  const v1::EvoEngineerSettings settings_;
  const bool full_;
  const bool shows_results_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_POPULATION_EVOENGINEER_H_
