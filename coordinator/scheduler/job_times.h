#ifndef KSEARCH_COORDINATOR_SCHEDULER_JOB_TIMES_H_
#define KSEARCH_COORDINATOR_SCHEDULER_JOB_TIMES_H_

#include <deque>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

// Predicts how long a worker will hold a job: the longest of the last 8 jobs of the same task and
// kind. The longest, because a job that does not end before its worker leaves is wasted, while one
// that is withheld only waits for another worker. Thread-compatible.
class JobTimes {
 public:
  // `otherwise`: the prediction while there is no record.
  explicit JobTimes(absl::Duration otherwise) : otherwise_(otherwise) {}

  // Results without a total time are ignored.
  void Note(const v1::JobSpec& spec, const v1::JobResult& result);
  absl::Duration Expected(const v1::JobSpec& spec) const;

 private:
  using Key = std::pair<std::string, int>;  // the task's SHA-256 and the kind
  const absl::Duration otherwise_;
  absl::flat_hash_map<Key, std::deque<absl::Duration>> last_;  // newest at the back
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_JOB_TIMES_H_
