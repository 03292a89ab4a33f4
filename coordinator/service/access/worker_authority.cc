#include "coordinator/service/access/worker_authority.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr absl::Duration kAuthorityLife = absl::Hours(24 * 3650);
// The clocks of a cluster differ. A worker checks only the coordinator's certificate against its
// clock, but the slack keeps programs that inspect the worker's certificate from complaining.
constexpr absl::Duration kClockSlack = absl::Hours(1);
constexpr int64_t kMaxPemBytes = 1 << 20;

bool IsId(const std::string& id) {
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<WorkerAuthority>> WorkerAuthority::Create(
    const std::string& state_dir, absl::Duration certificate_life, const Clock* clock) {
  const std::string stem = state_dir + "/worker_ca";
  KeyPair authority;
  auto certificate = ReadFile(stem + ".pem", kMaxPemBytes);
  if (!certificate.ok() && !absl::IsNotFound(certificate.status())) return certificate.status();
  if (certificate.ok()) {
    authority.certificate = *std::move(certificate);
    ASSIGN_OR_RETURN(authority.key, ReadFile(stem + ".key", kMaxPemBytes));
    RETURN_IF_ERROR(CheckKeyPair(authority, clock->Now(), absl::StrCat(stem, ".pem with .key")));
  } else {
    ASSIGN_OR_RETURN(authority, MakeAuthority("ksearch workers", clock->Now() - kClockSlack,
                                              clock->Now() + kAuthorityLife));
    // The certificate is written last: while it is missing, both are created again.
    RETURN_IF_ERROR(WriteFileAtomically(stem + ".key", authority.key, 0600));
    RETURN_IF_ERROR(WriteFileAtomically(stem + ".pem", authority.certificate));
  }
  return std::unique_ptr<WorkerAuthority>(
      new WorkerAuthority(std::move(authority), stem + ".pem", certificate_life, clock));
}

absl::StatusOr<v1::JoinReply> WorkerAuthority::Join(const v1::JoinRequest& request,
                                                    const AccessControl::Caller& caller,
                                                    const AccessControl& access) const {
  if (!IsId(request.worker_id())) {
    return absl::InvalidArgumentError("worker_id: must be 1 to 64 of [A-Za-z0-9_.-]");
  }
  RETURN_IF_ERROR(CheckPool(caller.token_id, caller.pool, request.pool()));
  RETURN_IF_ERROR(access.CheckWorker(request.worker_id()));
  ASSIGN_OR_RETURN(const std::string key_id, KeyIdOfRequest(request.signing_request()));
  if (caller.joined.has_value() &&
      (caller.joined->worker_id != request.worker_id() || caller.joined->key_id != key_id)) {
    return absl::PermissionDeniedError(
        absl::StrCat("the certificate of worker ", caller.joined->worker_id,
                     " can renew only itself: another worker_id or key needs the join token"));
  }
  const absl::Time now = clock_->Now();
  JoinedWorker who;
  who.token_id = caller.token_id;
  who.worker_id = request.worker_id();
  who.key_id = key_id;
  who.ends = absl::FromUnixSeconds(absl::ToUnixSeconds(now + life_));
  v1::JoinReply reply;
  ASSIGN_OR_RETURN(*reply.mutable_certificate(),
                   SignJoinedWorker(authority_, request.signing_request(), who, now - kClockSlack));
  *reply.mutable_good_for() = ToProto(who.ends - now);
  LOG(INFO) << "msg=\"" << (caller.joined.has_value() ? "certificate renewed" : "worker may join")
            << "\" worker=" << request.worker_id() << " join_token=" << caller.token_id
            << " ends=" << absl::FormatTime(who.ends, absl::UTCTimeZone());
  return reply;
}

absl::Status CheckPool(const std::string& token_id, const std::string& pool_of_token,
                       const std::string& pool_of_worker) {
  if (pool_of_token.empty() || pool_of_token == pool_of_worker) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "token ", token_id, " is for workers of pool ", pool_of_token, ", and this worker is of ",
      pool_of_worker.empty() ? "no pool" : absl::StrCat("pool ", pool_of_worker.substr(0, 64)),
      " (KSEARCH_POOL, or `pool` in its configuration)"));
}

}  // namespace ksearch
