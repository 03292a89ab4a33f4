#ifndef KSEARCH_CLI_COMPARE_EXPERIMENT_RUNNER_H_
#define KSEARCH_CLI_COMPARE_EXPERIMENT_RUNNER_H_

#include <functional>
#include <future>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/client.h"
#include "cli/compare/experiment_cost.h"
#include "cli/compare/experiment_plan.h"
#include "cli/compare/trial_summary.h"

namespace ksearch {

// Carries out an experiment on a coordinator. Stores nothing: its runs and the repeated
// measurements are the coordinator's, named after experiment, task, arm and seed. If it is killed,
// a new one continues. Used by one thread.
class ExperimentRunner {
 public:
  using Say = std::function<void(const std::string& line)>;  // prints a line of progress

  // Borrows client and experiment.
  ExperimentRunner(Client* client, const v1::Experiment& experiment, SeedsByTask seeds, Say say);

  // Returns the estimate for each arm on each task. INVALID_ARGUMENT and other refusals of the
  // coordinator name the arm and the field. Spends nothing.
  absl::StatusOr<std::vector<ArmEstimate>> Estimate();
  // Checks by the estimates that existing runs have the settings that the experiment has now.
  // INVALID_ARGUMENT names arm and field.
  absl::Status CheckRecorded(const std::vector<ArmEstimate>& estimates);
  // Starts missing runs, resumes stopped or failed ones, waits for all of them, measures again, and
  // returns the summary of each run. If the coordinator becomes unreachable, waits until it is
  // back.
  absl::StatusOr<std::vector<v1::TrialSummary>> Run();
  // Number of runs that failed, or that somebody stopped while this object waited.
  int unfinished() const { return unfinished_; }

 private:
  using Place = std::tuple<std::string, std::string, uint64_t>;  // task, arm, seed

  absl::StatusOr<std::map<Place, v1::RunStatus>> Recorded();
  absl::StatusOr<v1::TrialSummary> Conclude(const v1::RunStatus& run);
  absl::StatusOr<std::vector<v1::RunEvent>> EventsOf(const std::string& run_id);
  // Returns the verdict of one session on the candidate, from the record if it exists.
  absl::StatusOr<SessionVerdict> Session(const v1::RunStatus& run, const std::string& candidate_id,
                                         int session);
  // Resumes a run that stopped or failed, once. Returns false if it cannot be resumed.
  absl::StatusOr<bool> ResumeTrial(const v1::RunStatus& run);
  absl::Status Start(const PlannedTrial& trial);
  void SayProgress(size_t planned, size_t ended, size_t active, size_t concluded);

  Client* const client_;
  const v1::Experiment& experiment_;
  const std::vector<PlannedTrial> trials_;
  const Say say_;
  std::set<std::string> resumed_;  // run ids
  std::string said_;
  int unfinished_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMPARE_EXPERIMENT_RUNNER_H_
