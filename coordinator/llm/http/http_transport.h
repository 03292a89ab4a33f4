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

// Independent timeouts: a reasoning model may be silent for minutes before its first byte, but a
// stream that pauses for that long is broken.
struct HttpTimeouts {
  absl::Duration connect = absl::Seconds(10);  // name resolution, connection and TLS
  absl::Duration first_byte = absl::Minutes(15);
  absl::Duration idle = absl::Minutes(5);  // between consecutive bytes of the reply
  absl::Duration total = absl::Minutes(30);
};

struct HttpRequest {
  enum class Method { kPost, kGet };

  // Receives a piece of an event stream on the transport's thread. An error ends the request with
  // that error.
  using StreamReader = absl::AnyInvocable<absl::Status(absl::string_view bytes)>;

  Method method = Method::kPost;
  std::string url;                   // https, or http to a loopback address
  std::vector<std::string> headers;  // "Name: value"; may contain secrets
  std::string body;                  // of a POST
  HttpTimeouts timeouts = {};
  int64_t max_reply_bytes = int64_t{8} << 20;
  // PEM file that replaces the system's certificate authorities; empty: use the system's.
  std::string ca_file = "";
  // If set, receives the body of a 200 response of type text/event-stream, which is then not in the
  // response.
  StreamReader on_event_stream = nullptr;
};

// The server's response, whatever its status.
struct HttpResponse {
  int status = 0;
  // Names are in lower case; the last value wins if a header repeats.
  std::map<std::string, std::string> headers;
  std::string body;
};

// Sends requests and runs timers without blocking the caller. Thread-safe. Callbacks run on a
// thread of the transport, must not block, and may call the transport again. The destructor ends
// everything in flight, and what callbacks start meanwhile, with CANCELLED, and returns when no
// callback is running: destroy the transport before the objects that its callbacks use.
class HttpTransport {
 public:
  using SendDone = absl::AnyInvocable<void(absl::StatusOr<HttpResponse>)>;
  using TimerDone = absl::AnyInvocable<void(absl::Status)>;

  virtual ~HttpTransport() = default;

  // `done` runs exactly once. Codes: UNAVAILABLE (could not connect, or connection lost before the
  // first byte), DEADLINE_EXCEEDED (a timeout other than `connect`; the message names it),
  // FAILED_PRECONDITION (certificate not trusted), INVALID_ARGUMENT (URL not allowed), DATA_LOSS
  // (reply cut off, or larger than max_reply_bytes), CANCELLED. Messages name the URL, never a
  // header. Redirects are not followed.
  virtual void Send(HttpRequest request, SendDone done) = 0;

  // Runs `done` with OK after `delay`, or with CANCELLED.
  virtual void RunAfter(absl::Duration delay, TimerDone done) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_HTTP_HTTP_TRANSPORT_H_
