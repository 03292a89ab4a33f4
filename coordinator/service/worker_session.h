#ifndef KSEARCH_COORDINATOR_SERVICE_WORKER_SESSION_H_
#define KSEARCH_COORDINATOR_SERVICE_WORKER_SESSION_H_

#include <grpcpp/grpcpp.h>

#include <deque>
#include <optional>
#include <string>

#include "common/mutex.h"
#include "coordinator/service/worker_gateway.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// Connects one worker's stream to the gateway: every reaction copies, locks and hands over. One
// write is in flight; others are queued. Deletes itself in OnDone.
class WorkerSession final : public grpc::ServerBidiReactor<v1::WorkerUp, v1::WorkerDown>,
                            public WorkerLink {
 public:
  // `gateway` must outlive the server.
  WorkerSession(WorkerGateway* gateway, WorkerIdentity identity);

  void Send(const v1::WorkerDown& down) override;
  void End(const absl::Status& status) override;

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  absl::Status TakeMessage();
  void StartNextWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // gRPC accepts the final status only while no write is in flight.
  void FinishIfIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  WorkerGateway* const gateway_;
  const WorkerIdentity identity_;
  // Used only by the chain of reads.
  v1::WorkerUp in_;
  std::string worker_id_;  // empty before the hello

  Mutex mu_;
  std::deque<v1::WorkerDown> out_ ABSL_GUARDED_BY(mu_);  // front is in flight if writing_
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool broken_ ABSL_GUARDED_BY(mu_) = false;  // a write failed: nothing more can be sent
  std::optional<grpc::Status> ending_ ABSL_GUARDED_BY(mu_);
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_WORKER_SESSION_H_
