#ifndef KSEARCH_COORDINATOR_SEARCH_POPULATION_PUCT_H_
#define KSEARCH_COORDINATOR_SEARCH_POPULATION_PUCT_H_

#include <vector>

#include "coordinator/search/archive/members.h"
#include "coordinator/search/attempts/attempt_policy.h"
#include "coordinator/search/setting_faults.h"
#include "proto/config.pb.h"

namespace ksearch {

// Strategy puct: the choice of the program to continue from, after TTT-Discover (PUCTSampler of
// test-time-training/discover). Of each program in the buffer
//   score = Q + c * scale * P * sqrt(1 + T) / (1 + n)
// with Q the best child's score, or its own before it has one; P a prior that falls linearly with
// the rank; scale the range of scores; n how often it or what descends from it was chosen, T how
// often anything was. The highest score is taken.
class Puct : public AttemptPolicy {
 public:
  // `settings` must be complete.
  explicit Puct(const v1::PuctSettings& settings) : settings_(settings) {}

  static void Complete(v1::PuctSettings* settings, SettingFaults* faults);

  bool shows_results() const override { return true; }
  v1::AttemptPlan Plan(State* state, Rng& rng) const override;
  void TakeGiven(const v1::ScreenedProgram& program, const v1::ProgramFeatures& features,
                 State* state, Rng& rng) const override;
  void TakeEnded(const EndedAttempt& ended, State* state, Rng& rng) const override;

  // For tests: the formula, in the order of the members.
  std::vector<double> Scores(const State& state) const;

 private:
  void Add(const v1::PopulationMember& member, State* state) const;
  // The programs chosen by attempts in progress, with their ancestors and descendants.
  std::vector<bool> Blocked(const State& state) const;
  void KeepBestChildren(int parent, State* state) const;
  void EnforceLimit(State* state) const;
  void Remove(int number, v1::PuctState* books) const;

  const v1::PuctSettings settings_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_POPULATION_PUCT_H_
