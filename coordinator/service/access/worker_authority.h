#ifndef KSEARCH_COORDINATOR_SERVICE_ACCESS_WORKER_AUTHORITY_H_
#define KSEARCH_COORDINATOR_SERVICE_ACCESS_WORKER_AUTHORITY_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/access/certificates.h"
#include "common/clock.h"
#include "coordinator/service/access/access_control.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// Signs short-lived certificates for workers that join, with the coordinator's own authority, which
// is used for nothing else: <state_dir>/worker_ca.pem and .key (mode 0600). Does not record what it
// signed: a certificate contains the worker's name, and revocations are in the token file.
// Thread-safe.
class WorkerAuthority {
 public:
  // Reads or creates the authority. `clock` must outlive it. INVALID_ARGUMENT: the files do not
  // belong together, or the certificate has expired.
  static absl::StatusOr<std::unique_ptr<WorkerAuthority>> Create(
      const std::string& state_dir, absl::Duration certificate_life,
      const Clock* clock = &Clock::Real());

  // Errors as of WorkerService.Join. The caller must have checked that `caller` may call Join.
  absl::StatusOr<v1::JoinReply> Join(const v1::JoinRequest& request,
                                     const AccessControl::Caller& caller,
                                     const AccessControl& access) const;
  // The file with the authority's certificate.
  const std::string& certificate_file() const { return certificate_file_; }

 private:
  WorkerAuthority(KeyPair authority, std::string certificate_file, absl::Duration life,
                  const Clock* clock)
      : authority_(std::move(authority)),
        certificate_file_(std::move(certificate_file)),
        life_(life),
        clock_(clock) {}

  const KeyPair authority_;
  const std::string certificate_file_;
  const absl::Duration life_;
  const Clock* const clock_;
};

// PERMISSION_DENIED: the token is restricted to another pool.
absl::Status CheckPool(const std::string& token_id, const std::string& pool_of_token,
                       const std::string& pool_of_worker);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_ACCESS_WORKER_AUTHORITY_H_
