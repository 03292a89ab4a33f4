#include "gpu_worker/session/joiner.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/access/certificates.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr int64_t kMaxPemBytes = 64 << 10;
constexpr absl::Duration kLongestPause = absl::Minutes(5);

absl::StatusOr<std::string> ReadOrMakeKey(const std::string& path) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) != 0) {
    ASSIGN_OR_RETURN(std::string key, MakeKey());
    RETURN_IF_ERROR(WriteFileAtomically(path, key, 0600));
    return key;
  }
  if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        path,
        " is the worker's private key, and others may read it: remove it, and worker_id beside "
        "it; the worker then joins as a new one"));
  }
  return ReadFile(path, kMaxPemBytes);
}

}  // namespace

bool Joiner::IsNeeded(const ClientAccess& access) {
  return absl::StartsWith(access.token, "ks_join_");
}

absl::StatusOr<std::unique_ptr<Joiner>> Joiner::Open(const std::string& state_dir,
                                                     const ClientAccess& access,
                                                     const v1::WorkerHello& hello, Ask ask,
                                                     absl::Time wall_now) {
  if (access.ca.empty()) {
    return absl::InvalidArgumentError(
        "a join token needs TLS: name the authority that signed the coordinator's certificate "
        "(--ca-file, tls.ca_file, or `ca` of the access file)");
  }
  ASSIGN_OR_RETURN(std::string key, ReadOrMakeKey(state_dir + "/worker.key"));
  v1::JoinRequest request;
  request.set_worker_id(hello.worker_id());
  request.set_name(hello.name());
  request.set_pool(hello.pool());
  const auto signing_request = MakeSigningRequest(key);
  if (!signing_request.ok()) {
    return Annotate(signing_request.status(), state_dir + "/worker.key");
  }
  request.set_signing_request(*signing_request);
  auto joiner =
      std::unique_ptr<Joiner>(new Joiner(state_dir, access, std::move(request), std::move(ask)));
  joiner->key_ = std::move(key);
  const auto kept = ReadFile(state_dir + "/worker.pem", kMaxPemBytes);
  if (!kept.ok() && !absl::IsNotFound(kept.status())) return kept.status();
  if (kept.ok() && CheckKeyPair({*kept, joiner->key_}, wall_now, state_dir + "/worker.pem").ok()) {
    joiner->certificate_ = *kept;
  }
  return joiner;
}

absl::Status Joiner::Renew(const std::function<absl::Time()>& steady_now) {
  absl::StatusOr<v1::JoinReply> reply = absl::UnknownError("");
  if (!certificate_.empty()) reply = ask_(access(), request_);
  // If the coordinator refuses the certificate, whatever the clocks say, the token may still work.
  if (!reply.ok()) {
    const absl::Status first = reply.status();
    reply = ask_(given_, request_);
    // While there is a certificate, its error says more than that the token has expired.
    if (!reply.ok() && HasCertificate(steady_now()) && !absl::IsUnknown(first)) reply = first;
  }
  const absl::Time now = steady_now();
  if (!reply.ok()) {
    const absl::Duration left = HasCertificate(now) ? ends_ - now : absl::ZeroDuration();
    due_ = now + std::min(left / 4, kLongestPause);
    return reply.status();
  }
  const absl::Duration good_for = FromProto(reply->good_for());
  // Checked at a moment when it is valid: this machine's clock may be wrong.
  ASSIGN_OR_RETURN(const absl::Time end, EndOfCertificate(reply->certificate()));
  RETURN_IF_ERROR(CheckKeyPair({reply->certificate(), key_}, end - absl::Seconds(1),
                               "the certificate that the coordinator sent"));
  RETURN_IF_ERROR(WriteFileAtomically(state_dir_ + "/worker.pem", reply->certificate(), 0600));
  certificate_ = reply->certificate();
  ends_ = now + good_for;
  due_ = now + good_for * 2 / 3;
  LOG(INFO) << "msg=\"certificate\" worker=" << request_.worker_id() << " good_for=" << good_for;
  return absl::OkStatus();
}

ClientAccess Joiner::access() const {
  ClientAccess access = given_;
  access.token.clear();
  access.certificate = certificate_;
  access.key = key_;
  return access;
}

}  // namespace ksearch
