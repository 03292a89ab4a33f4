#ifndef KSEARCH_GPU_WORKER_SESSION_TASK_INPUTS_H_
#define KSEARCH_GPU_WORKER_SESSION_TASK_INPUTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/blob_folder.h"
#include "common/mutex.h"
#include "proto/task.pb.h"

namespace ksearch {

// The folder below a worker's state folder.
std::string InputsFolderOf(const std::string& state_dir);

// Recorded inputs of tasks on this worker's disk, each fetched once; the least recently used ones
// are removed first. Thread-safe.
class TaskInputs {
 public:
  // Fetches a blob from `offset` on, once; `take` is called with one piece after the other. Errors
  // as WorkerService.FetchBlob.
  using Take = std::function<absl::Status(absl::string_view piece)>;
  using Fetch =
      std::function<absl::Status(const std::string& sha256, int64_t offset, const Take& take)>;

  // `folder` must outlive this object. At most `most_bytes` are kept in addition to inputs in use.
  TaskInputs(const BlobFolder* folder, Fetch fetch, int64_t most_bytes)
      : folder_(*folder), fetch_(std::move(fetch)), most_bytes_(most_bytes) {}

  // As long as it exists, its inputs stay in the folder.
  using Hold = std::shared_ptr<const void>;
  // Fetches all inputs of the task. A transfer that ends early is continued as long as it makes
  // progress. CANCELLED by `stop`; DATA_LOSS: the content does not match.
  absl::StatusOr<Hold> Get(const v1::Task& task, std::stop_token stop);

 private:
  absl::Status Bring(const std::string& sha256, const std::stop_token& stop)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(fetching_);
  void Release(const std::set<std::string>& names);

  const BlobFolder& folder_;
  const Fetch fetch_;
  const int64_t most_bytes_;

  Mutex fetching_;  // acquired before mu_; others that need the same input usually wait for it
  Mutex mu_;
  std::map<std::string, int> users_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SESSION_TASK_INPUTS_H_
