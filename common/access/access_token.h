#ifndef KSEARCH_COMMON_ACCESS_ACCESS_TOKEN_H_
#define KSEARCH_COMMON_ACCESS_ACCESS_TOKEN_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/access.pb.h"

namespace ksearch {

// A token reads ks_<role>_<id>_<secret>: 12 hex digits of id, by which its record is found, and 64
// of secret, drawn from the kernel. Only the SHA-256 of the whole token is kept. A plain, unsalted,
// fast hash is right here, unlike for passwords: 256 random bits can be neither guessed nor listed
// in tables, so there is nothing for salt or slowness to protect, and every call pays the hash.
struct NewToken {
  std::string token;  // shown once, to the person who made it
  v1::AccessToken record;
};

// `expires` may be InfiniteFuture: never.
NewToken MakeAccessToken(v1::Role role, absl::string_view name, absl::Time now, absl::Time expires);

// The id within a token, or nullopt if `token` does not have the form of one.
std::optional<std::string> TokenIdOf(absl::string_view token);

// Returns true if `token` is the one that the record was made for. Takes the same time wherever the
// texts differ.
bool TokenMatches(absl::string_view token, const v1::AccessToken& record);

// "read", "submit", "admin", "worker", "join" and back; nullopt and "" for anything else.
absl::string_view RoleName(v1::Role role);
std::optional<v1::Role> RoleOfName(absl::string_view name);

// Returns true if a caller with `role` may do what requires `needed`.
bool RoleCovers(v1::Role role, v1::Role needed);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_ACCESS_ACCESS_TOKEN_H_
