#include "coordinator/views/fleet_view.h"

#include <map>
#include <string>
#include <utility>

#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {

namespace {

bool IsRetired(const v1::WorkerStatus& worker, const Retirement& retirement) {
  if (worker.connected()) return false;
  const bool left_as_planned = worker.report().draining() && worker.report().leases().empty() &&
                               !worker.hello().pool().empty();
  return left_as_planned || retirement.now - FromProto(worker.last_report_at()) > retirement.after;
}

}  // namespace

absl::StatusOr<v1::ListWorkersReply> ViewWorkers(Store& store, const FleetLook& fleet,
                                                 const Retirement& retirement) {
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
  v1::ListWorkersReply counted;
  for (v1::WorkerStatus& worker : *reply.mutable_workers()) {
    worker.set_retired(IsRetired(worker, retirement));
    if (!worker.retired() || retirement.listed) *counted.add_workers() = std::move(worker);
  }
  return counted;
}

}  // namespace ksearch
