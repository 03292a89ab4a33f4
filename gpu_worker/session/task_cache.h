#ifndef KSEARCH_GPU_WORKER_SESSION_TASK_CACHE_H_
#define KSEARCH_GPU_WORKER_SESSION_TASK_CACHE_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "proto/task.pb.h"

namespace ksearch {

// Tasks by name, each fetched once. The bytes of a task's blob are a serialized v1::Task, but its
// name is TaskDigest(task), over the task's fields, not the SHA-256 of those bytes, because
// serialized protos are not stable across versions. It is therefore checked after parsing.
// Thread-safe.
class TaskCache {
 public:
  // Fetches the blob once; NOT_FOUND and UNAVAILABLE as WorkerService.FetchBlob.
  using Fetch = std::function<absl::StatusOr<std::string>(const std::string& sha256)>;

  explicit TaskCache(Fetch fetch) : fetch_(std::move(fetch)) {}

  // Retries UNAVAILABLE for half a minute. DATA_LOSS: the blob is not the task that it is named
  // after. CANCELLED by `stop`.
  absl::StatusOr<std::shared_ptr<const v1::Task>> Get(const std::string& sha256,
                                                      std::stop_token stop);

 private:
  absl::StatusOr<std::string> FetchPatiently(const std::string& sha256, std::stop_token stop)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Fetch fetch_;
  // Held while fetching, but not between attempts: another caller that needs the same task usually
  // waits instead of fetching it again.
  Mutex mu_;
  CondVar never_;
  std::map<std::string, std::shared_ptr<const v1::Task>> tasks_ ABSL_GUARDED_BY(mu_);
  std::deque<std::string> order_ ABSL_GUARDED_BY(mu_);  // oldest first
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SESSION_TASK_CACHE_H_
