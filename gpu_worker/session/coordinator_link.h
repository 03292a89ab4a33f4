#ifndef KSEARCH_GPU_WORKER_SESSION_COORDINATOR_LINK_H_
#define KSEARCH_GPU_WORKER_SESSION_COORDINATOR_LINK_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/access/client_access.h"
#include "common/mutex.h"
#include "proto/worker_service.grpc.pb.h"

namespace ksearch {

// One channel to the coordinator, connected when needed. Thread-safe.
class CoordinatorLink {
 public:
  // With a join token, which permits only Join, the calls below are UNAVAILABLE until Redial.
  explicit CoordinatorLink(const std::string& address, const ClientAccess& access = {});
  ~CoordinatorLink();

  // Later calls use a new channel with other credentials; calls in progress end on the old one.
  void Redial(const ClientAccess& access);
  // Calls WorkerService.Join once over its own channel.
  absl::StatusOr<v1::JoinReply> Join(const ClientAccess& access, const v1::JoinRequest& request);

  // Each call is made once.
  absl::StatusOr<v1::RecordResultReply::Disposition> RecordResult(
      const v1::RecordResultRequest& request);
  absl::StatusOr<std::string> FetchBlob(const std::string& sha256);
  // From `offset` on; `take` is called with one piece after the other, and an error of it ends the
  // call.
  absl::Status FetchBlobInto(const std::string& sha256, int64_t offset,
                             const std::function<absl::Status(absl::string_view)>& take);
  // Waits until there is a connection, or for `timeout`. Returns false if there is none. Without a
  // connection calls fail at once, and without a waiter gRPC checks a connection in progress only
  // every 5 s.
  bool WaitUntilConnected(absl::Duration timeout);
  // Ends calls in progress, and later ones, with CANCELLED.
  void Close();

  std::shared_ptr<v1::WorkerService::StubInterface> stub();  // null: not connected yet

 private:
  // Registers a call's context for Close.
  class OpenCall;

  const std::string address_;
  Mutex mu_;
  std::shared_ptr<grpc::Channel> channel_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<v1::WorkerService::StubInterface> stub_ ABSL_GUARDED_BY(mu_);
  std::set<grpc::ClientContext*> calls_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SESSION_COORDINATOR_LINK_H_
