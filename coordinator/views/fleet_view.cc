#include "coordinator/views/fleet_view.h"

#include <map>
#include <string>

#include "common/status_macros.h"

namespace ksearch {

absl::StatusOr<v1::ListWorkersReply> ViewWorkers(Store& store, const FleetLook& fleet) {
  v1::ListWorkersReply reply;
  std::map<std::string, int> live;  // index in the reply, by id
  for (const v1::WorkerStatus& worker : fleet.Workers()) {
    live[worker.worker_id()] = reply.workers_size();
    *reply.add_workers() = worker;
  }
  ASSIGN_OR_RETURN(const auto known, store.ListWorkers());
  for (const v1::WorkerStatus& worker : known) {
    const auto it = live.find(worker.worker_id());
    if (it == live.end()) {
      *reply.add_workers() = worker;
    } else {
      reply.mutable_workers(it->second)->set_jobs_done(worker.jobs_done());
    }
  }
  return reply;
}

}  // namespace ksearch
