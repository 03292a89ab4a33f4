#ifndef KSEARCH_TESTS_FAKES_PLAYED_COORDINATOR_H_
#define KSEARCH_TESTS_FAKES_PLAYED_COORDINATOR_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/dashboard/dashboard.h"
#include "coordinator/engine/model_caller.h"
#include "coordinator/events/event_feed.h"
#include "coordinator/service/json_calls.h"
#include "coordinator/service/pool_board.h"
#include "coordinator/service/search_service.h"
#include "coordinator/service/worker_gateway.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/task_suite.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// A coordinator with simulated runs: the real store, event feed, service and page, and steps that
// the caller commits instead of searches. For browsers and for measuring the cost of watchers.
// Thread-safe except for AddRun and AddWorker.
class PlayedCoordinator {
 public:
  // Calls that change something are not carried out: the server's threads call `changed` (may be
  // null) and answer with `{}`.
  using Changed = std::function<void(absl::string_view method, absl::string_view json)>;
  // `folder`: for the database. `task_dirs`: may be empty.
  PlayedCoordinator(const std::string& folder, const std::vector<std::string>& task_dirs,
                    Changed changed);
  ~PlayedCoordinator();
  PlayedCoordinator(const PlayedCoordinator&) = delete;
  PlayedCoordinator& operator=(const PlayedCoordinator&) = delete;

  const std::string& url() const { return dashboard_->url(); }
  Store& store() { return *store_; }
  EventFeed& feed() { return feed_; }

  // A run of 100 rounds with a tree of `nodes` intents.
  void AddRun(const std::string& run_id, int nodes);
  // A worker that is connected and reports this once; it gets no jobs, since nothing asks for any.
  void AddWorker(const v1::WorkerHello& hello, const v1::WorkerReport& report);
  // Commits a step; `status` of the step is what the run's was, as `change` leaves it.
  void Step(const std::string& run_id, std::vector<v1::RunEvent> events,
            const std::function<void(v1::RunStatus*)>& change = nullptr);
  // Round `round` of the run: a candidate is proposed, passes, and solves its node.
  std::vector<v1::RunEvent> RoundEvents(int round) const;

 private:
  EventFeed feed_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<TaskSuite> tasks_;
  std::unique_ptr<WorkerLink> silent_link_;  // of all played workers
  std::unique_ptr<WorkerGateway> gateway_;
  std::unique_ptr<PoolBoard> pools_;
  std::unique_ptr<ModelCaller> models_;  // without providers
  std::unique_ptr<SearchService> service_;
  std::unique_ptr<JsonCalls> calls_;
  std::unique_ptr<dashboard::Dashboard> dashboard_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAKES_PLAYED_COORDINATOR_H_
