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

// Asked by gRPC about every call before its handler sees it, so that no handler can forget to ask.
// Thread-safe.
class CallCheck final : public grpc::AuthMetadataProcessor {
 public:
  // `access` outlives the server; null: no tokens are in use, and everything may be called but
  // reflection. With `worker_certificates` a worker's calls need a certificate with a worker's name
  // too. With `reflection` every token may ask which services there are. Whether the server is up
  // (HealthCheckPath) may be asked by anybody.
  // `refused` is called for each refused call of a worker: the name that it gives itself
  // ("": none) and why. Must not block; may be null.
  using Refused = std::function<void(const std::string& worker_name, const absl::Status& why)>;
  CallCheck(const AccessControl* access, bool worker_certificates, bool reflection,
            Refused refused = nullptr)
      : access_(access),
        worker_certificates_(worker_certificates),
        reflection_(reflection),
        refused_(std::move(refused)) {}

  // Takes microseconds: it needs no thread of its own.
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
  absl::Time last_log_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();  // steady
  int64_t unlogged_ ABSL_GUARDED_BY(mu_) = 0;
};

// The method of gRPC's health checking that answers once.
inline constexpr absl::string_view kHealthCheckPath = "/grpc.health.v1.Health/Check";

// Who makes a call that CallCheck let through. UNAUTHENTICATED if the token, or the certificate
// used in its place, has ended meanwhile.
absl::StatusOr<AccessControl::Caller> CallerOf(const AccessControl& access,
                                               const grpc::ServerContextBase& context);

// The worker's name in the certificate that the peer showed; "" if none.
std::string CertifiedWorkerName(const grpc::AuthContext& context);
// What the certificate says that the peer got by joining, if it showed one.
std::optional<JoinedWorker> JoinedPeer(const grpc::AuthContext& context);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_ACCESS_CALL_CHECK_H_
