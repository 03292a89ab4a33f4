#ifndef KSEARCH_TESTS_INTEGRATION_LOCAL_CLUSTER_H_
#define KSEARCH_TESTS_INTEGRATION_LOCAL_CLUSTER_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/subprocess.h"

namespace ksearch {

// The real programs on this machine, in a folder of their own under /tmp: model server,
// coordinator, workers, command line. Ports are picked by the system. The destructor kills
// everything and, unless the test failed, removes the folder.
class LocalCluster {
 public:
  LocalCluster();
  ~LocalCluster();

  const std::string& folder() const { return folder_; }
  std::string BinaryPath(const std::string& name) const { return folder_ + "/bin/" + name; }
  // A path in the source tree.
  static std::string SourcePath(const std::string& relative);

  // Workers started from now on lock a device of this cluster's own, and so wait for no other
  // worker of this machine: for tests that look at outcomes more than at times.
  void UseOwnDevice();

  // The same with the device of another cluster, for tests with two of them.
  void UseDeviceOf(const LocalCluster& other);

  // Appended to the configuration of workers started from now on.
  void AddToWorkerConfig(const std::string& text);

  // Uses the caller's model server ("http://127.0.0.1:PORT/v1") instead of StartModelServer.
  void UseModelServer(const std::string& url) { model_url_ = url; }
  // The URL of the model server in use.
  const std::string& model_url() const { return model_url_; }

  // Each waits until the program is ready; a failure fails the test with its log.
  // `file`: a cassette, or a landscape (*.landscape.textproto).
  void StartModelServer(const std::string& file, const std::vector<std::string>& args = {});
  // `extra_config` is appended to the textproto. Keeps its address across restarts.
  void StartCoordinator(const std::string& extra_config = "", const std::string& task_dir = "");
  // With another state folder, and --exit-when-waiting. Does not wait until it is ready.
  void StartCoordinatorUntilItWaits(const std::string& state_dir);
  // For programs started from now on.
  void SetEnvironment(const std::string& name, const std::string& value);
  void StartWorker(const std::string& name, const std::vector<std::string>& args = {});
  // Any program, under this name from now on. Does not wait.
  void Start(const std::string& name, std::vector<std::string> argv);

  // SIGKILL, and waits until it is gone.
  void Kill(const std::string& name);
  // SIGTERM, and waits; returns the exit code, or -1 if it had to be killed after 30 s.
  int Stop(const std::string& name);
  // Waits until it ends by itself, with 0; what it has printed since it was started.
  std::string WaitForEnd(const std::string& name);
  bool Running(const std::string& name);
  std::string Log(const std::string& name) const;

  // The configuration of workers started from now on.
  const std::string& worker_config() const { return worker_config_; }

  // Runs `ksearch args...` against the coordinator.
  CommandOutput Cli(const std::vector<std::string>& args,
                    absl::Duration timeout = absl::Minutes(3)) const;
  const std::string& address() const { return address_; }
  // Put before the arguments of every Cli call from now on, e.g. {"--token-file", FILE}.
  void SetCliArgs(std::vector<std::string> args) { cli_args_ = std::move(args); }
  // The process id of a running program; 0 if none of that name runs.
  int Pid(const std::string& name) const;

 private:
  void SetLockPath(const std::string& path);
  std::string WorkerConfig() const;
  void SetWorkerConfig(const std::string& config);

  std::string folder_;
  std::string address_;
  std::vector<std::string> cli_args_;
  std::string model_url_;
  std::string worker_config_;
  std::map<std::string, std::string> environment_;
  std::map<std::string, std::unique_ptr<Subprocess>> processes_;
};

// Runs a program to its end and returns what it printed; fails the test if it does not start.
CommandOutput RunProgram(const std::vector<std::string>& argv,
                         absl::Duration timeout = absl::Seconds(30));

}  // namespace ksearch

#endif  // KSEARCH_TESTS_INTEGRATION_LOCAL_CLUSTER_H_
