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

// Executes leases, first come first served, one thread per slot. Thread-safe.
class LeaseRunner {
 public:
  // Takes a finished result; false if it could not be kept (`why` says so): the lease is returned.
  using Keep = std::function<bool(const v1::RecordResultRequest& request, std::string* why)>;

  // All references outlive it.
  LeaseRunner(int slots, std::string worker_id, JobExecutor& executor, TaskCache& tasks,
              TaskInputs& inputs, HeldLeases& held, Keep keep);
  // Stops what is executing and joins. Leases stay held as they were.
  ~LeaseRunner();
  LeaseRunner(const LeaseRunner&) = delete;
  LeaseRunner& operator=(const LeaseRunner&) = delete;

  void Enqueue(v1::JobOffer offer);
  // Asks the lease's execution to stop; it is dropped when it has.
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
