#ifndef KSEARCH_TESTS_COORDINATOR_SEARCH_POPULATION_POPULATION_FIXTURE_H_
#define KSEARCH_TESTS_COORDINATOR_SEARCH_POPULATION_POPULATION_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/search/archive/program_features.h"
#include "coordinator/search/attempts/attempt_policy.h"
#include "coordinator/search/setting_faults.h"
#include "tests/common/repetitions.h"
#include "tests/coordinator/search/archive/chi_square.h"
#include "tests/coordinator/search/attempts/attempt_driver.h"

namespace ksearch {

// Completes the settings with their defaults; an error in them fails the test.
template <typename Policy, typename Settings>
Settings Completed(Settings settings) {
  SettingFaults faults;
  Policy::Complete(&settings, &faults);
  EXPECT_THAT(faults.all(), testing::IsEmpty());
  return settings;
}

template <typename Policy, typename Settings>
std::vector<std::string> FaultsOf(Settings settings) {
  SettingFaults faults;
  Policy::Complete(&settings, &faults);
  return faults.all();
}

// The features of a program whose text is specific to `id`.
inline v1::ProgramFeatures FeaturesNamed(const std::string& id, int lines = 0) {
  v1::Sources sources;
  std::string text = absl::StrCat("// ", id, "\n");
  for (int i = 0; i < lines; ++i) absl::StrAppend(&text, "f(", i, ", ", id, ");\n");
  sources.add_files()->set_content(text);
  return FeaturesOf(sources, true);
}

// Adds a screened program to the log; a score of 0 means that it failed.
inline const v1::ScreenedProgram& AddScreened(const std::string& id, double score,
                                              v1::AttemptSearchState* state) {
  v1::ScreenedProgram& program = (*state->mutable_log()->mutable_screened())[id];
  program.set_candidate_id(id);
  program.set_passed(score > 0);
  program.set_score(score);
  program.set_verdict(score > 0 ? "score" : "incorrect");
  return program;
}

// Ends an attempt of `plan` with the program `id`, which is screened with this score.
inline void EndWith(const AttemptPolicy& policy, const v1::AttemptPlan& plan, const std::string& id,
                    double score, v1::AttemptSearchState* state, Rng& rng, int lines = 0) {
  v1::AttemptState attempt;
  attempt.set_round(state->rounds_started() + 1);
  state->set_rounds_started(attempt.round());
  *attempt.mutable_plan() = plan;
  attempt.set_candidate_id(id);
  attempt.set_idea(absl::StrCat("idea of ", id));
  *attempt.mutable_features() = FeaturesNamed(id, lines);
  const v1::ScreenedProgram& program = AddScreened(id, score, state);
  state->set_rounds_done(state->rounds_done() + 1);
  policy.TakeEnded({attempt, &program, false}, state, rng);
}

// Plans and ends attempts one after another with random scores; a third of them fail.
inline void Evolve(const AttemptPolicy& policy, int attempts, v1::AttemptSearchState* state,
                   Rng& rng) {
  for (int i = 0; i < attempts; ++i) {
    v1::AttemptPlan plan = policy.Plan(state, rng);
    const double score = rng.NextBelow(3) == 0 ? 0 : 0.5 + rng.NextDouble();
    EndWith(policy, plan, absl::StrCat("p", state->rounds_started() + 1), score, state, rng,
            static_cast<int>(rng.NextBelow(40)));
  }
}

// Counts how often `draw` returns each of `ids` in 100,000 draws, or 20,000 under sanitizers.
template <typename Draw>
std::vector<int> Frequencies(const std::vector<std::string>& ids, Draw draw) {
  constexpr int kDraws = Repetitions(100'000, 20'000);
  std::map<std::string, int> counts;
  for (int i = 0; i < kDraws; ++i) ++counts[draw()];
  std::vector<int> ordered;
  int known = 0;
  for (const std::string& id : ids) {
    ordered.push_back(counts[id]);
    known += counts[id];
  }
  EXPECT_EQ(known, kDraws) << "others were drawn, too";
  return ordered;
}

}  // namespace ksearch

#endif  // KSEARCH_TESTS_COORDINATOR_SEARCH_POPULATION_POPULATION_FIXTURE_H_
