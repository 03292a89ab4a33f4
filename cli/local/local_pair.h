#ifndef KSEARCH_CLI_LOCAL_LOCAL_PAIR_H_
#define KSEARCH_CLI_LOCAL_LOCAL_PAIR_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/client.h"
#include "cli/local/daemon.h"
#include "cli/local/local_folder.h"
#include "cli/local/machine_part.h"
#include "cli/local/model_sources.h"

namespace ksearch {

// A coordinator and a worker on this machine for its user alone, as `ksearch up` starts and --local
// uses them. They keep running when the command ends. Every function takes the folder's lock first,
// so that two commands never start two pairs. Prints progress on stderr.
class LocalPair {
 public:
  // `binary_folder` contains ksearch-coordinator, ksearch-worker and the files that they need.
  LocalPair(LocalFolder folder, Environment environment, std::string binary_folder);

  struct UpOptions {
    // The worker must be ready; otherwise a worker that cannot start or is unhealthy is only a
    // finding.
    bool need_worker = true;
    // Restarts a running coordinator that lacks one of these providers, or has another address for
    // it than the environment, unless it has work or would lose another provider.
    std::set<std::string> providers;
    // Sinks of the coordinator's runs. A coordinator that runs with other sinks is restarted unless
    // it has work. Absent: those of its last start.
    std::optional<std::vector<v1::SinkConfig>> sinks;
  };
  struct State {
    std::optional<int> coordinator;  // process ids
    std::optional<int> worker;
    bool coordinator_started = false;  // by this call
    bool worker_started = false;
    bool answers = false;  // the coordinator responds
    bool ready = false;    // the worker accepts jobs
    int active_runs = 0;
    std::vector<std::string> providers;  // known to the coordinator
    // Providers of UpOptions that the coordinator lacks, with the reason why it was not restarted.
    std::map<std::string, std::string> not_taken;
    // What this machine can do and lacks, and which model providers are available.
    std::vector<LocalFinding> findings;
  };
  // Starts what is not running and waits until it is ready. FAILED_PRECONDITION: something on this
  // machine must be fixed, as the message says; UNAVAILABLE: a program does not respond. Both end
  // with the last lines of its log.
  absl::StatusOr<State> Up(const UpOptions& options);
  // Returns the state without starting anything.
  absl::StatusOr<State> Inspect();

  struct DownReport {
    bool worker_ran = false;
    bool worker_finished = true;  // within `patience`; otherwise it was killed
    bool coordinator_ran = false;
    bool coordinator_finished = true;
    int active_runs = 0;  // they continue with the next Up
  };
  // Lets the worker finish its evaluations for up to `patience`, then ends the coordinator.
  absl::StatusOr<DownReport> Down(absl::Duration patience);

  const LocalFolder& folder() const { return folder_; }

 private:
  // Reads the file of the last start. Empty if it cannot be read; the next start writes a new one.
  v1::CoordinatorConfig LastConfig() const;
  absl::Status StartCoordinator(const UpOptions& options, State* state);
  // Stops a coordinator that lacks one of the providers or has other sinks, if that loses nothing.
  absl::Status RetireOutdated(const UpOptions& options, State* state);
  absl::Status StartWorker(State* state);
  // Determines by trial what a worker can do here and adds to the findings. FAILED_PRECONDITION:
  // nothing.
  absl::StatusOr<v1::WorkerConfig> TryParts(State* state);
  absl::StatusOr<SelfTestReport> TryPart(const MachinePart& part);
  absl::Status AwaitAnswer();
  absl::Status AwaitReady();
  // Fills in the state of a coordinator that responds.
  void Describe(State* state);
  void AddModelFindings(State* state);
  // Appends the last lines of the log to `status`.
  absl::Status WithLog(const absl::Status& status, const Daemon& daemon) const;

  const LocalFolder folder_;
  const Environment environment_;
  const std::string binary_folder_;
  const std::vector<ModelSource> sources_;
  Client client_;
  Daemon coordinator_;
  Daemon worker_;
};

}  // namespace ksearch

#endif  // KSEARCH_CLI_LOCAL_LOCAL_PAIR_H_
