#ifndef KSEARCH_COORDINATOR_LLM_HTTP_HTTP_TRANSPORT_H_
#define KSEARCH_COORDINATOR_LLM_HTTP_HTTP_TRANSPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ksearch {

// Timeouts, independent of each other: a reasoning model may be silent for minutes before its first
// byte, but a stream that pauses for that long is broken.
struct HttpTimeouts {
  absl::Duration connect = absl::Seconds(10);  // name, connection and TLS
  absl::Duration first_byte = absl::Minutes(15);
  absl::Duration idle = absl::Minutes(5);  // between one byte of the reply and the next
  absl::Duration total = absl::Minutes(30);
};

struct HttpRequest {
  enum class Method { kPost, kGet };

  // Gets a piece of an event stream, on the transport's thread; a failure ends the request with it.
  using StreamReader = absl::AnyInvocable<absl::Status(absl::string_view bytes)>;

  Method method = Method::kPost;
  std::string url;                   // https, or http to a loopback address
  std::vector<std::string> headers;  // "Name: value"; may hold secrets
  std::string body;                  // of a POST
  HttpTimeouts timeouts = {};
  int64_t max_reply_bytes = int64_t{8} << 20;
  // PEM, instead of the system's certificate authorities; empty: those.
  std::string ca_file = "";
  // If set, the body of a 200 of type text/event-stream goes there and not into the response.
  StreamReader on_event_stream = nullptr;
};

// Whatever the server said, whether 200 or not.
struct HttpResponse {
  int status = 0;
  // Names in lower case; of a repeated header the last.
  std::map<std::string, std::string> headers;
  std::string body;
};

// Sends requests and runs timers, without blocking the caller. Thread-safe; callbacks run on a
// thread of the transport's, must not block, and may call the transport again. The destructor ends
// everything in flight with CANCELLED, as it does what callbacks start meanwhile, and returns when
// no callback is running: destroy the transport before what its callbacks refer to.
class HttpTransport {
 public:
  using SendDone = absl::AnyInvocable<void(absl::StatusOr<HttpResponse>)>;
  using TimerDone = absl::AnyInvocable<void(absl::Status)>;

  virtual ~HttpTransport() = default;

  // `done` runs exactly once. Codes: UNAVAILABLE (could not connect, or connection lost before the
  // first byte), DEADLINE_EXCEEDED (a clock other than `connect` ran out; the message names it),
  // FAILED_PRECONDITION (certificate not trusted), INVALID_ARGUMENT (URL not allowed), DATA_LOSS
  // (reply cut off, or over max_reply_bytes), CANCELLED. Messages name the URL, never a header.
  // Redirects are not followed.
  virtual void Send(HttpRequest request, SendDone done) = 0;

  // Runs `done` with OK after `delay`, or with CANCELLED.
  virtual void RunAfter(absl::Duration delay, TimerDone done) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_HTTP_HTTP_TRANSPORT_H_
