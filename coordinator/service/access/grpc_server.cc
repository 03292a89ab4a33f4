#include "coordinator/service/access/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/support/server_interceptor.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/access/certificates.h"
#include "common/access/client_access.h"
#include "common/grpc_channel.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/unique_fd.h"

namespace ksearch {
namespace {

constexpr int kDefaultMaxConnections = 1024;
// For the database, model calls, logs and gRPC's own.
constexpr int kOtherDescriptors = 256;
constexpr unsigned kRereadSeconds = 5;
constexpr int64_t kMaxPemBytes = 1 << 20;
constexpr absl::Duration kDefaultCertificateLife = absl::Hours(24);
constexpr absl::Duration kShortestCertificateLife = absl::Seconds(2);
constexpr absl::Duration kLongestCertificateLife = absl::Hours(24 * 365);

std::string TokenPath(const v1::CoordinatorConfig& config) {
  return config.token_file().empty() ? config.state_dir() + "/tokens.textproto"
                                     : config.token_file();
}

absl::Status CheckExposure(const v1::CoordinatorConfig& config, bool has_tokens) {
  if (IsLocalAddress(config.listen_address())) return absl::OkStatus();
  std::string missing;
  if (config.tls().certificate_file().empty() || config.tls().key_file().empty()) {
    missing =
        "a certificate and key (tls { certificate_file: ... key_file: ... } in the config; "
        "`ksearch pki init` and `ksearch pki issue --server HOST` make them)";
  }
  if (!has_tokens) {
    absl::StrAppend(&missing, missing.empty() ? "" : " and ",
                    "access tokens (`ksearch token create "
                    "--role admin --token-db ",
                    TokenPath(config), "`)");
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "listen_address '", config.listen_address(),
      "' is not a loopback address: whoever reaches it could run programs on every worker, so it "
      "needs ",
      missing,
      ". Or listen on 127.0.0.1 and reach it through an SSH tunnel; see docs/security.md"));
}

absl::Status CheckTlsFiles(const v1::ServerTls& tls) {
  KeyPair pair;
  if (tls.certificate_file().empty() != tls.key_file().empty()) {
    return absl::InvalidArgumentError("tls: certificate_file and key_file go together");
  }
  if (tls.certificate_file().empty()) {
    return absl::InvalidArgumentError("tls: certificate_file and key_file are missing");
  }
  ASSIGN_OR_RETURN(pair.certificate, ReadFile(tls.certificate_file(), kMaxPemBytes));
  ASSIGN_OR_RETURN(pair.key, ReadFile(tls.key_file(), kMaxPemBytes));
  RETURN_IF_ERROR(CheckKeyPair(
      pair, absl::Now(), absl::StrCat("tls: ", tls.certificate_file(), " with ", tls.key_file())));
  if (tls.client_ca_file().empty()) return absl::OkStatus();
  ClientAccessFiles authority;
  authority.ca_file = tls.client_ca_file();
  return ReadClientAccess(authority).status();
}

// `client_ca_file`: the authority of clients' certificates; empty: none are requested.
std::shared_ptr<grpc::ServerCredentials> TlsCredentials(const v1::ServerTls& tls,
                                                        const std::string& client_ca_file) {
  using grpc::experimental::FileWatcherCertificateProvider;
  const bool clients = !client_ca_file.empty();
  auto provider = std::make_shared<FileWatcherCertificateProvider>(
      tls.key_file(), tls.certificate_file(), client_ca_file, kRereadSeconds);
  grpc::experimental::TlsServerCredentialsOptions options(provider);
  options.watch_identity_key_cert_pairs();
  if (clients) {
    options.watch_root_certs();
    // Certificates are optional: people authenticate with tokens only.
    options.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  } else {
    options.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

// Credentials without encryption that still allow calls to be checked; gRPC rejects peers that are
// not local.
std::shared_ptr<grpc::ServerCredentials> LocalCredentials(bool unix_socket) {
  return grpc::experimental::LocalServerCredentials(unix_socket ? UDS : LOCAL_TCP);
}

// The configured number of connections, or fewer if the limit on descriptors, which this raises as
// far as it can, does not allow them.
int ConnectionLimit(int wanted) {
  if (wanted <= 0) wanted = kDefaultMaxConnections;
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const rlim_t needed = static_cast<rlim_t>(wanted + kOtherDescriptors);
  if (limit.rlim_cur < needed) {
    limit.rlim_cur = std::min(needed, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (limit.rlim_cur >= needed) return wanted;
  const int possible = std::max<int>(16, static_cast<int>(limit.rlim_cur) - kOtherDescriptors);
  LOG(WARNING) << "msg=\"fewer connections than configured: the limit on open files is low\" "
                  "max_connections="
               << possible << " open_files=" << limit.rlim_cur;
  return possible;
}

// Tells the door about each authorized call, so that its connection counts as known. Methods that
// anybody may call do not count.
class CallerIsKnown final : public grpc::experimental::Interceptor {
 public:
  CallerIsKnown(ConnectionDoor* door, grpc::experimental::ServerRpcInfo* call)
      : door_(door), call_(call) {}
  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            grpc::experimental::InterceptionHookPoints::POST_RECV_INITIAL_METADATA) &&
        call_->method() != kHealthCheckPath) {
      door_->MakeKnown(call_->server_context()->peer());
    }
    methods->Proceed();
  }

 private:
  ConnectionDoor* const door_;
  grpc::experimental::ServerRpcInfo* const call_;
};

class CallersAreKnown final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit CallersAreKnown(ConnectionDoor* door) : door_(door) {}
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* call) override {
    return new CallerIsKnown(door_, call);
  }

