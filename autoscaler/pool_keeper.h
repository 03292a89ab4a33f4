#ifndef KSEARCH_AUTOSCALER_POOL_KEEPER_H_
#define KSEARCH_AUTOSCALER_POOL_KEEPER_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "autoscaler/coordinator.h"
#include "autoscaler/fleet/fleet_provider.h"
#include "autoscaler/pool_policy.h"
#include "autoscaler/spending.h"
#include "proto/autoscaler.pb.h"

namespace ksearch {

// Adjusts the size of one pool to its demand, and reports its state to the coordinator. Acts only
// while the coordinator confirms that no other autoscaler holds the pool. Failures are reported and
// retried after pauses that double each time. Thread-compatible; times are monotonic.
class PoolKeeper {
 public:
  struct Parts {
    std::unique_ptr<FleetProvider> provider;
    Coordinator* coordinator = nullptr;
    Spending* spending = nullptr;
    std::string holder;  // identifies this process
    std::string host;
  };
  // REQUIRES: the pool's defaults are filled in.
  PoolKeeper(const v1::WorkerPool& pool, Parts parts, absl::Time now);

  // One iteration. Removes the demand that this pool serves from `demands`.
  void Step(absl::Time now, const v1::ListWorkersReply& workers,
            google::protobuf::RepeatedPtrField<v1::Demand>* demands);
  // Gives up the pool when the autoscaler ends, so that another may take it. Its workers stay until
  // they are idle.
  void Release();

 private:
  struct Known {
    absl::Time first_running = absl::InfiniteFuture();
    bool connected_once = false;
    absl::Time stop_asked = absl::InfiniteFuture();
  };

  // Returns true if this process holds the pool.
  bool Hold();
  absl::Status Report(bool release);
  // Lists the instances, at most every few seconds unless `anew`. Returns false if the provider
  // does not respond.
  bool ListInstances(absl::Time now, bool anew);
  void Account(absl::Time now);
  // Detects instances that fail, vanish, never connect, or never end.
  void Judge(absl::Time now, const v1::ListWorkersReply& workers);
  void Act(absl::Time now, const PoolDemand& demand);
  void Stop(const std::string& id, FleetProvider::Manner manner, absl::Time now);
  void Fail(absl::Time now, const std::string& why);
  bool AtCap() const;
  std::vector<PoolInstance> Instances(const v1::ListWorkersReply& workers) const;

  const v1::WorkerPool pool_;
  const Parts parts_;
  const int64_t nano_usd_per_hour_;
  const int64_t nano_usd_cap_;  // 0: no cap
  PoolPolicy policy_;
  v1::PoolReport report_;
  Fleet fleet_;
  absl::Time looked_ = absl::InfinitePast();
  bool blind_ = false;  // the provider does not respond
  absl::Time accounted_;
  std::map<std::string, Known> known_;  // by instance
  // The state when something was last started, until the next List. An instance that was started
  // and is never listed has ended at once.
  struct Before {
    std::set<std::string> instances;
    int coming;
  };
  std::optional<Before> before_start_;
  std::vector<PoolInstance> instances_;  // instances that are not being stopped
  int failures_ = 0;                     // since a worker last connected
  absl::Time retry_at_ = absl::InfinitePast();
  // when to retry after the provider refused to stop an instance
  absl::Time stop_again_at_ = absl::InfinitePast();
  bool in_trouble_ = false;  // this iteration met a failure
  std::string refused_;      // why this process does not hold the pool, as last logged
};

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_POOL_KEEPER_H_
