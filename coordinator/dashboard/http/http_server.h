#ifndef KSEARCH_COORDINATOR_DASHBOARD_HTTP_HTTP_SERVER_H_
#define KSEARCH_COORDINATOR_DASHBOARD_HTTP_HTTP_SERVER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/dashboard/http/http_message.h"

namespace ksearch::dashboard {

// An HTTP/1.1 server for browsers: one thread does the I/O, a few others compute responses.
// Everything that a peer can make it hold is bounded: connections, headers, bodies, time, and the
// backlog of a slow reader of a stream. Responses carry headers that keep browsers from running or
// framing foreign content. The server does not depend on what is served. Thread-safe.
class HttpServer {
 public:
  struct Options {
    std::string host = "127.0.0.1";  // an address, not a name; IPv6 without brackets
    int port = 0;                    // 0: picks a free one
    size_t max_connections = 512;    // further connections are closed at once
    size_t max_streams = 256;        // among max_connections; further streams get 503
    size_t max_header_bytes = 16 << 10;
    size_t max_body_bytes = 4 << 20;
    size_t max_stream_backlog_bytes = 1 << 20;
    // Time limit for receiving a request, counted from when the server starts to wait for it, and
    // for sending a response.
    absl::Duration patience = absl::Seconds(30);
    int answering_threads = 2;
  };
  // Called on the answering threads, several at once. May block for as long as a query takes.
  using Answer = std::function<HttpAnswer(const HttpRequest&)>;

  // Starts to listen. ALREADY_EXISTS: the port is in use. INVALID_ARGUMENT: this machine does not
  // have the address.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Options options, Answer answer);
  // Calls Stop. No EventStream may outlive the server.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Waits for responses in progress, then closes every connection. Idempotent.
  void Stop();
  int port() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_HTTP_HTTP_SERVER_H_
