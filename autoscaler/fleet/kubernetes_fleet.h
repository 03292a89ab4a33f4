#ifndef KSEARCH_AUTOSCALER_FLEET_KUBERNETES_FLEET_H_
#define KSEARCH_AUTOSCALER_FLEET_KUBERNETES_FLEET_H_

#include <map>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "autoscaler/fleet/api_client.h"
#include "autoscaler/fleet/fleet_provider.h"
#include "nlohmann/json.hpp"
#include "proto/autoscaler.pb.h"

namespace ksearch {

// Workers as pods, through the API with a service account: those of a Deployment whose replicas are
// set, or one Job each. A worker's pod must give it KSEARCH_INSTANCE: the pod's name, or the Job's.
class KubernetesFleet final : public FleetProvider {
 public:
  static absl::StatusOr<std::unique_ptr<FleetProvider>> Create(const v1::WorkerPool& pool);

  absl::StatusOr<Fleet> List() override;
  absl::Status Start(int count) override;
  absl::Status Withdraw(int count) override;
  absl::Status Stop(const std::string& id, Manner manner) override;
  std::string Plan() const override;
  std::string LogOf(const std::string& id) const override;

 private:
  KubernetesFleet(const v1::WorkerPool& pool, std::string name_space, ApiClient api,
                  nlohmann::json job);

  absl::StatusOr<Fleet> ListDeployment();
  absl::StatusOr<Fleet> ListJobs();
  // All objects at `path` that the query selects, page by page.
  absl::StatusOr<nlohmann::json> Objects(const std::string& path, const std::string& query);
  absl::StatusOr<nlohmann::json> Pods(const std::string& selector);
  // Why Jobs have no pods, by Job: the newest warning about each.
  absl::StatusOr<std::map<std::string, std::string>> WarningsOfJobs();
  // Sets the Deployment's replicas to what `wanted` makes of them. Starts over if somebody changed
  // the Deployment in between.
  absl::Status Rescale(absl::FunctionRef<int(int replicas)> wanted);
  bool of_jobs() const { return !job_.is_null(); }
  std::string CorePath(const std::string& rest) const;
  std::string DeploymentPath(const std::string& rest) const;
  std::string JobsPath() const;

  const v1::WorkerPool pool_;
  const std::string name_space_;
  ApiClient api_;
  const nlohmann::json job_;  // null: a Deployment
};

// What of a pod's state matters here.
Instance InstanceOfPod(const nlohmann::json& pod);

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_FLEET_KUBERNETES_FLEET_H_
