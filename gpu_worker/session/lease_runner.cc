#include "gpu_worker/session/lease_runner.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/log.h"

namespace ksearch {

LeaseRunner::LeaseRunner(int slots, std::string worker_id, JobExecutor& executor, TaskCache& tasks,
                         TaskInputs& inputs, HeldLeases& held, Keep keep)
    : worker_id_(std::move(worker_id)),
      executor_(executor),
      tasks_(tasks),
      inputs_(inputs),
      held_(held),
      keep_(std::move(keep)) {
  threads_.reserve(static_cast<size_t>(slots));
  for (int i = 0; i < slots; ++i) threads_.emplace_back([this] { Loop(); });
}

LeaseRunner::~LeaseRunner() {
  {
    MutexLock lock(&mu_);
    closing_ = true;
    queue_.clear();
    for (auto& [id, stop] : running_) stop.request_stop();
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void LeaseRunner::Enqueue(v1::JobOffer offer) {
  MutexLock lock(&mu_);
  queue_.push_back(std::move(offer));
  changed_.NotifyOne();
}

void LeaseRunner::Stop(const std::string& lease_id) {
  MutexLock lock(&mu_);
  const auto it = running_.find(lease_id);
  if (it != running_.end()) it->second.request_stop();
}

void LeaseRunner::Loop() {
  while (true) {
    v1::JobOffer offer;
    std::stop_token stop;
    {
      MutexLock lock(&mu_);
      while (queue_.empty() && !closing_) changed_.Wait(&mu_);
      if (closing_) return;
      offer = std::move(queue_.front());
      queue_.pop_front();
      // Registered before the lease starts, so that a stop request always finds it.
      stop = running_[offer.lease_id()].get_token();
    }
    if (held_.Start(offer.lease_id())) Execute(offer, stop);
    MutexLock lock(&mu_);
    running_.erase(offer.lease_id());
  }
}

void LeaseRunner::Execute(const v1::JobOffer& offer, std::stop_token stop) {
  const std::string& lease_id = offer.lease_id();
  if (!IsJobName(offer.job_id(), offer.spec())) {
    held_.Return(lease_id,
                 "job_id does not match the job; are worker and coordinator of the same release?");
    return;
  }
  const auto task = tasks_.Get(offer.spec().task_sha256(), stop);
  const auto progress = [&](v1::HeldLease::State state) { held_.Progress(lease_id, state); };
  const auto inputs =
      task.ok() ? inputs_.Get(**task, stop) : absl::StatusOr<TaskInputs::Hold>(task.status());
  absl::StatusOr<v1::JobResult> result =
      inputs.ok() ? executor_.Execute(offer.spec(), **task, progress, stop)
                  : absl::StatusOr<v1::JobResult>(inputs.status());
  const bool cancelled =
      result.ok() ? result->outcome() == v1::OUTCOME_CANCELLED : absl::IsCancelled(result.status());
  if (cancelled && stop.stop_requested()) {
    LOG(INFO) << "msg=\"job cancelled\" job_id=" << offer.job_id() << " lease_id=" << lease_id;
    held_.Drop(lease_id);
    return;
  }
  if (!result.ok() || cancelled) {
    const std::string why = result.ok() ? "the executor gave up without a request"
                                        : std::string(result.status().message());
    LOG(WARNING) << "msg=\"job returned\" job_id=" << offer.job_id() << " lease_id=" << lease_id
                 << " why=\"" << why << "\"";
    held_.Return(lease_id, why);
    return;
  }
  v1::RecordResultRequest request;
  *request.mutable_result() = *std::move(result);
  request.mutable_result()->set_job_id(offer.job_id());
  request.mutable_result()->set_attempt(offer.attempt());
  request.mutable_result()->set_worker_id(worker_id_);
  request.set_lease_id(lease_id);
  std::string why;
  if (keep_(request, &why)) return;
  LOG(ERROR) << "msg=\"result could not be kept, job returned\" job_id=" << offer.job_id()
             << " error=\"" << why << "\"";
  held_.Return(lease_id, absl::StrCat("keeping the result: ", why));
}

}  // namespace ksearch
