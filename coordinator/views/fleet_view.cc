#include "coordinator/views/fleet_view.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {

namespace {

constexpr int kMostOfAPage = 1000;

bool IsRetired(const v1::WorkerStatus& worker, const Retirement& retirement) {
  if (worker.connected()) return false;
  const bool left_as_planned = worker.report().draining() && worker.report().leases().empty() &&
                               !worker.hello().pool().empty();
  return left_as_planned || retirement.now - FromProto(worker.last_report_at()) > retirement.after;
}

}  // namespace

absl::StatusOr<v1::ListWorkersReply> ViewWorkers(Store& store, const FleetFacts& fleet,
                                                 const Retirement& retirement,
                                                 const WorkerPage& page) {
  if (page.size < 0) return absl::InvalidArgumentError("page_size: must not be negative");
  std::map<std::string, v1::WorkerStatus> all;
  for (v1::WorkerStatus& worker : fleet.Workers()) {
    std::string id = worker.worker_id();
    all[std::move(id)] = std::move(worker);
  }
  ASSIGN_OR_RETURN(const auto known, store.ListWorkers());
  for (const v1::WorkerStatus& worker : known) {
    const auto [entry, fresh] = all.try_emplace(worker.worker_id(), worker);
    if (!fresh) entry->second.set_jobs_done(worker.jobs_done());
  }
  // The token is the last id of the previous page, so a list that has changed repeats nothing.
  const int size = page.size == 0 ? kMostOfAPage : std::min(page.size, kMostOfAPage);
  v1::ListWorkersReply reply;
  for (auto it = all.upper_bound(page.token); it != all.end(); ++it) {
    v1::WorkerStatus& worker = it->second;
    worker.set_retired(IsRetired(worker, retirement));
    if (worker.retired() && !retirement.listed) continue;
    if (reply.workers_size() == size) {
      reply.set_next_page_token(reply.workers(size - 1).worker_id());
      break;
    }
    *reply.add_workers() = std::move(worker);
  }
  return reply;
}

}  // namespace ksearch
