#ifndef KSEARCH_COORDINATOR_DASHBOARD_ACCESS_H_
#define KSEARCH_COORDINATOR_DASHBOARD_ACCESS_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch::dashboard {

// Who may ask for what, by the rules of the gRPC server: a request may do what the RPC that it
// stands for may. Both are null if no tokens are in use, and then everybody who can connect may do
// everything. Thread-safe.
struct DashboardAccess {
  // `authorization`: the header's value; `path`: "/ksearch.v1.SearchService/GetRun". The token's
  // id. UNAUTHENTICATED, PERMISSION_DENIED.
  std::function<absl::StatusOr<std::string>(absl::string_view authorization,
                                            absl::string_view path)>
      authorize;
  // Whether a token that was good still is. UNAUTHENTICATED.
  std::function<absl::Status(const std::string& token_id)> still_good;
};

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_ACCESS_H_
