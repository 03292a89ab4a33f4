#ifndef KSEARCH_AUTOSCALER_POOL_POLICY_H_
#define KSEARCH_AUTOSCALER_POOL_POLICY_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/autoscaler.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// The sum of the demand that one pool can meet.
struct PoolDemand {
  int jobs = 0;         // waiting jobs and callers, except jobs that a free slot is about to take
  int queued = 0;       // all waiting jobs, including those
  absl::Duration work;  // expected total time of `jobs`
  std::string needs;    // requirement of one of them, as text
};

// One instance of the pool that is not being stopped.
struct PoolInstance {
  std::string id;
  bool running = false;
  bool connected = false;  // its worker is connected
  bool idle = false;       // connected, without a job
};

struct PoolDecision {
  int wanted = 0;  // target number of instances
  int start = 0;
  std::vector<std::string> stop;  // ids of instances to stop
  int withdraw = 0;               // number of requested instances to cancel
  std::string why;                // reason as text, if anything is started or stopped
};

// Returns true if a worker of the offer meets the requirement, so far as both name the property.
bool Meets(const v1::WorkerOffer& offer, const v1::WorkerRequirement& requirement);

// Sums up the demand that the offer can meet.
PoolDemand DemandFor(const v1::WorkerOffer& offer,
                     const google::protobuf::RepeatedPtrField<v1::Demand>& demands);

// Decides how many workers a pool should have. Depends only on its arguments and on when demand was
// last seen; times are monotonic. REQUIRES: the pool's defaults are filled in
// (autoscaler_config.h).
class PoolPolicy {
 public:
  PoolPolicy(const v1::WorkerPool& pool, absl::Time now) : pool_(pool), last_demand_(now) {}

  // `coming`: requested instances that are not listed yet. `may_start`: false if starting is not
  // allowed now.
  PoolDecision Decide(const PoolDemand& demand, const std::vector<PoolInstance>& instances,
                      int coming, bool may_start, absl::Time now);

 private:
  const v1::WorkerPool pool_;
  absl::Time last_demand_;
};

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_POOL_POLICY_H_
