// The RPCs about the demand for workers, and about the autoscalers' pools.
#include <optional>
#include <utility>

#include "common/grpc_channel.h"
#include "common/run_facts.h"
#include "common/textproto.h"
#include "coordinator/service/search_service.h"

namespace ksearch {

grpc::Status SearchService::GetDemand(grpc::ServerContext*, const v1::GetDemandRequest*,
                                      v1::DemandReply* reply) {
  *reply = parts_.workers->Demand();
  const auto runs = parts_.store->ListRuns();
  if (!runs.ok()) return ToGrpc(runs.status());
  int running = 0;
  for (const v1::RunStatus& run : *runs) running += !HasEnded(run.state());
  reply->set_running_runs(running);
  if (parts_.pools != nullptr) {
    for (v1::PoolStatus& pool : parts_.pools->Pools()) *reply->add_pools() = std::move(pool);
  }
  return grpc::Status::OK;
}

grpc::Status SearchService::ReportPool(grpc::ServerContext*, const v1::ReportPoolRequest* request,
                                       v1::ReportPoolReply*) {
  if (parts_.pools == nullptr) return ToGrpc(absl::UnimplementedError("there are no pools"));
  std::optional<v1::FleetEvent> event;
  const absl::Status status = parts_.pools->Report(*request, &event);
  if (event.has_value()) parts_.feed->Publish(*std::move(event));
  return ToGrpc(status);
}

}  // namespace ksearch
