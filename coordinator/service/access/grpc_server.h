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

// The coordinator's network endpoint: address, TLS, access checks, connection limit.
class GrpcServer {
 public:
  // Starts to listen. If `access` is null, every client that can connect may call anything;
  // FAILED_PRECONDITION refuses that for an address that is not local, and likewise an address that
  // is not local without TLS, and says what to do. ALREADY_EXISTS: the address is in use.
  // INVALID_ARGUMENT: faulty certificate or key; names the file. The services and `access` must
  // outlive the server. If `authority` is null, no worker can join. `refused` is as in CallCheck.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(
      const v1::CoordinatorConfig& config, const AccessControl* access,
      const std::vector<grpc::Service*>& services, const WorkerAuthority* authority = nullptr,
      CallCheck::Refused refused = nullptr);
  // Calls Shutdown(0).
  ~GrpcServer();

  // The address that the server listens on, with the actual port.
  const std::string& address() const { return address_; }
  // Waits up to `patience` for calls in progress, then cancels them. Idempotent.
  void Shutdown(absl::Duration patience);

 private:
  GrpcServer() = default;

  std::string address_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<ConnectionDoor> door_;  // outlives server_, which reports calls to it
  std::unique_ptr<grpc::Server> server_;
};

// Makes the access control of a config. Returns null if the config names no token file and the
// default one does not exist, so that a coordinator on loopback needs none. Errors as of
// AccessControl::Create, and FAILED_PRECONDITION as of Start, before anything is changed.
absl::StatusOr<std::unique_ptr<AccessControl>> MakeAccessControl(
    const v1::CoordinatorConfig& config);
// Makes the authority for workers that join. Returns null without TLS or tokens, or if workers have
// certificates of another authority (tls.client_ca_file). Errors as of WorkerAuthority::Create.
absl::StatusOr<std::unique_ptr<WorkerAuthority>> MakeWorkerAuthority(
    const v1::CoordinatorConfig& config, const AccessControl* access);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_ACCESS_GRPC_SERVER_H_
