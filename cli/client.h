#ifndef KSEARCH_CLI_CLIENT_H_
#define KSEARCH_CLI_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/options.h"
#include "common/grpc_channel.h"
#include "proto/search_service.grpc.pb.h"

namespace ksearch {

// The command line's client of one coordinator. UNAVAILABLE errors name its address and what to do.
class Client {
 public:
  // REQUIRES: CheckAddress(address) and CheckClientAccess(address, access) are OK.
  explicit Client(const std::string& address, const ClientAccess& access = {});

  // Makes a unary call.
  template <typename Request, typename Reply>
  absl::StatusOr<Reply> Call(grpc::Status (v1::SearchService::Stub::*method)(grpc::ClientContext*,
                                                                             const Request&,
                                                                             Reply*),
                             const Request& request, absl::Duration deadline = absl::Seconds(30)) {
    const auto context = ContextWithDeadline(deadline);
    Reply reply;
    const grpc::Status status = (stub_.get()->*method)(context.get(), request, &reply);
    if (!status.ok()) return Explain(FromGrpc(status));
    return reply;
  }

  // Fetches all pages.
  absl::StatusOr<v1::ListWorkersReply> ListWorkers(bool gone = false,
                                                   absl::Duration deadline = absl::Seconds(30));

  v1::SearchService::Stub& stub() { return *stub_; }
  absl::Status Explain(const absl::Status& status) const;
  const std::string& address() const { return address_; }

 private:
  const std::string address_;
  const bool tls_;
  const std::unique_ptr<v1::SearchService::Stub> stub_;
};

// Returns OK for HOST:PORT and [IPV6]:PORT with a port from 1 to 65535, and for unix:PATH;
// otherwise INVALID_ARGUMENT.
absl::Status CheckAddress(const std::string& address);

// Returns the exit code for a failed call.
ExitCode ExitCodeFor(const absl::Status& status);

// Prints "ksearch: <message>" on stderr and returns the exit code.
int Fail(const absl::Status& status);

}  // namespace ksearch

#endif  // KSEARCH_CLI_CLIENT_H_