 private:
  ConnectionDoor* const door_;
};

absl::Status CannotListen(const v1::CoordinatorConfig& config, absl::string_view why) {
  return absl::AlreadyExistsError(
      absl::StrCat("cannot listen on ", config.listen_address(), why.empty() ? "" : " (", why,
                   why.empty() ? "" : ")",
                   ": is another coordinator running there? (listen_address or --listen)"));
}

// gRPC would take the socket away from a coordinator that listens there, and logs a page of its
// own about whatever else keeps it from binding.
absl::Status CheckSocketPath(const v1::CoordinatorConfig& config) {
  const std::string path(absl::StripPrefix(config.listen_address(), "unix:"));
  const auto refuse = [&config](absl::string_view why) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot listen on ", config.listen_address(), ": ", why));
  };
  sockaddr_un where = {};
  where.sun_family = AF_UNIX;
  if (path.size() >= sizeof where.sun_path) {
    return refuse(absl::StrCat("the path of a socket may have ", sizeof where.sun_path - 1,
                               " characters at most"));
  }
  path.copy(where.sun_path, path.size());
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    return refuse(ErrnoStatus(errno, absl::StrCat("write to the folder ", folder)).message());
  }
  struct stat facts;
  if (::lstat(path.c_str(), &facts) != 0) return absl::OkStatus();
  if (!S_ISSOCK(facts.st_mode)) {
    return refuse("a file that is not a socket has that name; remove it, or give another --listen");
  }
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (probe.ok() &&
      ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0) {
    return CannotListen(config, "a process listens there");
  }
  return absl::OkStatus();  // left by a process that has ended
}

}  // namespace

absl::StatusOr<std::unique_ptr<AccessControl>> MakeAccessControl(
    const v1::CoordinatorConfig& config) {
  AccessControl::Options options;
  options.token_file = TokenPath(config);
  if (config.token_file().empty() && ::access(options.token_file.c_str(), F_OK) != 0) {
    RETURN_IF_ERROR(CheckExposure(config, /*has_tokens=*/false));
    return std::unique_ptr<AccessControl>();
  }
  RETURN_IF_ERROR(CheckExposure(config, /*has_tokens=*/true));
  return AccessControl::Create(std::move(options));
}

