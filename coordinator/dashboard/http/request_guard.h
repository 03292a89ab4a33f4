#ifndef KSEARCH_COORDINATOR_DASHBOARD_HTTP_REQUEST_GUARD_H_
#define KSEARCH_COORDINATOR_DASHBOARD_HTTP_REQUEST_GUARD_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "coordinator/dashboard/http/http_message.h"

namespace ksearch::dashboard {

// Keeps other sites' pages from reaching the server through a user's browser, which loopback alone
// does not prevent. Knows nothing about tokens. Immutable, so thread-safe.
class RequestGuard {
 public:
  // Beside localhost, 127.0.0.1 and [::1], by which it may be called with any port, as through a
  // tunnel. `also`: host names without port.
  explicit RequestGuard(const std::vector<std::string>& also);

  // PERMISSION_DENIED, in one line: the Host header names none of them (a name that was made to
  // point here), the request comes from a page of another origin, or it is not a GET and lacks the
  // header "X-Ksearch: 1", which no other site's page can send without being asked back.
  absl::Status Check(const HttpRequest& request) const;

 private:
  bool IsOurs(absl::string_view authority) const;

  std::set<std::string, std::less<>> hosts_;  // in lower case
};

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_HTTP_REQUEST_GUARD_H_
