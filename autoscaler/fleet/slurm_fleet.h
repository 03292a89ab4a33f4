#ifndef KSEARCH_AUTOSCALER_FLEET_SLURM_FLEET_H_
#define KSEARCH_AUTOSCALER_FLEET_SLURM_FLEET_H_

#include <memory>
#include <string>

#include "autoscaler/fleet/fleet_provider.h"
#include "proto/autoscaler.pb.h"

namespace ksearch {

// Workers as elements of Slurm job arrays, with the rights of the user who runs this process. Slurm
// requeues a preempted job, which keeps its id. Jobs are found by their name, "ksearch-POOL".
class SlurmFleet final : public FleetProvider {
 public:
  static absl::StatusOr<std::unique_ptr<FleetProvider>> Create(const v1::WorkerPool& pool);

  absl::StatusOr<Fleet> List() override;
  absl::Status Start(int count) override;
  absl::Status Stop(const std::string& id, Manner manner) override;
  std::string Plan() const override;
  std::string LogOf(const std::string& id) const override;

  // Returns the batch script of `count` workers. Words from the config are quoted for the shell,
  // except setup_lines, which are shell code.
  std::string Script(int count) const;
  // Parses the output of `squeue -o '%i %t %r'`.
  static absl::StatusOr<Fleet> ParseQueue(absl::string_view text);

 private:
  explicit SlurmFleet(const v1::WorkerPool& pool) : pool_(pool) {}
  std::string JobName() const;

  const v1::WorkerPool pool_;
  std::string last_started_;  // first element of the newest array; empty: unknown
};

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_FLEET_SLURM_FLEET_H_
