#ifndef KSEARCH_GPU_WORKER_SESSION_JOINER_H_
#define KSEARCH_GPU_WORKER_SESSION_JOINER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/access/client_access.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// Keeps a valid certificate for a worker that has a join token: requests the first one with the
// token, and later ones with the current certificate. The key, <state_dir>/worker.key, never leaves
// the machine; <state_dir>/worker.pem lets a worker that restarts do without the token. Goes by
// durations on a monotonic clock, so that no machine's clock has to be right. Thread-compatible.
class Joiner {
 public:
  // Calls WorkerService.Join once with these credentials.
  using Ask = std::function<absl::StatusOr<v1::JoinReply>(const ClientAccess& access,
                                                          const v1::JoinRequest& request)>;

  // Returns true if the access is a join token, which permits only Join.
  static bool IsNeeded(const ClientAccess& access);
  // `hello` contains worker_id, name and pool. Reads or creates the key. `wall_now` is only used to
  // decide whether the certificate from before a restart is worth trying. INVALID_ARGUMENT: without
  // TLS, or a key file without a key. FAILED_PRECONDITION: others may read the key.
  static absl::StatusOr<std::unique_ptr<Joiner>> Open(const std::string& state_dir,
                                                      const ClientAccess& access,
                                                      const v1::WorkerHello& hello, Ask ask,
                                                      absl::Time wall_now);

  // When to ask next (monotonic): two thirds into the life of the certificate; in the past if there
  // is none.
  absl::Time due() const { return due_; }
  // Returns true if there is a certificate that is valid at `now` (monotonic).
  bool HasCertificate(absl::Time now) const { return now < ends_; }
  // Requests the first or a new certificate. After an error that may be temporary, due() is a
  // little later.
  absl::Status Renew(const std::function<absl::Time()>& steady_now);
  // The credentials for opening sessions: the certificate, no token.
  ClientAccess access() const;

 private:
  Joiner(std::string state_dir, ClientAccess access, v1::JoinRequest request, Ask ask)
      : state_dir_(std::move(state_dir)),
        given_(std::move(access)),
        request_(std::move(request)),
        ask_(std::move(ask)) {}

  const std::string state_dir_;
  const ClientAccess given_;  // including the token
  const v1::JoinRequest request_;
  const Ask ask_;
  std::string key_;
  std::string certificate_;  // empty: none, or expired
  absl::Time due_ = absl::InfinitePast();
  absl::Time ends_ = absl::InfinitePast();
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SESSION_JOINER_H_
