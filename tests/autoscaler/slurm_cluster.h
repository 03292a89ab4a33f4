#ifndef KSEARCH_TESTS_AUTOSCALER_SLURM_CLUSTER_H_
#define KSEARCH_TESTS_AUTOSCALER_SLURM_CLUSTER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/subprocess.h"

namespace ksearch {

// A Slurm of one machine: Debian's munged, slurmctld and slurmd on loopback ports, with two nodes
// of one fake GPU each. Needs root, as slurmd does. The destructor ends it and everything that it
// runs.
class SlurmCluster {
 public:
  // Why this machine cannot run one; empty: it can.
  static std::string WhyNot();

  explicit SlurmCluster(const std::string& folder);
  ~SlurmCluster();
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  // Whether both nodes are idle; if not, the error has sinfo's output.
  absl::Status AwaitReady();
  // SLURM_CONF for its users.
  std::string config() const { return folder_ + "/slurm.conf"; }
  // sbatch, squeue, ...: what it prints.
  CommandOutput Run(const std::vector<std::string>& argv) const;
  // Lines of `squeue -h -r` in this format.
  std::vector<std::string> Queue(const std::string& format) const;

 private:
  void Start(const std::string& name, std::vector<std::string> argv);

  const std::string folder_;
  std::map<std::string, std::unique_ptr<Subprocess>> processes_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_AUTOSCALER_SLURM_CLUSTER_H_
