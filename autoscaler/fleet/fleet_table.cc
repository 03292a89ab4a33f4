#include "autoscaler/fleet/fleet_table.h"

#include "autoscaler/fleet/command_fleet.h"
#include "autoscaler/fleet/kubernetes_fleet.h"
#include "autoscaler/fleet/slurm_fleet.h"
#include "autoscaler/fleet/ssh_fleet.h"

namespace ksearch {
namespace {

struct Kind {
  v1::WorkerPool::ProviderCase number;
  const char* name;
  absl::StatusOr<std::unique_ptr<FleetProvider>> (*make)(const v1::WorkerPool& pool);
};

constexpr Kind kKinds[] = {
    {v1::WorkerPool::kCommand, "command", &CommandFleet::Create},
    {v1::WorkerPool::kSlurm, "slurm", &SlurmFleet::Create},
    {v1::WorkerPool::kSsh, "ssh", &SshFleet::Create},
    {v1::WorkerPool::kKubernetes, "kubernetes", &KubernetesFleet::Create},
};

}  // namespace

absl::StatusOr<std::unique_ptr<FleetProvider>> MakeFleetProvider(const v1::WorkerPool& pool) {
  for (const Kind& kind : kKinds) {
    if (kind.number == pool.provider_case()) return kind.make(pool);
  }
  return absl::InvalidArgumentError("give one of command, slurm, ssh, kubernetes");
}

std::string ProviderName(const v1::WorkerPool& pool) {
  for (const Kind& kind : kKinds) {
    if (kind.number == pool.provider_case()) return kind.name;
  }
  return "";
}

}  // namespace ksearch
