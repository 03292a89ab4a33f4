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

// Decides who may call which RPC, by the tokens of a file that is reloaded when it changes.
// Independent of gRPC. Thread-safe; checks take microseconds and never read the file.
class AccessControl {
 public:
  struct Options {
    std::string token_file;
    // How often the file and the expiry of tokens are checked.
    absl::Duration reload_every = absl::Milliseconds(500);
  };
  struct Caller {
    std::string token_id;  // for a joined worker, the id of its join token
    v1::Role role = v1::ROLE_UNSPECIFIED;
    std::string name;
    std::string pool;                    // the pool that the token is restricted to; empty: any
    std::optional<JoinedWorker> joined;  // from the caller's certificate, if it has one
  };
  // Called with the id of a token that is no longer valid: revoked, expired or removed. (A worker
  // may stay after its join token expires, but not if the token is revoked or removed.) Runs on its
  // own thread and may block. Set before the first call is checked.
  using Ended = std::function<void(const std::string& token_id)>;
  // Called likewise with the id of a worker that has been revoked.
  using WorkerEnded = std::function<void(const std::string& worker_id)>;

  // `clock` must outlive the object. Errors as of ReadTokenFile.
  static absl::StatusOr<std::unique_ptr<AccessControl>> Create(Options options,
                                                               const Clock* clock = &Clock::Real());
  ~AccessControl();
  AccessControl(const AccessControl&) = delete;
  AccessControl& operator=(const AccessControl&) = delete;

  // Returns once no call of the previous listener is in progress.
  void SetEndedListener(Ended listener, WorkerEnded worker_listener = nullptr);

  // `authorization`: the value of the header, "Bearer <token>". UNAUTHENTICATED says why the token
  // is refused; a caller without a known token always gets the same message.
  absl::StatusOr<Caller> Authenticate(absl::string_view authorization) const;
  // UNAUTHENTICATED as above; PERMISSION_DENIED: `path`, for example
  // "/ksearch.v1.SearchService/GetRun", needs another role, or there is no such RPC.
  absl::StatusOr<Caller> Authorize(absl::string_view authorization, absl::string_view path) const;
  // The same for a caller that presented a certificate signed by this coordinator instead of a
  // token: it has the role of a worker and may call Join again.
  absl::StatusOr<Caller> AuthenticateJoined(const JoinedWorker& worker) const;
  absl::StatusOr<Caller> AuthorizeJoined(const JoinedWorker& worker, absl::string_view path) const;
  // PERMISSION_DENIED: the worker has been revoked.
  absl::Status CheckWorker(const std::string& worker_id) const;
  // Checks that a token that was accepted earlier is still valid. UNAUTHENTICATED otherwise.
  absl::Status CheckStillGood(const std::string& token_id) const;
  // The role that an RPC needs; ROLE_UNSPECIFIED: nobody may call it.
  v1::Role RoleNeeded(absl::string_view path) const;

  // Reads the file if it has changed. If it is missing or cannot be read, the tokens stay as they
  // were and an error is logged.
  void Reload();

 private:
  AccessControl(Options options, const Clock* clock);
  void ReloadLoop();
  absl::Status CheckRecord(const v1::AccessToken& record) const;
  // Returns true if workers that joined with this join token may stay, or, for any other token, if
  // it is valid.
  bool KeepsSessions(const v1::AccessToken& record) const;

  const Options options_;
  const Clock* const clock_;
  std::map<std::string, v1::Role, std::less<>> needs_;  // by path; constant after construction

  Mutex listener_mu_;  // held while the listener is called; never together with mu_
  Ended listener_ ABSL_GUARDED_BY(listener_mu_);
  WorkerEnded worker_listener_ ABSL_GUARDED_BY(listener_mu_);
  mutable Mutex mu_;
  CondVar changed_;
  std::map<std::string, v1::AccessToken> tokens_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> good_ ABSL_GUARDED_BY(mu_);  // ids of the tokens valid at the latest reload
  std::map<std::string, absl::Time> revoked_workers_ ABSL_GUARDED_BY(mu_);
  std::string version_ ABSL_GUARDED_BY(mu_);  // of the file; changes with its content
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  std::thread reloader_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_ACCESS_ACCESS_CONTROL_H_
