#ifndef KSEARCH_TESTS_INTEGRATION_LANDSCAPE_SEARCH_H_
#define KSEARCH_TESTS_INTEGRATION_LANDSCAPE_SEARCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/llm/model_server/landscape/landscape_player.h"
#include "coordinator/search/search_strategy.h"
#include "proto/config.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// The simulated measurement of a program of the landscape, without a worker: the latency of its
// choices, with the landscape's noise; the outcome of its defect. `repetition` distinguishes
// measurements. nullopt: it is not a program of the landscape.
std::optional<v1::JobResult> PlayedScreening(const Landscape& landscape, const v1::Task& task,
                                             const v1::Sources& sources, uint64_t seed,
                                             uint64_t repetition);

// One search by a real strategy, with its real prompts and parsers, in simulated time: a model that
// simulates the landscape answers, and measurements are simulated. A search of 60 rounds takes some
// hundredths of a second.
struct LandscapeSearch {
  // Best measured speed-up over the baseline after 1, 2, 3, ... evaluations.
  std::vector<double> best;
  // The true speed-up of the program that measured best; 1 if none passed.
  double speedup = 1;
  int evaluations = 0;
  int passed = 0;
  int calls = 0;
  int64_t tokens = 0;
  int unusable = 0;        // replies
  int rejected_edits = 0;  // scripts
  std::string error;       // why the search did not finish; empty: it did
};
// `config` has language, strategy, rounds, parallel and seed; settings of the strategy are
// completed.
LandscapeSearch SearchLandscape(const LandscapePlayer& player, const v1::Task& task,
                                const v1::RunConfig& config);

// Called with every request and its reply, for callers that want to see them.
using LandscapeListener = std::function<void(const AskModel&, const std::string& reply)>;
LandscapeSearch SearchLandscape(const LandscapePlayer& player, const v1::Task& task,
                                const v1::RunConfig& config, const LandscapeListener& listener);

// Called with the strategy after every step, and with the processor time that it took to fold one
// input and to write the requests that follow.
using LandscapeStepListener =
    std::function<void(const SearchStrategy&, absl::Duration processor_time)>;
LandscapeSearch SearchLandscape(const LandscapePlayer& player, const v1::Task& task,
                                const v1::RunConfig& config, const LandscapeListener& listener,
                                const LandscapeStepListener& step_listener);

}  // namespace ksearch

#endif  // KSEARCH_TESTS_INTEGRATION_LANDSCAPE_SEARCH_H_
