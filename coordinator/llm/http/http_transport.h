#ifndef KSEARCH_COORDINATOR_LLM_HTTP_HTTP_TRANSPORT_H_
#define KSEARCH_COORDINATOR_LLM_HTTP_HTTP_TRANSPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ksearch {

struct HttpRequest {
  std::string url;                   // https, or http to a loopback address
  std::vector<std::string> headers;  // "Name: value"; may hold secrets
  std::string body;
  absl::Duration connect_timeout = absl::Seconds(10);
  absl::Duration total_timeout = absl::Minutes(30);
  int64_t max_reply_bytes = int64_t{8} << 20;
};

// Whatever the server said, whether 200 or not.
struct HttpResponse {
  int status = 0;
  // Names in lower case; of a repeated header the last.
  std::map<std::string, std::string> headers;
  std::string body;
};

// Sends POST requests and runs timers, without blocking the caller. Thread-safe; callbacks run on a
// thread of the transport's, must not block, and may call the transport again. The destructor ends
// everything in flight with CANCELLED, as it does what callbacks start meanwhile, and returns when
// no callback is running: destroy the transport before what its callbacks refer to.
class HttpTransport {
 public:
  using PostDone = absl::AnyInvocable<void(absl::StatusOr<HttpResponse>)>;
  using TimerDone = absl::AnyInvocable<void(absl::Status)>;

  virtual ~HttpTransport() = default;

  // `done` runs exactly once. Codes: UNAVAILABLE (could not connect, or connection lost),
  // DEADLINE_EXCEEDED (total_timeout passed after connecting), PERMISSION_DENIED (certificate not
  // trusted), INVALID_ARGUMENT (URL not allowed), DATA_LOSS (reply over max_reply_bytes),
  // CANCELLED. Messages name the URL, never a header. Redirects are not followed.
  virtual void Post(HttpRequest request, PostDone done) = 0;

  // Runs `done` with OK after `delay`, or with CANCELLED.
  virtual void RunAfter(absl::Duration delay, TimerDone done) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_HTTP_HTTP_TRANSPORT_H_
