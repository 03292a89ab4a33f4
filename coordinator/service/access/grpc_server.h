#ifndef KSEARCH_COORDINATOR_SERVICE_ACCESS_GRPC_SERVER_H_
#define KSEARCH_COORDINATOR_SERVICE_ACCESS_GRPC_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/service/access/access_control.h"
#include "coordinator/service/access/call_check.h"
#include "coordinator/service/access/connection_door.h"
#include "coordinator/service/access/worker_authority.h"
#include "proto/config.pb.h"

namespace ksearch {

// The coordinator's door to the network: address, TLS, access checks, connection limit.
class GrpcServer {
 public:
  // Listens at once. `access` may be null: then every client that can connect may call anything;
  // with an address that is not local that is refused, as is one without TLS: FAILED_PRECONDITION
  // says what to do. ALREADY_EXISTS: the address is taken. INVALID_ARGUMENT: certificate or key,
  // naming the file. Services and `access` outlive it. `authority` may be null: nobody can join.
  // `refused` as of CallCheck.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(
      const v1::CoordinatorConfig& config, const AccessControl* access,
      const std::vector<grpc::Service*>& services, const WorkerAuthority* authority = nullptr,
      CallCheck::Refused refused = nullptr);
  // As Shutdown(0).
  ~GrpcServer();

  // Where it listens, with the port that was picked.
  const std::string& address() const { return address_; }
  // Waits `patience` for calls under way, then cancels them. Idempotent.
  void Shutdown(absl::Duration patience);

 private:
  GrpcServer() = default;

  std::string address_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<ConnectionDoor> door_;  // outlives server_, which tells it of calls
  std::unique_ptr<grpc::Server> server_;
};

// The access control of a config: null if its token file is not there and none is named, so that a
// coordinator on loopback needs none. Errors of AccessControl::Create, and FAILED_PRECONDITION as
// Start, so that nothing is touched before.
absl::StatusOr<std::unique_ptr<AccessControl>> MakeAccessControl(
    const v1::CoordinatorConfig& config);
// The authority for workers that join: null without TLS or tokens, and where workers have
// certificates of another authority (tls.client_ca_file). Errors of WorkerAuthority::Create.
absl::StatusOr<std::unique_ptr<WorkerAuthority>> MakeWorkerAuthority(
    const v1::CoordinatorConfig& config, const AccessControl* access);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_ACCESS_GRPC_SERVER_H_
