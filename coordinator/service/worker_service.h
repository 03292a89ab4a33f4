#ifndef KSEARCH_COORDINATOR_SERVICE_WORKER_SERVICE_H_
#define KSEARCH_COORDINATOR_SERVICE_WORKER_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include "absl/status/statusor.h"
#include "coordinator/service/access/access_control.h"
#include "coordinator/service/access/worker_authority.h"
#include "coordinator/service/worker_gateway.h"
#include "proto/worker_service.grpc.pb.h"

namespace ksearch {

// The workers' side of the coordinator, as a gRPC service over a gateway. To stop, shut down the
// gateway first, then the server. Thread-safe.
class WorkerService final : public v1::WorkerService::CallbackService {
 public:
  // All arguments must outlive the server. `access` null: no credentials are required. `authority`
  // null: no worker can join.
  explicit WorkerService(WorkerGateway* gateway, const AccessControl* access = nullptr,
                         const WorkerAuthority* authority = nullptr)
      : gateway_(gateway), access_(access), authority_(authority) {}

  grpc::ServerBidiReactor<v1::WorkerUp, v1::WorkerDown>* Session(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* RecordResult(grpc::CallbackServerContext* context,
                                         const v1::RecordResultRequest* request,
                                         v1::RecordResultReply* reply) override;
  grpc::ServerWriteReactor<v1::BlobChunk>* FetchBlob(grpc::CallbackServerContext* context,
                                                     const v1::FetchBlobRequest* request) override;
  grpc::ServerUnaryReactor* Join(grpc::CallbackServerContext* context,
                                 const v1::JoinRequest* request, v1::JoinReply* reply) override;

 private:
  // Brings the synchronous forms of the generated base class into scope, so that they are not
  // hidden. They are not used.
  using v1::WorkerService::CallbackService::FetchBlob;
  using v1::WorkerService::CallbackService::Join;
  using v1::WorkerService::CallbackService::RecordResult;
  using v1::WorkerService::CallbackService::Session;

  // Returns the caller, whose call was admitted before. UNAUTHENTICATED: its token became invalid
  // since.
  absl::StatusOr<WorkerIdentity> Identify(const grpc::CallbackServerContext& context) const;

  WorkerGateway* const gateway_;
  const AccessControl* const access_;
  const WorkerAuthority* const authority_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_WORKER_SERVICE_H_
