#ifndef KSEARCH_COORDINATOR_VIEWS_FLEET_FACTS_H_
#define KSEARCH_COORDINATOR_VIEWS_FLEET_FACTS_H_

#include <vector>

#include "proto/job.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// What views need to know about workers that have connected since the coordinator started.
// Thread-safe.
class FleetFacts {
 public:
  virtual ~FleetFacts() = default;
  // Workers seen since the start, by id.
  virtual std::vector<v1::WorkerStatus> Workers() const = 0;
  // Platforms of the connected, healthy, staying workers that could run the job
  // (platform_choice.h).
  virtual std::vector<v1::Platform> PlatformsFor(const v1::JobSpec& spec) const = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_FLEET_FACTS_H_
