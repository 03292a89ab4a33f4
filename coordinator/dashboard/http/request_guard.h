#ifndef KSEARCH_COORDINATOR_DASHBOARD_HTTP_REQUEST_GUARD_H_
#define KSEARCH_COORDINATOR_DASHBOARD_HTTP_REQUEST_GUARD_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "coordinator/dashboard/http/http_message.h"

namespace ksearch::dashboard {

// Keeps pages of other sites from reaching the server through a user's browser, which a loopback
// address alone does not prevent. Independent of tokens. Immutable and therefore thread-safe.
class RequestGuard {
 public:
  // Allows localhost, 127.0.0.1 and [::1] with any port, as through a tunnel, and the host names in
  // `also`, which have no port.
  explicit RequestGuard(const std::vector<std::string>& also);

  // Returns PERMISSION_DENIED with a one-line message if the Host header names none of the allowed
  // hosts (DNS rebinding), if the request comes from a page of another origin, or if it is not a
  // GET and lacks the header "X-Ksearch: 1", which a page of another site cannot send without a
  // CORS preflight.
  absl::Status Check(const HttpRequest& request) const;

 private:
  bool IsOurs(absl::string_view authority) const;

  std::set<std::string, std::less<>> hosts_;  // in lower case
};

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_HTTP_REQUEST_GUARD_H_
