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

// Signs the short-lived certificates of workers that join, with an authority of the coordinator's
// own that is good for nothing else: <state_dir>/worker_ca.pem and .key (mode 0600). Nothing is
// kept of what was signed: a certificate says for whom it is, and revocations stand in the token
// file. Thread-safe.
class WorkerAuthority {
 public:
  // Reads the authority, or makes it. `clock` outlives it. INVALID_ARGUMENT: the files do not
  // belong together, or have ended.
  static absl::StatusOr<std::unique_ptr<WorkerAuthority>> Create(
      const std::string& state_dir, absl::Duration certificate_life,
      const Clock* clock = &Clock::Real());

  // `caller` may call Join. Errors as WorkerService.Join.
  absl::StatusOr<v1::JoinReply> Join(const v1::JoinRequest& request,
                                     const AccessControl::Caller& caller,
                                     const AccessControl& access) const;
  // The file with its certificate.
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

// PERMISSION_DENIED: the token is for workers of another pool.
absl::Status CheckPool(const std::string& token_id, const std::string& pool_of_token,
                       const std::string& pool_of_worker);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_ACCESS_WORKER_AUTHORITY_H_
