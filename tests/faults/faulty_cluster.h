#ifndef KSEARCH_TESTS_FAULTS_FAULTY_CLUSTER_H_
#define KSEARCH_TESTS_FAULTS_FAULTY_CLUSTER_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/subprocess.h"
#include "tests/faults/faulty_network.h"

namespace ksearch {

// A real coordinator and two real workers, "w1" and "w2", on machines 0, 1 and 2 of a faulty
// network, with TLS and a token for each worker. The coordinator has many small programs to get
// compiled.
class FaultyCluster {
 public:
  static constexpr int kCoordinator = 0;
  static constexpr int kWorkers = 2;

  // REQUIRES: `network` has 1 + kWorkers machines. `jobs` should be more than the test takes: one
  // is done in some 0.1 s.
  static absl::StatusOr<std::unique_ptr<FaultyCluster>> Start(
      std::unique_ptr<FaultyNetwork> network, int jobs);
  // Kills all programs.
  ~FaultyCluster();

  FaultyNetwork& network() { return *network_; }

  absl::Status StartCoordinator();
  absl::Status StartWorker(int number);
  // SIGKILL; returns when it is gone.
  void Kill(const std::string& name);
  // SIGTERM; whether it ended by itself with exit code 0.
  bool Stop(const std::string& name);
  int Pid(const std::string& name) const;
  std::string Log(const std::string& name) const;

  // How many workers were given a job, or had a result recorded, after `since`. `*last`: when the
  // last of them first did.
  int WorkedSince(absl::Time since, absl::Time* last) const;

  // The state of the jobs so far.
  struct Account {
    std::set<std::string> recorded;  // have a result
    std::set<std::string> accepted;  // a worker began on them
    int executions = 0;              // how often a worker began on one
    int acknowledged = 0;            // results that workers were told are recorded
    std::vector<std::string> lost;   // acknowledged or set aside, and not there
    int doubled = 0;                 // acknowledged as recorded more than once
    int open = 0;                    // attempts that have not ended
  };
  Account TakeStock() const;

 private:
  FaultyCluster() = default;
  absl::Status WriteFiles();
  absl::Status AddJobs(int jobs) const;
  absl::Status StartProgram(int machine, const std::string& name, std::vector<std::string> argv);
  std::string Path(const std::string& name) const;

  std::string folder_;
  std::unique_ptr<FaultyNetwork> network_;
  std::map<std::string, std::unique_ptr<Subprocess>> programs_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAULTS_FAULTY_CLUSTER_H_
