#ifndef KSEARCH_COORDINATOR_SERVICE_WORKER_SERVICE_H_
#define KSEARCH_COORDINATOR_SERVICE_WORKER_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include "absl/status/statusor.h"
#include "coordinator/service/access/access_control.h"
#include "coordinator/service/worker_gateway.h"
#include "proto/worker_service.grpc.pb.h"

namespace ksearch {

// The workers' side of the coordinator, as a gRPC service over a gateway. To stop: shut the gateway
// down, then the server. Thread-safe.
class WorkerService final : public v1::WorkerService::CallbackService {
 public:
  // Both outlive the server that has this service. `access` null: no credentials are asked for.
  explicit WorkerService(WorkerGateway* gateway, const AccessControl* access = nullptr)
      : gateway_(gateway), access_(access) {}

  grpc::ServerBidiReactor<v1::WorkerUp, v1::WorkerDown>* Session(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* RecordResult(grpc::CallbackServerContext* context,
                                         const v1::RecordResultRequest* request,
                                         v1::RecordResultReply* reply) override;
  grpc::ServerWriteReactor<v1::BlobChunk>* FetchBlob(grpc::CallbackServerContext* context,
                                                     const v1::FetchBlobRequest* request) override;

 private:
  // The synchronous forms of the generated base class: not to be hidden, nor used.
  using v1::WorkerService::CallbackService::FetchBlob;
  using v1::WorkerService::CallbackService::RecordResult;
  using v1::WorkerService::CallbackService::Session;

  // Whose call it is; the call was let in already. UNAUTHENTICATED: its token has just ended.
  absl::StatusOr<WorkerIdentity> Identify(const grpc::CallbackServerContext& context) const;

  WorkerGateway* const gateway_;
  const AccessControl* const access_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_WORKER_SERVICE_H_
