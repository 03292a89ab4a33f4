#ifndef KSEARCH_COORDINATOR_SERVICE_ACCESS_CALL_CHECK_H_
#define KSEARCH_COORDINATOR_SERVICE_ACCESS_CALL_CHECK_H_

#include <grpcpp/grpcpp.h>
#include <grpcpp/security/auth_metadata_processor.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/access/certificates.h"
#include "common/mutex.h"
#include "coordinator/service/access/access_control.h"

namespace ksearch {

// Called by gRPC for every call before its handler, so that no handler can skip the check.
// Thread-safe.
class CallCheck final : public grpc::AuthMetadataProcessor {
 public:
  // `access` must outlive the server; null: no tokens are in use, and everything but reflection may
  // be called. With `worker_certificates`, a worker's calls also need a certificate with a worker's
  // name. With `reflection`, every token may list the services. Anybody may ask for the server's
  // health (HealthCheckPath). `refused` is called for each refused call of a worker with the name
  // that it claims ("": none) and the reason; it must not block and may be null.
  using Refused = std::function<void(const std::string& worker_name, const absl::Status& why)>;
  CallCheck(const AccessControl* access, bool worker_certificates, bool reflection,
            Refused refused = nullptr)
      : access_(access),
        worker_certificates_(worker_certificates),
        reflection_(reflection),
        refused_(std::move(refused)) {}

  // Checks take microseconds and need no thread of their own.
  bool IsBlocking() const override { return false; }
  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* context,
                       OutputMetadata* consumed, OutputMetadata* response) override;

 private:
  absl::Status Check(const InputMetadata& metadata, const grpc::AuthContext& context) const;
  void LogRefusal(const absl::Status& status);

  const AccessControl* const access_;
  const bool worker_certificates_;
  const bool reflection_;
  const Refused refused_;

  Mutex mu_;
  absl::Time last_log_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();  // monotonic clock
  int64_t unlogged_ ABSL_GUARDED_BY(mu_) = 0;
};

// The unary method of gRPC's health checking.
inline constexpr absl::string_view kHealthCheckPath = "/grpc.health.v1.Health/Check";

// Returns the caller of a call that CallCheck admitted. UNAUTHENTICATED if the token, or the
// certificate used instead, has expired or been revoked since.
absl::StatusOr<AccessControl::Caller> CallerOf(const AccessControl& access,
                                               const grpc::ServerContextBase& context);

// Returns the worker's name from the peer's certificate, "" if there is none.
std::string CertifiedWorkerName(const grpc::AuthContext& context);
// Returns the identity in a certificate that the peer got by joining, if it presented one.
std::optional<JoinedWorker> JoinedPeer(const grpc::AuthContext& context);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_ACCESS_CALL_CHECK_H_
