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

// One channel to the coordinator, dialed when needed. Thread-safe.
class CoordinatorLink {
 public:
  // With a join token, which opens none of the calls below but Join, they are UNAVAILABLE until
  // Redial.
  explicit CoordinatorLink(const std::string& address, const ClientAccess& access = {});
  ~CoordinatorLink();

  // Later calls go over a new channel, with other credentials; calls under way end on the old one.
  void Redial(const ClientAccess& access);
  // WorkerService.Join over a channel of its own; one try.
  absl::StatusOr<v1::JoinReply> Join(const ClientAccess& access, const v1::JoinRequest& request);

  // One try each.
  absl::StatusOr<v1::RecordResultReply::Disposition> RecordResult(
      const v1::RecordResultRequest& request);
  absl::StatusOr<std::string> FetchBlob(const std::string& sha256);
  // From `offset` on; `take` is called with one piece after the other, and its error ends the call.
  absl::Status FetchBlobInto(const std::string& sha256, int64_t offset,
                             const std::function<absl::Status(absl::string_view)>& take);
  // Waits until there is a connection, or for `timeout`; false: there is none. Calls fail at once
  // while there is none, and without anybody waiting gRPC looks at a connection in the making every
  // 5 s only.
  bool WaitUntilConnected(absl::Duration timeout);
  // Ends calls under way, and later ones, with CANCELLED.
  void Close();

  std::shared_ptr<v1::WorkerService::StubInterface> stub();  // null: not dialed yet

 private:
  // Keeps a call's context where Close finds it.
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
