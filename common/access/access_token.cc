#include "common/access/access_token.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/digest.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr int kIdBytes = 6;
constexpr int kSecretBytes = 32;

bool IsHex(absl::string_view text, size_t digits) {
  return text.size() == digits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

NewToken MakeAccessToken(v1::Role role, absl::string_view name, absl::Time now,
                         absl::Time expires) {
  NewToken made;
  const std::string id = RandomHex(kIdBytes);
  made.token = absl::StrCat("ks_", RoleName(role), "_", id, "_", RandomHex(kSecretBytes));
  made.record.set_token_id(id);
  made.record.set_role(role);
  made.record.set_name(std::string(name));
  made.record.set_sha256(Sha256Hex(made.token));
  *made.record.mutable_created_at() = ToProto(now);
  if (expires != absl::InfiniteFuture()) *made.record.mutable_expires_at() = ToProto(expires);
  return made;
}

std::optional<std::string> TokenIdOf(absl::string_view token) {
  // Bounds the work done for untrusted bytes.
  if (token.size() > 128) return std::nullopt;
  const std::vector<absl::string_view> parts = absl::StrSplit(token, '_');
  if (parts.size() != 4 || parts[0] != "ks" || !RoleOfName(parts[1]).has_value() ||
      !IsHex(parts[2], 2 * kIdBytes) || !IsHex(parts[3], 2 * kSecretBytes)) {
    return std::nullopt;
  }
  return std::string(parts[2]);
}

bool TokenMatches(absl::string_view token, const v1::AccessToken& record) {
  const std::string digest = Sha256Hex(token);
  return record.sha256().size() == digest.size() &&
         CRYPTO_memcmp(record.sha256().data(), digest.data(), digest.size()) == 0;
}

absl::string_view RoleName(v1::Role role) {
  switch (role) {
    case v1::ROLE_READ:
      return "read";
    case v1::ROLE_SUBMIT:
      return "submit";
    case v1::ROLE_ADMIN:
      return "admin";
    case v1::ROLE_WORKER:
      return "worker";
    case v1::ROLE_JOIN:
      return "join";
    default:
      return "";
  }
}

std::optional<v1::Role> RoleOfName(absl::string_view name) {
  for (const v1::Role role :
       {v1::ROLE_READ, v1::ROLE_SUBMIT, v1::ROLE_ADMIN, v1::ROLE_WORKER, v1::ROLE_JOIN}) {
    if (name == RoleName(role)) return role;
  }
  return std::nullopt;
}

bool RoleCovers(v1::Role role, v1::Role needed) {
  switch (needed) {
    case v1::ROLE_READ:
      return role == v1::ROLE_READ || role == v1::ROLE_SUBMIT || role == v1::ROLE_ADMIN;
    case v1::ROLE_SUBMIT:
      return role == v1::ROLE_SUBMIT || role == v1::ROLE_ADMIN;
    case v1::ROLE_ADMIN:
      return role == v1::ROLE_ADMIN;
    case v1::ROLE_WORKER:
      return role == v1::ROLE_WORKER;
    case v1::ROLE_JOIN:
      return role == v1::ROLE_JOIN;
    default:
      return false;
  }
}

}  // namespace ksearch
