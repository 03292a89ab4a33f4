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

// Workers as pods, through the API with a service account: either the pods of a Deployment whose
// replicas are adjusted, or one Job each. The pod must set KSEARCH_INSTANCE to the name of the pod
// or of the Job.
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
  // Returns all objects at `path` that the query selects, fetched page by page.
  absl::StatusOr<nlohmann::json> Objects(const std::string& path, const std::string& query);
  absl::StatusOr<nlohmann::json> Pods(const std::string& selector);
  // Returns the newest warning about each Job, which says why it has no pods.
  absl::StatusOr<std::map<std::string, std::string>> WarningsOfJobs();
  // Sets the Deployment's replicas to `wanted` of the present number. Retries if somebody else
  // changed the Deployment in between.
  absl::Status Rescale(absl::FunctionRef<int(int replicas)> wanted);
  bool of_jobs() const { return !job_.is_null(); }
  std::string CorePath(const std::string& rest) const;
  std::string DeploymentPath(const std::string& rest) const;
  std::string JobsPath() const;

  const v1::WorkerPool pool_;
  const std::string name_space_;
  ApiClient api_;
  const nlohmann::json job_;  // null: uses a Deployment
};

// Converts a pod to an Instance.
Instance InstanceOfPod(const nlohmann::json& pod);

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_FLEET_KUBERNETES_FLEET_H_
