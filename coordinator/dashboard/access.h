#ifndef KSEARCH_COORDINATOR_DASHBOARD_ACCESS_H_
#define KSEARCH_COORDINATOR_DASHBOARD_ACCESS_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch::dashboard {

// Authentication and authorization by the same rules as the gRPC server: a request may do what the
// RPC that it stands for may do. Both functions are null if no tokens are in use; everybody who can
// connect may then do everything. Thread-safe.
struct DashboardAccess {
  // Returns the id of the token. `authorization`: the value of the header; `path`: for example
  // "/ksearch.v1.SearchService/GetRun". UNAUTHENTICATED, PERMISSION_DENIED.
  std::function<absl::StatusOr<std::string>(absl::string_view authorization,
                                            absl::string_view path)>
      authorize;
  // Returns OK if a token that was accepted earlier is still valid. UNAUTHENTICATED otherwise.
  std::function<absl::Status(const std::string& token_id)> still_good;
};

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_ACCESS_H_
