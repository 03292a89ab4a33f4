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

// How long a job will be in a worker's hands, judged by how long jobs of its task and kind were:
// the longest of the last 8, since a job that does not end in time is wasted while one that is kept
// from a worker only waits for another. Thread-compatible.
class JobTimes {
 public:
  // `otherwise`: expected while nothing is known.
  explicit JobTimes(absl::Duration otherwise) : otherwise_(otherwise) {}

  // Results without a total time say nothing.
  void Note(const v1::JobSpec& spec, const v1::JobResult& result);
  absl::Duration Expected(const v1::JobSpec& spec) const;

 private:
  using Key = std::pair<std::string, int>;  // the task's SHA-256 and the kind
  const absl::Duration otherwise_;
  absl::flat_hash_map<Key, std::deque<absl::Duration>> last_;  // newest at the back
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_JOB_TIMES_H_
