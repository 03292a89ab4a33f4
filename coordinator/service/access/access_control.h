#ifndef KSEARCH_COORDINATOR_SERVICE_ACCESS_ACCESS_CONTROL_H_
#define KSEARCH_COORDINATOR_SERVICE_ACCESS_ACCESS_CONTROL_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/access/certificates.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "proto/access.pb.h"

namespace ksearch {

// Decides who may call which RPC, by the tokens of a file that is read again when it changes. Knows
// nothing of gRPC. Thread-safe; checks take microseconds and never touch the file.
class AccessControl {
 public:
  struct Options {
    std::string token_file;
    // How often the file and the expiry of tokens are looked at.
    absl::Duration reload_every = absl::Milliseconds(500);
  };
  struct Caller {
    std::string token_id;  // of one that joined: its join token's
    v1::Role role = v1::ROLE_UNSPECIFIED;
    std::string name;
    std::string pool;                    // the token is good for; empty: any
    std::optional<JoinedWorker> joined;  // by whose certificate it came
  };
  // Called with a token_id when that token stops being good: revoked, expired or removed. (Workers
  // outlive the end of the join token that they came with, but not that it is revoked or removed.)
  // On a thread of its own; may block. Set before the first call is checked.
  using Ended = std::function<void(const std::string& token_id)>;
  // Called likewise with the id of a worker that was revoked.
  using WorkerEnded = std::function<void(const std::string& worker_id)>;

  // `clock` outlives it. Errors of ReadTokenFile.
  static absl::StatusOr<std::unique_ptr<AccessControl>> Create(Options options,
                                                               const Clock* clock = &Clock::Real());
  ~AccessControl();
  AccessControl(const AccessControl&) = delete;
  AccessControl& operator=(const AccessControl&) = delete;

  // Returns when the earlier listener is no longer being called.
  void SetEndedListener(Ended listener, WorkerEnded worker_listener = nullptr);

  // `authorization`: the header's value, "Bearer <token>". UNAUTHENTICATED says why it is not good;
  // to strangers always the same.
  absl::StatusOr<Caller> Authenticate(absl::string_view authorization) const;
  // UNAUTHENTICATED as above, or PERMISSION_DENIED: the role is not the one `path`,
  // "/ksearch.v1.SearchService/GetRun", needs, or no such RPC is known.
  absl::StatusOr<Caller> Authorize(absl::string_view authorization, absl::string_view path) const;
  // The same for who showed, in the place of a token, a certificate that this coordinator signed:
  // it has the role of a worker, and may call Join again.
  absl::StatusOr<Caller> AuthenticateJoined(const JoinedWorker& worker) const;
  absl::StatusOr<Caller> AuthorizeJoined(const JoinedWorker& worker, absl::string_view path) const;
  // PERMISSION_DENIED: the worker is revoked.
  absl::Status CheckWorker(const std::string& worker_id) const;
  // Whether a token that was good still is. UNAUTHENTICATED.
  absl::Status CheckStillGood(const std::string& token_id) const;
  // What an RPC needs; ROLE_UNSPECIFIED: nobody may call it.
  v1::Role RoleNeeded(absl::string_view path) const;

  // Reads the file now if it has changed. A file that cannot be read, or is gone, leaves the tokens
  // as they were and is said in the log.
  void Reload();

 private:
  AccessControl(Options options, const Clock* clock);
  void ReloadLoop();
  absl::Status CheckRecord(const v1::AccessToken& record) const;
  // For a join token: whether workers that joined with it may stay. For any other token: whether it
  // is valid.
  bool KeepsSessions(const v1::AccessToken& record) const;

  const Options options_;
  const Clock* const clock_;
  std::map<std::string, v1::Role, std::less<>> needs_;  // by path; constant after construction

  Mutex listener_mu_;  // held while the listener is called; never with mu_
  Ended listener_ ABSL_GUARDED_BY(listener_mu_);
  WorkerEnded worker_listener_ ABSL_GUARDED_BY(listener_mu_);
  mutable Mutex mu_;
  CondVar changed_;
  std::map<std::string, v1::AccessToken> tokens_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> good_ ABSL_GUARDED_BY(mu_);  // ids, at the latest reload
  std::map<std::string, absl::Time> revoked_workers_ ABSL_GUARDED_BY(mu_);
  std::string version_ ABSL_GUARDED_BY(mu_);  // of the file: changes with its content
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  std::thread reloader_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_ACCESS_ACCESS_CONTROL_H_
