#ifndef KSEARCH_COMMON_ACCESS_TOKEN_FILE_H_
#define KSEARCH_COMMON_ACCESS_TOKEN_FILE_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/access.pb.h"

namespace ksearch {

// The list of tokens that a coordinator accepts, as textproto. It holds no secret, but anyone who
// can write it can grant access.

// NOT_FOUND. INVALID_ARGUMENT names file, line and field. FAILED_PRECONDITION: others than its
// owner may write it.
absl::StatusOr<v1::AccessTokens> ReadTokenFile(const std::string& path);

// Reads (a missing file is an empty list), lets `change` work on it, and replaces the file, with
// mode 0600, unless `change` fails. Writers of several processes wait for each other.
absl::Status UpdateTokenFile(const std::string& path,
                             const std::function<absl::Status(v1::AccessTokens*)>& change);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_ACCESS_TOKEN_FILE_H_
