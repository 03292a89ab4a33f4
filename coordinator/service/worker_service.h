#ifndef KSEARCH_COORDINATOR_SERVICE_WORKER_SERVICE_H_
#define KSEARCH_COORDINATOR_SERVICE_WORKER_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include "coordinator/service/worker_gateway.h"
#include "proto/worker_service.grpc.pb.h"

namespace ksearch {

// The workers' side of the coordinator, as a gRPC service over a gateway. To stop: shut the gateway
// down, then the server. Thread-safe.
class WorkerService final : public v1::WorkerService::CallbackService {
 public:
  // `gateway` outlives the server that has this service.
  explicit WorkerService(WorkerGateway* gateway) : gateway_(gateway) {}

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

  WorkerGateway* const gateway_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_WORKER_SERVICE_H_
