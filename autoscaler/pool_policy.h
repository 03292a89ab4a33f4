#ifndef KSEARCH_AUTOSCALER_POOL_POLICY_H_
#define KSEARCH_AUTOSCALER_POOL_POLICY_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/autoscaler.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Demand that one pool can meet, added up.
struct PoolDemand {
  int jobs = 0;         // queued and not about to be taken by a free slot, and waiting callers
  int queued = 0;       // all that wait, those about to be taken too
  absl::Duration work;  // how long `jobs` are expected to take, one after another
  std::string needs;    // what one of them needs, for people
};

// One instance of the pool that is not being stopped.
struct PoolInstance {
  std::string id;
  bool running = false;
  bool connected = false;  // its worker is
  bool idle = false;       // connected, and has no job
};

struct PoolDecision {
  int wanted = 0;  // instances in all
  int start = 0;
  std::vector<std::string> stop;  // ids
  int withdraw = 0;               // of those that are coming
  std::string why;                // for people, if it starts or stops any
};

// Whether a worker of the offer meets the requirement, as far as both say.
bool Meets(const v1::WorkerOffer& offer, const v1::WorkerRequirement& requirement);

// The demand that the offer can meet.
PoolDemand DemandFor(const v1::WorkerOffer& offer,
                     const google::protobuf::RepeatedPtrField<v1::Demand>& demands);

// How many workers a pool should have. Pure, but for when demand was last seen; time is steady.
// REQUIRES: the pool's defaults are filled in (autoscaler_config.h).
class PoolPolicy {
 public:
  PoolPolicy(const v1::WorkerPool& pool, absl::Time now) : pool_(pool), last_demand_(now) {}

  // `coming`: instances asked for that are not listed yet. `may_start`: nothing forbids it.
  PoolDecision Decide(const PoolDemand& demand, const std::vector<PoolInstance>& instances,
                      int coming, bool may_start, absl::Time now);

 private:
  const v1::WorkerPool pool_;
  absl::Time last_demand_;
};

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_POOL_POLICY_H_
