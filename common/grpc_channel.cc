#include "common/grpc_channel.h"

#include <grpcpp/support/client_interceptor.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/pace.h"

namespace ksearch {
namespace {

// A peer that is silent for kKeepaliveMillis is pinged, and given up if no answer arrives within
// the timeout below, which allows round trips of over 1 s. This is sooner than TCP's own
// retransmissions become rare: after a partition that outlasts the connection, the client redials
// at most 1 s after the network is back.
// Each client pings up to a fifth earlier than this, at its own pace: a thousand of them would
// otherwise ping in step. The server waits longer, so it pings only if clients do not.
constexpr int kKeepaliveMillis = 1'250;
constexpr int kServerKeepaliveMillis = 1'500;
constexpr int kKeepaliveTimeoutMillis = 2'000;
// For TCP, TLS and HTTP/2 together, three round trips: enough for round trips of over 1 s.
constexpr int kConnectMillis = 5'000;
// A peer that connects and sends nothing is dropped after this time.
constexpr int kHandshakeMillis = 10'000;
constexpr int kMaxHeaderBytes = 8 << 10;

using Headers = std::vector<std::pair<std::string, std::string>>;

// Adds the token, and a worker's name, to every call. Call credentials would not work: gRPC refuses
// to send them without TLS, which loopback connections do not use.
class HeaderInterceptor final : public grpc::experimental::Interceptor {
 public:
  explicit HeaderInterceptor(const Headers* headers) : headers_(headers) {}
  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            grpc::experimental::InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      for (const auto& [name, value] : *headers_) {
        methods->GetSendInitialMetadata()->insert({name, value});
      }
    }
    methods->Proceed();
  }

 private:
  const Headers* const headers_;  // owned by the factory, which the channel keeps
};

class HeaderInterceptorFactory final
    : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  explicit HeaderInterceptorFactory(Headers headers) : headers_(std::move(headers)) {}
  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo* /*info*/) override {
    return new HeaderInterceptor(&headers_);
  }

 private:
  const Headers headers_;
};

std::shared_ptr<grpc::ChannelCredentials> Credentials(const ClientAccess& access) {
  if (access.ca.empty()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = access.ca;
  options.pem_cert_chain = access.certificate;
  options.pem_private_key = access.key;
  return grpc::SslCredentials(options);
}

}  // namespace

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address, const ClientAccess& access) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS,
                   static_cast<int>(absl::ToInt64Milliseconds(
                       Pace(RandomUint64()).Next(absl::Milliseconds(kKeepaliveMillis)))));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMillis);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // Despite its name, this bounds how long an attempt to connect may take.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMillis);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  // An HTTP proxy in the environment is meant for the web, not for the cluster.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (!access.server_name.empty()) arguments.SetSslTargetNameOverride(access.server_name);
  std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> interceptors;
  Headers headers;
  if (!access.token.empty()) {
    headers.emplace_back("authorization", absl::StrCat("Bearer ", access.token));
  }
  // Header values must be printable ASCII. A name that is not is left out.
  if (!access.worker_name.empty() && access.worker_name.size() <= 64 &&
      std::all_of(access.worker_name.begin(), access.worker_name.end(), absl::ascii_isgraph)) {
    headers.emplace_back(std::string(kWorkerNameHeader), access.worker_name);
  }
  if (!headers.empty()) {
    interceptors.push_back(std::make_unique<HeaderInterceptorFactory>(std::move(headers)));
  }
  return grpc::experimental::CreateCustomChannelWithInterceptors(
      address, Credentials(access), arguments, std::move(interceptors));
}

void ApplyServerSettings(grpc::ServerBuilder* builder) {
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kServerKeepaliveMillis);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMillis);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                              kKeepaliveMillis / 2);
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMillis);
  builder->AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxHeaderBytes);
  builder->SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder->SetMaxSendMessageSize(kMaxMessageBytes);
}

std::unique_ptr<grpc::ClientContext> ContextWithDeadline(absl::Duration timeout) {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(std::chrono::system_clock::now() + absl::ToChronoNanoseconds(timeout));
  return context;
}

absl::Status FromGrpc(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

}  // namespace ksearch
