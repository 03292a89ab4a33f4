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

// A coordinator and a worker on this machine, for its user alone: what `ksearch up` starts and
// --local uses. They keep running when the command ends. Every function takes the folder's lock
// first, so that two commands never start two pairs. Progress goes to stderr.
class LocalPair {
 public:
  // `binary_folder` has ksearch-coordinator, ksearch-worker and what that needs.
  LocalPair(LocalFolder folder, Environment environment, std::string binary_folder);

  struct UpOptions {
    // The worker must be ready; otherwise one that cannot start or is ill is a finding only.
    bool need_worker = true;
    // A coordinator that runs without one of these providers, or with another address of it, though
    // the environment has it by now, is restarted, unless it has work or would lose another.
    std::set<std::string> providers;
    // What the coordinator's runs are written for as well; a coordinator that runs with others is
    // restarted, unless it has work. Absent: as with its last start.
    std::optional<std::vector<v1::SinkConfig>> sinks;
  };
  struct State {
    std::optional<int> coordinator;  // process ids
    std::optional<int> worker;
    bool coordinator_started = false;  // by this call
    bool worker_started = false;
    bool answers = false;  // the coordinator does
    bool ready = false;    // the worker takes jobs
    int active_runs = 0;
    std::vector<std::string> providers;  // that the coordinator knows
    // Providers of UpOptions that the coordinator lacks; the message says why that is left so.
    std::map<std::string, std::string> not_taken;
    // What this machine can do and what it lacks; which model providers there are.
    std::vector<LocalFinding> findings;
  };
  // Starts what does not run and waits until it can be used. FAILED_PRECONDITION: something here
  // must be fixed, the message says what; UNAVAILABLE: a program does not answer; both end with
  // the last lines of its log.
  absl::StatusOr<State> Up(const UpOptions& options);
  // Starts nothing.
  absl::StatusOr<State> Look();

  struct DownReport {
    bool worker_ran = false;
    bool worker_finished = true;  // by itself, within `patience`; else it was killed
    bool coordinator_ran = false;
    bool coordinator_finished = true;
    int active_runs = 0;  // continue with the next Up
  };
  // The worker finishes the evaluations it has, for up to `patience`; then the coordinator ends.
  absl::StatusOr<DownReport> Down(absl::Duration patience);

  const LocalFolder& folder() const { return folder_; }

 private:
  // Read from its file; empty if that cannot be read: a start writes a new one.
  v1::CoordinatorConfig LastConfig() const;
  absl::Status StartCoordinator(const UpOptions& options, State* state);
  // Stops one that lacks one of the providers, or has other sinks, if that harms nobody.
  absl::Status RetireOutdated(const UpOptions& options, State* state);
  absl::Status StartWorker(State* state);
  // What a worker can do here, by trying; adds to the findings. FAILED_PRECONDITION: nothing.
  absl::StatusOr<v1::WorkerConfig> TryParts(State* state);
  absl::StatusOr<SelfTestReport> TryPart(const MachinePart& part);
  absl::Status AwaitAnswer();
  absl::Status AwaitReady();
  // Asks a coordinator that answers.
  void Describe(State* state);
  void AddModelFindings(State* state);
  // `status` with the last lines of the log.
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
