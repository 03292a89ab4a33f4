#ifndef KSEARCH_COORDINATOR_SERVICE_WANTED_WORKERS_H_
#define KSEARCH_COORDINATOR_SERVICE_WANTED_WORKERS_H_

#include <map>
#include <string>

#include "absl/time/time.h"
#include "coordinator/scheduler/placement.h"

namespace ksearch {

// Runs and evaluations that wait for a worker before they have a job, since they do not know their
// platform until a worker connects. Each repeats its request; one that has not done so for a while
// no longer counts. Thread-compatible; time is steady.
class WantedWorkers {
 public:
  // How long one word counts: runs look for a platform about once a second.
  static constexpr absl::Duration kCounts = absl::Seconds(5);

  // `caller` identifies the caller.
  void Note(const Requirement& requirement, const std::string& caller, absl::Time now);
  // Callers by requirement.
  std::map<Requirement, int> Waiting(absl::Time now);

 private:
  std::map<std::string, std::pair<Requirement, absl::Time>> last_;  // by caller
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_WANTED_WORKERS_H_
