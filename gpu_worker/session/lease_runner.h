#ifndef KSEARCH_GPU_WORKER_SESSION_LEASE_RUNNER_H_
#define KSEARCH_GPU_WORKER_SESSION_LEASE_RUNNER_H_

#include <deque>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "common/mutex.h"
#include "gpu_worker/executor/job_executor.h"
#include "gpu_worker/session/held_leases.h"
#include "gpu_worker/session/task_cache.h"
#include "gpu_worker/session/task_inputs.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// Executes leases, first come, first served, with one thread per slot. Thread-safe.
class LeaseRunner {
 public:
  // Takes a finished result. Returns false with the reason in `why` if it could not be kept: the
  // lease is then returned.
  using Keep = std::function<bool(const v1::RecordResultRequest& request, std::string* why)>;

  // All references must outlive this object.
  LeaseRunner(int slots, std::string worker_id, JobExecutor& executor, TaskCache& tasks,
              TaskInputs& inputs, HeldLeases& held, Keep keep);
  // Stops executing leases and joins. Leases stay in their state.
  ~LeaseRunner();
  LeaseRunner(const LeaseRunner&) = delete;
  LeaseRunner& operator=(const LeaseRunner&) = delete;

  void Enqueue(v1::JobOffer offer);
  // Asks the lease's execution to stop; the lease is dropped once it has.
  void Stop(const std::string& lease_id);

 private:
  void Loop();
  void Execute(const v1::JobOffer& offer, std::stop_token stop);

  const std::string worker_id_;
  JobExecutor& executor_;
  TaskCache& tasks_;
  TaskInputs& inputs_;
  HeldLeases& held_;
  const Keep keep_;

  Mutex mu_;
  CondVar changed_;
  std::deque<v1::JobOffer> queue_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::stop_source> running_ ABSL_GUARDED_BY(mu_);
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SESSION_LEASE_RUNNER_H_