absl::StatusOr<std::unique_ptr<WorkerAuthority>> MakeWorkerAuthority(
    const v1::CoordinatorConfig& config, const AccessControl* access) {
  if (!config.has_tls() || access == nullptr || !config.tls().client_ca_file().empty()) {
    return std::unique_ptr<WorkerAuthority>();
  }
  absl::Duration life = kDefaultCertificateLife;
  if (config.tls().has_worker_certificate_life()) {
    life = FromProto(config.tls().worker_certificate_life());
    if (life < kShortestCertificateLife || life > kLongestCertificateLife) {
      return absl::InvalidArgumentError("tls.worker_certificate_life: must be 2 s to 365 days");
    }
  }
  return WorkerAuthority::Create(config.state_dir(), life);
}

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(
    const v1::CoordinatorConfig& config, const AccessControl* access,
    const std::vector<grpc::Service*>& services, const WorkerAuthority* authority,
    CallCheck::Refused refused) {
  RETURN_IF_ERROR(CheckExposure(config, access != nullptr));
  const bool unix_socket = absl::StartsWith(config.listen_address(), "unix:");
  const bool reflection =
      config.has_reflection() ? config.reflection() : IsLocalAddress(config.listen_address());
  std::shared_ptr<grpc::ServerCredentials> credentials;
  if (config.has_tls()) {
    RETURN_IF_ERROR(CheckTlsFiles(config.tls()));
    credentials =
        TlsCredentials(config.tls(), authority != nullptr ? authority->certificate_file()
                                                          : config.tls().client_ca_file());
  } else if (access != nullptr || !reflection) {
    credentials = LocalCredentials(unix_socket);
  } else {
    credentials = grpc::InsecureServerCredentials();
  }
  if (access != nullptr || !reflection) {
    credentials->SetAuthMetadataProcessor(std::make_shared<CallCheck>(
        access, !config.tls().client_ca_file().empty(), reflection, std::move(refused)));
  }
  grpc::EnableDefaultHealthCheckService(true);
  // Affects every later server of this process; CallCheck refuses reflection where it is off.
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();

  auto server = std::unique_ptr<GrpcServer>(new GrpcServer);
  grpc::ServerBuilder builder;
  ApplyServerSettings(&builder);
  for (grpc::Service* service : services) builder.RegisterService(service);
  if (unix_socket) {
    RETURN_IF_ERROR(CheckSocketPath(config));
    int bound = 0;
    // A process that can open the socket may do anything, so only this account may, from the first
    // moment.
    const mode_t mask = ::umask(0177);
    builder.AddListeningPort(config.listen_address(), credentials, &bound);
    server->server_ = builder.BuildAndStart();
    ::umask(mask);
    if (server->server_ == nullptr || bound == 0) return CannotListen(config, "");
    server->address_ = config.listen_address();
    return server;
  }
  const size_t colon = config.listen_address().rfind(':');
  const std::string host = config.listen_address().substr(0, colon);
  ConnectionDoor::Options door;
  door.host = std::string(absl::StripSuffix(absl::StripPrefix(host, "["), "]"));
  if (!absl::SimpleAtoi(config.listen_address().substr(colon + 1), &door.port)) {
    return absl::InvalidArgumentError(absl::StrCat("listen_address '", config.listen_address(),
                                                   "' must be HOST:PORT, e.g. 127.0.0.1:7400"));
  }
  door.max_connections = ConnectionLimit(config.max_connections());
  auto listening = ConnectionDoor::Listen(std::move(door));
  if (!listening.ok()) return CannotListen(config, listening.status().message());
  server->acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials);
  server->door_ = *std::move(listening);
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(std::make_unique<CallersAreKnown>(server->door_.get()));
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr) {
    return absl::InternalError(absl::StrCat("gRPC cannot serve on ", config.listen_address(),
                                            "; its lines in the log say why"));
  }
  server->address_ = absl::StrCat(host, ":", server->door_->port());
  server->door_->Open([acceptor = server->acceptor_.get()](int listener_fd, UniqueFd fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.listener_fd = listener_fd;
    connection.fd = fd.Release();
    acceptor->HandleNewConnection(&connection);
  });
  return server;
}

GrpcServer::~GrpcServer() { Shutdown(absl::ZeroDuration()); }

void GrpcServer::Shutdown(absl::Duration patience) {
  if (door_ != nullptr) door_->Close();
  if (server_ == nullptr) return;  // Start failed half-way
  if (auto* const health = server_->GetHealthCheckService(); health != nullptr) health->Shutdown();
  server_->Shutdown(std::chrono::system_clock::now() + absl::ToChronoNanoseconds(patience));
  server_->Wait();
}

}  // namespace ksearch
