#ifndef KSEARCH_COORDINATOR_DASHBOARD_HTTP_HTTP_MESSAGE_H_
#define KSEARCH_COORDINATOR_DASHBOARD_HTTP_HTTP_MESSAGE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch::dashboard {

// A parsed request. Nothing but its size has been checked.
struct HttpRequest {
  std::string method;                          // "GET"
  std::string path;                            // decoded, without the query; starts with '/'
  std::map<std::string, std::string> query;    // decoded; the last value wins if a name repeats
  std::map<std::string, std::string> headers;  // names are in lower case
  std::string body;

  // Returns "" if the header is absent.
  const std::string& Header(const std::string& name) const;
};

// The sending end of a streamed response. Thread-safe; no method blocks.
class EventStream {
 public:
  virtual ~EventStream() = default;
  // Sends bytes in the order of the calls. Returns false if the reader has disconnected, or was cut
  // off because its backlog grew too large.
  virtual bool Send(std::shared_ptr<const std::string> bytes) = 0;
  virtual bool closed() const = 0;
  // Closes the stream once its backlog is sent.
  virtual void Close() = 0;
};

struct HttpAnswer {
  int status = 200;
  std::string content_type = "application/json";
  std::shared_ptr<const std::string> body;  // null: empty
  std::vector<std::pair<std::string, std::string>> headers;
  // If set, `body` is ignored and the response continues until the stream is closed. Called once,
  // on the answering thread; the callee keeps the stream or drops it.
  std::function<void(std::shared_ptr<EventStream>)> stream;
};

// Splits a request target into its decoded path and query. INVALID_ARGUMENT if it is malformed.
absl::Status ParseTarget(absl::string_view target, HttpRequest* request);

HttpAnswer TextAnswer(int status, absl::string_view content_type, std::string body);
// Returns {"error": "..."} with the HTTP status for the code. The text is one line.
HttpAnswer ErrorAnswer(const absl::Status& status);
HttpAnswer ErrorAnswer(int http_status, absl::string_view text);

// Returns `text` as a JSON string literal, quotes included.
std::string JsonString(absl::string_view text);

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_HTTP_HTTP_MESSAGE_H_
