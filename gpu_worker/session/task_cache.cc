#include "gpu_worker/session/task_cache.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/identity.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

constexpr size_t kMaxTasks = 64;
constexpr absl::Duration kPatience = absl::Seconds(30);
constexpr absl::Duration kRetryEvery = absl::Milliseconds(500);

}  // namespace

absl::StatusOr<std::shared_ptr<const v1::Task>> TaskCache::Get(const std::string& sha256,
                                                               std::stop_token stop) {
  MutexLock lock(&mu_);
  if (const auto it = tasks_.find(sha256); it != tasks_.end()) return it->second;
  ASSIGN_OR_RETURN(const std::string bytes, FetchPatiently(sha256, stop));
  auto task = std::make_shared<v1::Task>();
  if (!task->ParseFromString(bytes)) {
    return absl::DataLossError(absl::StrCat("blob ", sha256, " is not a task"));
  }
  if (!IsTaskName(sha256, *task)) {
    return absl::DataLossError(absl::StrCat(
        "blob ", sha256, " holds task \"", task->name().substr(0, 128), "\" with digest ",
        TaskDigest(*task), "; are worker and coordinator of the same release?"));
  }
  // Another thread may have added the task meanwhile.
  if (tasks_.emplace(sha256, task).second) order_.push_back(sha256);
  if (order_.size() > kMaxTasks) {
    tasks_.erase(order_.front());
    order_.pop_front();
  }
  return std::shared_ptr<const v1::Task>(task);
}

absl::StatusOr<std::string> TaskCache::FetchPatiently(const std::string& sha256,
                                                      std::stop_token stop) {
  const absl::Time give_up = Clock::Real().SteadyNow() + kPatience;
  while (true) {
    auto bytes = fetch_(sha256);
    if (stop.stop_requested()) return absl::CancelledError("cancelled");
    if (bytes.ok() || bytes.status().code() != absl::StatusCode::kUnavailable ||
        Clock::Real().SteadyNow() >= give_up) {
      if (bytes.ok()) return bytes;
      return Annotate(bytes.status(), absl::StrCat("fetching task ", sha256));
    }
    never_.WaitFor(&mu_, kRetryEvery);
  }
}

}  // namespace ksearch
