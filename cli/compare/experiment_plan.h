#ifndef KSEARCH_CLI_COMPARE_EXPERIMENT_PLAN_H_
#define KSEARCH_CLI_COMPARE_EXPERIMENT_PLAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/experiment.pb.h"

namespace ksearch {

// One run of an experiment, ready to be started.
struct PlannedTrial {
  std::string task;
  int arm = 0;  // index into Experiment.arms
  uint64_t seed = 0;
  v1::RunConfig config;    // including `trial`
  std::string request_id;  // derived from experiment, task, arm and seed
};

// Reads an experiment from a file of at most 1 MiB and fills in its defaults. INVALID_ARGUMENT
// lists all faults, each with its field: missing values, values out of range, and settings of an
// arm that must be equal for all arms.
absl::StatusOr<v1::Experiment> ReadExperiment(const std::string& path);
absl::StatusOr<v1::Experiment> ParseExperiment(absl::string_view text, absl::string_view name);

// The programs that Experiment.seed_solutions names: the runs of each task begin with them.
using SeedsByTask = std::map<std::string, std::vector<v1::SeedProgram>>;

// Returns the runs of a complete experiment. All arms of one task and seed are adjacent, so that
// runs that are compared run at the same time.
std::vector<PlannedTrial> TrialsOf(const v1::Experiment& experiment, const SeedsByTask& seeds = {});

// Names of the fields of RunConfig in which arms may differ without an explicit setting: the
// strategy, and the settings of strategies.
std::vector<std::string> StrategyFields();

// Returns the fields in which two configurations differ, except those that differ between any two
// runs or that the coordinator fills in; empty if there are none.
std::vector<std::string> DifferingFields(const v1::RunConfig& planned,
                                         const v1::RunConfig& recorded);

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMPARE_EXPERIMENT_PLAN_H_
