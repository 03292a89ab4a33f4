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

// NOT_FOUND. INVALID_ARGUMENT names file, line and field. FAILED_PRECONDITION: accounts
// other than its owner may write it.
absl::StatusOr<v1::AccessTokens> ReadTokenFile(const std::string& path);

// Reads the list (empty if the file is missing), calls `change`, and replaces the file, with mode
// 0600, unless `change` fails. Processes that update the file at the same time wait for each other.
absl::Status UpdateTokenFile(const std::string& path,
                             const std::function<absl::Status(v1::AccessTokens*)>& change);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_ACCESS_TOKEN_FILE_H_
