#include "autoscaler/grpc_coordinator.h"

#include "common/grpc_channel.h"
#include "common/worker_pages.h"
#include "proto/search_service.grpc.pb.h"

namespace ksearch {
namespace {

constexpr absl::Duration kDeadline = absl::Seconds(10);

class GrpcCoordinator final : public Coordinator {
 public:
  GrpcCoordinator(const std::string& address, const ClientAccess& access)
      : stub_(v1::SearchService::NewStub(MakeChannel(address, access))) {}

  absl::StatusOr<v1::DemandReply> Demand() override {
    v1::DemandReply reply;
    const auto context = ContextWithDeadline(kDeadline);
    const grpc::Status status = stub_->GetDemand(context.get(), v1::GetDemandRequest(), &reply);
    if (!status.ok()) return FromGrpc(status);
    return reply;
  }
  absl::StatusOr<v1::ListWorkersReply> Workers() override {
    return AllWorkers(
        {}, [&](const v1::ListWorkersRequest& request) -> absl::StatusOr<v1::ListWorkersReply> {
          v1::ListWorkersReply page;
          const auto context = ContextWithDeadline(kDeadline);
          const grpc::Status status = stub_->ListWorkers(context.get(), request, &page);
          if (!status.ok()) return FromGrpc(status);
          return page;
        });
  }
  absl::Status ReportPool(const v1::ReportPoolRequest& request) override {
    v1::ReportPoolReply reply;
    const auto context = ContextWithDeadline(kDeadline);
    return FromGrpc(stub_->ReportPool(context.get(), request, &reply));
  }

 private:
  const std::unique_ptr<v1::SearchService::Stub> stub_;
};

}  // namespace

std::unique_ptr<Coordinator> MakeGrpcCoordinator(const std::string& address,
                                                 const ClientAccess& access) {
  return std::make_unique<GrpcCoordinator>(address, access);
}

}  // namespace ksearch
