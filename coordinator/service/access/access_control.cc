#include "coordinator/service/access/access_control.h"

#include <sys/stat.h>

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/access/access_token.h"
#include "common/access/token_file.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "proto/search_service.pb.h"
#include "proto/worker_service.pb.h"

namespace ksearch {
namespace {

// The same error for a missing token, an invented one, and one with a wrong secret.
absl::Status UnknownCaller() {
  return absl::UnauthenticatedError(
      "this coordinator needs an access token, and this call had no valid one: give "
      "--token-file or KSEARCH_TOKEN (a worker: token_file); `ksearch token create` makes one");
}

void AddService(const google::protobuf::FileDescriptor* file,
                std::map<std::string, v1::Role, std::less<>>* needs) {
  for (int i = 0; i < file->service_count(); ++i) {
    const google::protobuf::ServiceDescriptor* service = file->service(i);
    for (int j = 0; j < service->method_count(); ++j) {
      const google::protobuf::MethodDescriptor* method = service->method(j);
      (*needs)[absl::StrCat("/", service->full_name(), "/", method->name())] =
          method->options().GetExtension(v1::needs);
    }
  }
}

// The file is replaced by renaming, so a change shows as another inode at the latest.
std::string VersionOf(const std::string& path) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) != 0) return "none";
  return absl::StrCat(facts.st_ino, "/", facts.st_size, "/", facts.st_mtim.tv_sec, ".",
                      facts.st_mtim.tv_nsec, "/", facts.st_mode);
}

}  // namespace

absl::StatusOr<std::unique_ptr<AccessControl>> AccessControl::Create(Options options,
                                                                     const Clock* clock) {
  RETURN_IF_ERROR(ReadTokenFile(options.token_file).status());
  auto access = std::unique_ptr<AccessControl>(new AccessControl(std::move(options), clock));
  access->Reload();
  access->reloader_ = std::thread([control = access.get()] { control->ReloadLoop(); });
  return access;
}

AccessControl::AccessControl(Options options, const Clock* clock)
    : options_(std::move(options)), clock_(clock) {
  AddService(v1::ListRunsRequest::descriptor()->file(), &needs_);
  AddService(v1::WorkerHello::descriptor()->file(), &needs_);
}

AccessControl::~AccessControl() {
  {
    MutexLock lock(&mu_);
    closing_ = true;
    changed_.NotifyAll();
  }
  if (reloader_.joinable()) reloader_.join();
}

void AccessControl::SetEndedListener(Ended listener, WorkerEnded worker_listener) {
  MutexLock lock(&listener_mu_);
  listener_ = std::move(listener);
  worker_listener_ = std::move(worker_listener);
}

absl::StatusOr<AccessControl::Caller> AccessControl::Authenticate(
    absl::string_view authorization) const {
  if (!absl::ConsumePrefix(&authorization, "Bearer ")) return UnknownCaller();
  const auto id = TokenIdOf(authorization);
  if (!id.has_value()) return UnknownCaller();
  v1::AccessToken record;
  {
    MutexLock lock(&mu_);
    const auto it = tokens_.find(*id);
    if (it != tokens_.end()) record = it->second;
  }
  // Checking an unknown id takes as long as checking a known one.
  if (record.sha256().empty()) record.set_sha256(std::string(64, '0'));
  if (!TokenMatches(authorization, record)) return UnknownCaller();
  RETURN_IF_ERROR(CheckRecord(record));
  return Caller{record.token_id(), record.role(), record.name(), record.pool(), std::nullopt};
}

absl::StatusOr<AccessControl::Caller> AccessControl::AuthenticateJoined(
    const JoinedWorker& worker) const {
  if (worker.ends <= clock_->Now()) {
    return absl::UnauthenticatedError(
        absl::StrCat("the certificate of worker ", worker.worker_id, " ended at ",
                     absl::FormatTime(worker.ends, absl::UTCTimeZone())));
  }
  RETURN_IF_ERROR(CheckWorker(worker.worker_id));
  MutexLock lock(&mu_);
  const auto it = tokens_.find(worker.token_id);
  if (it == tokens_.end() || it->second.role() != v1::ROLE_JOIN || !KeepsSessions(it->second)) {
    return absl::UnauthenticatedError(absl::StrCat("join token ", worker.token_id,
                                                   ", with which worker ", worker.worker_id,
                                                   " came, was revoked"));
  }
  return Caller{worker.token_id, v1::ROLE_WORKER, it->second.name(), it->second.pool(), worker};
}

absl::StatusOr<AccessControl::Caller> AccessControl::AuthorizeJoined(const JoinedWorker& worker,
                                                                     absl::string_view path) const {
  ASSIGN_OR_RETURN(Caller caller, AuthenticateJoined(worker));
  const v1::Role needed = RoleNeeded(path);
  if (needed != v1::ROLE_WORKER && needed != v1::ROLE_JOIN) {
    return absl::PermissionDeniedError(
        absl::StrCat("a worker's certificate does not allow ", path.substr(0, 128)));
  }
  return caller;
}

