#ifndef KSEARCH_COMMON_ACCESS_CONFIGURED_ACCESS_H_
#define KSEARCH_COMMON_ACCESS_CONFIGURED_ACCESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/access/client_access.h"
#include "proto/config.pb.h"

namespace ksearch {

// Reads the token and the certificates that a program's configuration names, and checks that they
// may be shown to the coordinator at `address`. Errors as ReadClientAccess and CheckClientAccess.
absl::StatusOr<ClientAccess> ReadConfiguredAccess(const std::string& address,
                                                  const std::string& token_file,
                                                  const v1::ClientTls& tls);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_ACCESS_CONFIGURED_ACCESS_H_
