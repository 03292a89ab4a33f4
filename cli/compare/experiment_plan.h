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
  v1::RunConfig config;    // with `trial`
  std::string request_id;  // follows from experiment, task, arm and seed
};

// The experiment in a file of at most 1 MiB, with its defaults filled in. INVALID_ARGUMENT lists
// all faults, each with its field: what is missing or out of range, and what an arm sets that must
// be equal for all arms.
absl::StatusOr<v1::Experiment> ReadExperiment(const std::string& path);
absl::StatusOr<v1::Experiment> ParseExperiment(absl::string_view text, absl::string_view name);

// What Experiment.seed_solutions names, read: the programs that the runs of a task begin with.
using SeedsByTask = std::map<std::string, std::vector<v1::SeedProgram>>;

// The runs of a complete experiment. All arms of one task and seed stand side by side, so that what
// runs at the same time is what is compared.
std::vector<PlannedTrial> TrialsOf(const v1::Experiment& experiment, const SeedsByTask& seeds = {});

// Names of the fields of RunConfig in which arms may differ without being told to: the strategy,
// and the settings of strategies.
std::vector<std::string> StrategyFields();

// In which fields two configurations differ, beside those that every run has of its own or the
// coordinator finds out; empty: in none.
std::vector<std::string> DifferingFields(const v1::RunConfig& planned,
                                         const v1::RunConfig& recorded);

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMPARE_EXPERIMENT_PLAN_H_
