#include "coordinator/service/access/call_check.h"

#include <grpc/grpc_security_constants.h>

#include "absl/strings/match.h"
#include "common/access/certificates.h"
#include "common/grpc_channel.h"
#include "common/log.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

constexpr absl::Duration kLogEvery = absl::Seconds(1);

// The key under which gRPC passes the method's path to processors, beside the headers.
constexpr char kPath[] = ":path";
constexpr char kAuthorization[] = "authorization";
constexpr absl::string_view kReflection = "/grpc.reflection.";
constexpr absl::string_view kWorkerService = "/ksearch.v1.WorkerService/";

absl::string_view View(grpc::string_ref text) { return {text.data(), text.size()}; }

// Empty if there is none, or more than one: which of them counts must not depend on their order.
absl::string_view Only(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata,
                       const char* name) {
  const auto [begin, end] = metadata.equal_range(name);
  if (begin == end || std::next(begin) != end) return "";
  return View(begin->second);
}

}  // namespace

grpc::Status CallCheck::Process(const InputMetadata& metadata, grpc::AuthContext* context,
                                OutputMetadata* /*consumed*/, OutputMetadata* /*response*/) {
  const absl::Status status = Check(metadata, *context);
  if (status.ok()) return grpc::Status::OK;
  LogRefusal(status);
  if (refused_ && absl::StartsWith(Only(metadata, kPath), kWorkerService)) {
    refused_(std::string(Only(metadata, kWorkerNameHeader.data()).substr(0, 64)), status);
  }
  return ToGrpc(status);
}

absl::Status CallCheck::Check(const InputMetadata& metadata,
                              const grpc::AuthContext& context) const {
  const absl::string_view path = Only(metadata, kPath);
  // A health probe has no token, and learns no more than a port scan does.
  if (path == kHealthCheckPath) return absl::OkStatus();
  if (absl::StartsWith(path, kReflection)) {
    if (!reflection_) {
      return absl::UnimplementedError(
          "reflection is off (`reflection` in the coordinator's config)");
    }
    return access_->Authenticate(Only(metadata, kAuthorization)).status();
  }
  if (access_ == nullptr) return absl::OkStatus();
  if (!worker_certificates_ && metadata.find(kAuthorization) == metadata.end()) {
    if (const auto joined = JoinedPeer(context); joined.has_value()) {
      return access_->AuthorizeJoined(*joined, path).status();
    }
  }
  ASSIGN_OR_RETURN(const AccessControl::Caller caller,
                   access_->Authorize(Only(metadata, kAuthorization), path));
  if (worker_certificates_ && caller.role == v1::ROLE_WORKER &&
      CertifiedWorkerName(context).empty()) {
    return absl::UnauthenticatedError(
        "a worker must show a certificate with its name (URI:ksearch://worker/NAME) here; "
        "`ksearch pki issue --worker NAME` makes one, tls.certificate_file and tls.key_file of its "
        "config name it");
  }
  return absl::OkStatus();
}

void CallCheck::LogRefusal(const absl::Status& status) {
  const absl::Time now = Clock::Real().SteadyNow();
  MutexLock lock(&mu_);
  if (now - last_log_ < kLogEvery) {
    ++unlogged_;
    return;
  }
  LOG(WARNING) << "msg=\"call refused\" reason=\"" << status.message()
               << "\" refused_since_last_line=" << unlogged_;
  last_log_ = now;
  unlogged_ = 0;
}

absl::StatusOr<AccessControl::Caller> CallerOf(const AccessControl& access,
                                               const grpc::ServerContextBase& context) {
  if (context.client_metadata().find(kAuthorization) == context.client_metadata().end()) {
    if (const auto joined = JoinedPeer(*context.auth_context()); joined.has_value()) {
      return access.AuthenticateJoined(*joined);
    }
  }
  return access.Authenticate(Only(context.client_metadata(), kAuthorization));
}

std::optional<JoinedWorker> JoinedPeer(const grpc::AuthContext& context) {
  for (const grpc::string_ref& uri : context.FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME)) {
    if (auto joined = JoinedWorkerOfUri(View(uri)); joined.has_value()) return joined;
  }
  return std::nullopt;
}

std::string CertifiedWorkerName(const grpc::AuthContext& context) {
  for (const grpc::string_ref& uri : context.FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME)) {
    if (auto name = WorkerNameOfUri(View(uri)); name.has_value()) return *name;
  }
  return "";
}

}  // namespace ksearch
