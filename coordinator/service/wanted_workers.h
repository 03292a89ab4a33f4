#ifndef KSEARCH_COORDINATOR_SERVICE_WANTED_WORKERS_H_
#define KSEARCH_COORDINATOR_SERVICE_WANTED_WORKERS_H_

#include <map>
#include <string>

#include "absl/time/time.h"
#include "coordinator/scheduler/placement.h"

namespace ksearch {

// Runs and evaluations that wait for a worker and have no job yet, because their platform is
// unknown until a worker connects. Each repeats its request; one that has stopped repeating no
// longer counts. Thread-compatible; times are monotonic.
class WantedWorkers {
 public:
  // How long a request counts. Runs repeat it about once a second.
  static constexpr absl::Duration kCounts = absl::Seconds(5);

  // `caller` identifies the caller.
  void Note(const Requirement& requirement, const std::string& caller, absl::Time now);
  // Number of callers by requirement.
  std::map<Requirement, int> Waiting(absl::Time now);

 private:
  std::map<std::string, std::pair<Requirement, absl::Time>> last_;  // by caller
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_WANTED_WORKERS_H_
