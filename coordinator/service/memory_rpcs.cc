// The RPCs about the memory of measured gains: listing it, what a run read from it, and removal.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/grpc_channel.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "coordinator/memory/priors.h"
#include "coordinator/service/search_service.h"

namespace ksearch {
namespace {

constexpr int kMostGains = 1000;
constexpr size_t kMaxFilterBytes = 256;

absl::StatusOr<GainFilter> FilterOf(const v1::MemoryFilter& asked, Store* store) {
  for (const auto& [field, value] :
       {std::pair("run_id", &asked.run_id()), std::pair("task", &asked.task()),
        std::pair("op_type", &asked.op_type()), std::pair("architecture", &asked.architecture()),
        std::pair("benchmark", &asked.benchmark())}) {
    if (value->size() <= kMaxFilterBytes) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("filter.", field, " is longer than ", kMaxFilterBytes, " bytes"));
  }
  GainFilter filter;
  filter.run_id = asked.run_id();
  filter.task = asked.task();
  filter.op_type = asked.op_type();
  filter.architecture = asked.architecture();
  filter.benchmark = asked.benchmark();
  if (filter.run_id.empty()) return filter;
  const absl::StatusOr<std::string> run_id = store->ResolveRun(filter.run_id);
  if (run_id.ok()) {
    filter.run_id = *run_id;
  } else if (!absl::IsNotFound(run_id.status())) {
    return run_id.status();
  }
  return filter;  // a run that was removed may have left gains
}

absl::Status List(Store* store, const v1::ListMemoryRequest& request, v1::ListMemoryReply* reply) {
  if (request.limit() < 0 || request.limit() > kMostGains) {
    return absl::InvalidArgumentError(
        absl::StrCat("limit is ", request.limit(), ", must be from 1 to ", kMostGains));
  }
  ASSIGN_OR_RETURN(const GainFilter filter, FilterOf(request.filter(), store));
  const int limit = request.limit() == 0 ? kMostGains : request.limit();
  ASSIGN_OR_RETURN(std::vector<v1::MeasuredGain> gains,
                   store->ReadGains(filter, request.one_by_one() ? limit + 1 : 0));
  if (!request.one_by_one()) {
    for (v1::MemoryGroup& group : GroupsOf(gains)) *reply->add_groups() = std::move(group);
    return absl::OkStatus();
  }
  reply->set_more(static_cast<int>(gains.size()) > limit);
  if (reply->more()) gains.resize(static_cast<size_t>(limit));
  for (v1::MeasuredGain& gain : gains) *reply->add_gains() = std::move(gain);
  return absl::OkStatus();
}

absl::Status OfRun(Store* store, const std::string& run, v1::RunMemory* reply) {
  ASSIGN_OR_RETURN(const std::string run_id, store->ResolveRun(run));
  ASSIGN_OR_RETURN(const RunRow row, store->ReadRun(run_id));
  reply->set_run_id(run_id);
  *reply->mutable_use() = row.config.memory();
  // Runs that are older than the memory.
  if (row.config.memory().mode() == v1::MEMORY_MODE_UNSPECIFIED) {
    reply->mutable_use()->set_mode(v1::MEMORY_MODE_OFF);
  }
  if (row.config.has_memory_snapshot()) {
    *reply->mutable_snapshot() = row.config.memory_snapshot();
  }
  GainFilter filter;
  filter.run_id = run_id;
  ASSIGN_OR_RETURN(const std::vector<v1::MeasuredGain> gains, store->ReadGains(filter, 0));
  reply->set_gains_written(static_cast<int64_t>(gains.size()));
  return absl::OkStatus();
}

absl::Status Forget(Store* store, const v1::ForgetMemoryRequest& request,
                    v1::ForgetMemoryReply* reply) {
  if (request.filter().ByteSizeLong() == 0 && !request.all()) {
    return absl::InvalidArgumentError(
        "filter is empty: say which measured gains to forget, or set all");
  }
  ASSIGN_OR_RETURN(const GainFilter filter, FilterOf(request.filter(), store));
  ASSIGN_OR_RETURN(const int64_t gains, store->ForgetGains(filter));
  reply->set_gains(gains);
  LOG(INFO) << "msg=\"measured gains forgotten\" gains=" << gains;
  return absl::OkStatus();
}

}  // namespace

grpc::Status SearchService::ListMemory(grpc::ServerContext*, const v1::ListMemoryRequest* request,
                                       v1::ListMemoryReply* reply) {
  return ToGrpc(List(parts_.store, *request, reply));
}

grpc::Status SearchService::GetRunMemory(grpc::ServerContext*,
                                         const v1::GetRunMemoryRequest* request,
                                         v1::RunMemory* reply) {
  return ToGrpc(OfRun(parts_.store, request->run_id(), reply));
}

grpc::Status SearchService::ForgetMemory(grpc::ServerContext*,
                                         const v1::ForgetMemoryRequest* request,
                                         v1::ForgetMemoryReply* reply) {
  return ToGrpc(Forget(parts_.store, *request, reply));
}

}  // namespace ksearch
