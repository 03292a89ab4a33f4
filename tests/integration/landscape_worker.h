#ifndef KSEARCH_TESTS_INTEGRATION_LANDSCAPE_WORKER_H_
#define KSEARCH_TESTS_INTEGRATION_LANDSCAPE_WORKER_H_

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/mutex.h"
#include "coordinator/llm/model_server/landscape/landscape.h"
#include "proto/task.pb.h"
#include "proto/worker_service.grpc.pb.h"

namespace ksearch {

// A worker that measures nothing: its result for a program of a landscape depends only on the
// program, so that two equal searches get the same results to the last digit. It reconnects when
// the coordinator is gone, and like a real worker keeps a result until it is recorded.
class LandscapeWorker {
 public:
  // A landscape for each task; both are borrowed.
  struct World {
    const Landscape* landscape;
    const v1::Task* task;
  };
  LandscapeWorker(std::vector<World> worlds, std::string address);
  ~LandscapeWorker();
  LandscapeWorker(const LandscapeWorker&) = delete;
  LandscapeWorker& operator=(const LandscapeWorker&) = delete;

 private:
  void Run();
  // Until the stream ends.
  void Serve(v1::WorkerService::Stub* stub);
  void Record(v1::WorkerService::Stub* stub, const v1::JobOffer& offer);
  v1::JobResult Judge(const v1::JobOffer& offer) const;
  const World& WorldOf(const std::string& task_name) const;

  const std::vector<World> worlds_;
  const std::string address_;
  std::atomic<bool> stopping_ = false;
  Mutex mu_;
  grpc::ClientContext* session_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::thread thread_;  // last: uses the rest
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_INTEGRATION_LANDSCAPE_WORKER_H_