absl::Status AccessControl::CheckWorker(const std::string& worker_id) const {
  MutexLock lock(&mu_);
  const auto it = revoked_workers_.find(worker_id);
  if (it == revoked_workers_.end()) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "worker ", worker_id, " was revoked at ", absl::FormatTime(it->second, absl::UTCTimeZone())));
}

bool AccessControl::KeepsSessions(const v1::AccessToken& record) const {
  return record.role() == v1::ROLE_JOIN ? !record.has_revoked_at() : CheckRecord(record).ok();
}

absl::StatusOr<AccessControl::Caller> AccessControl::Authorize(absl::string_view authorization,
                                                               absl::string_view path) const {
  ASSIGN_OR_RETURN(Caller caller, Authenticate(authorization));
  const v1::Role needed = RoleNeeded(path);
  if (needed == v1::ROLE_UNSPECIFIED) {
    return absl::PermissionDeniedError(absl::StrCat("nobody may call ", path.substr(0, 128)));
  }
  if (!RoleCovers(caller.role, needed)) {
    return absl::PermissionDeniedError(absl::StrCat(
        path.substr(path.rfind('/') + 1), " needs a token with role ", RoleName(needed), ", token ",
        caller.token_id, " has role ", RoleName(caller.role)));
  }
  return caller;
}

absl::Status AccessControl::CheckStillGood(const std::string& token_id) const {
  MutexLock lock(&mu_);
  const auto it = tokens_.find(token_id);
  if (it == tokens_.end()) return UnknownCaller();
  return CheckRecord(it->second);
}

v1::Role AccessControl::RoleNeeded(absl::string_view path) const {
  const auto it = needs_.find(path);
  return it == needs_.end() ? v1::ROLE_UNSPECIFIED : it->second;
}

absl::Status AccessControl::CheckRecord(const v1::AccessToken& record) const {
  if (record.has_revoked_at()) {
    return absl::UnauthenticatedError(
        absl::StrCat("token ", record.token_id(), " was revoked at ",
                     absl::FormatTime(FromProto(record.revoked_at()), absl::UTCTimeZone())));
  }
  if (record.has_expires_at() && FromProto(record.expires_at()) <= clock_->Now()) {
    return absl::UnauthenticatedError(
        absl::StrCat("token ", record.token_id(), " expired at ",
                     absl::FormatTime(FromProto(record.expires_at()), absl::UTCTimeZone())));
  }
  return absl::OkStatus();
}

void AccessControl::Reload() {
  const std::string version = VersionOf(options_.token_file);
  std::vector<std::string> ended, ended_workers;
  {
    MutexLock lock(&mu_);
    if (version != version_) {
      version_ = version;
      const auto list = ReadTokenFile(options_.token_file);
      if (list.ok()) {
        tokens_.clear();
        for (const v1::AccessToken& token : list->tokens()) tokens_[token.token_id()] = token;
        std::map<std::string, absl::Time> revoked;
        for (const v1::RevokedWorker& worker : list->revoked_workers()) {
          revoked[worker.worker_id()] = FromProto(worker.revoked_at());
          if (!revoked_workers_.contains(worker.worker_id())) {
            ended_workers.push_back(worker.worker_id());
          }
        }
        revoked_workers_ = std::move(revoked);
        LOG(INFO) << "msg=\"access tokens read\" file=" << options_.token_file
                  << " tokens=" << tokens_.size();
      } else {
        LOG(ERROR) << "msg=\"access tokens cannot be read; those read earlier stay valid\" "
                      "error=\""
                   << list.status().message() << "\"";
      }
    }
    std::set<std::string> good;
    for (const auto& [id, record] : tokens_) {
      if (KeepsSessions(record)) good.insert(id);
    }
    for (const std::string& id : good_) {
      if (!good.contains(id)) ended.push_back(id);
    }
    good_ = std::move(good);
  }
  for (const std::string& id : ended) {
    LOG(INFO) << "msg=\"access token is no longer good\" token=" << id;
    MutexLock lock(&listener_mu_);
    if (listener_) listener_(id);
  }
  for (const std::string& id : ended_workers) {
    LOG(INFO) << "msg=\"worker is revoked\" worker=" << id;
    MutexLock lock(&listener_mu_);
    if (worker_listener_) worker_listener_(id);
  }
}

void AccessControl::ReloadLoop() {
  while (true) {
    {
      MutexLock lock(&mu_);
      if (!closing_) changed_.WaitFor(&mu_, options_.reload_every);
      if (closing_) return;
    }
    Reload();
  }
}

}  // namespace ksearch
