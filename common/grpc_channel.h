#ifndef KSEARCH_COMMON_GRPC_CHANNEL_H_
#define KSEARCH_COMMON_GRPC_CHANNEL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/access/client_access.h"

namespace ksearch {

// Largest message either side accepts.
inline constexpr int kMaxMessageBytes = 16 << 20;

// Names a worker to a coordinator that refuses it (ClientAccess::worker_name); proves nothing.
inline constexpr absl::string_view kWorkerNameHeader = "x-ksearch-worker";

// A channel with keepalive (a silent peer is noticed within about 3 s), reconnect backoff capped
// at 1 s, and the message limit above. TLS if `access` names a CA; its token goes with every call.
// Does not connect yet. REQUIRES: CheckClientAccess(address, access) is OK.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address,
                                           const ClientAccess& access = {});

// The matching server settings: keepalive permitted as MakeChannel uses it, SO_REUSEPORT off so
// that a second coordinator on the port fails, message limit, short handshakes.
void ApplyServerSettings(grpc::ServerBuilder* builder);

// Every unary call has a deadline.
std::unique_ptr<grpc::ClientContext> ContextWithDeadline(absl::Duration timeout);

absl::Status FromGrpc(const grpc::Status& status);
grpc::Status ToGrpc(const absl::Status& status);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_GRPC_CHANNEL_H_
