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

// A request as handlers see it. Only its size has been checked.
struct HttpRequest {
  std::string method;                          // "GET"
  std::string path;                            // decoded, without the query; begins with '/'
  std::map<std::string, std::string> query;    // decoded; of equal names the last one
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  // "" if there is none.
  const std::string& Header(const std::string& name) const;
};

// The sending end of a response that is streamed. Thread-safe; every method returns at once.
class EventStream {
 public:
  virtual ~EventStream() = default;
  // False: the reader has left, or was cut off because too much waits for it. Bytes are sent in the
  // order of the calls.
  virtual bool Send(std::shared_ptr<const std::string> bytes) = 0;
  virtual bool closed() const = 0;
  // Ends it once what waits is sent.
  virtual void Close() = 0;
};

struct HttpAnswer {
  int status = 200;
  std::string content_type = "application/json";
  std::shared_ptr<const std::string> body;  // null: empty
  std::vector<std::pair<std::string, std::string>> headers;
  // Set: `body` is ignored, and the answer continues until the stream is closed. Called once, on
  // the thread that answers; it keeps the stream or drops it.
  std::function<void(std::shared_ptr<EventStream>)> stream;
};

// The path and query of a request's target, decoded. INVALID_ARGUMENT: it is malformed.
absl::Status ParseTarget(absl::string_view target, HttpRequest* request);

HttpAnswer TextAnswer(int status, absl::string_view content_type, std::string body);
// {"error": "..."} with the HTTP status of the code; the text is one line.
HttpAnswer ErrorAnswer(const absl::Status& status);
HttpAnswer ErrorAnswer(int http_status, absl::string_view text);

// A JSON string literal, quotes included.
std::string JsonString(absl::string_view text);

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_HTTP_HTTP_MESSAGE_H_
