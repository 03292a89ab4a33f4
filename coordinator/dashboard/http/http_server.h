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
// framing foreign content. Knows nothing about what is served. Thread-safe.
class HttpServer {
 public:
  struct Options {
    std::string host = "127.0.0.1";  // an address, not a name; IPv6 without brackets
    int port = 0;                    // 0: a free one
    size_t max_connections = 512;    // one more is closed at once
    size_t max_streams = 256;        // of these; one more gets 503
    size_t max_header_bytes = 16 << 10;
    size_t max_body_bytes = 4 << 20;
    size_t max_stream_backlog_bytes = 1 << 20;
    // To receive a request, from the first wait for it on, and to send an answer.
    absl::Duration patience = absl::Seconds(30);
    int answering_threads = 2;
  };
  // Called on the answering threads, several at once; may block for as long as a query takes.
  using Answer = std::function<HttpAnswer(const HttpRequest&)>;

  // Listens at once. ALREADY_EXISTS: the port is taken. INVALID_ARGUMENT: no such address here.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Options options, Answer answer);
  // Calls Stop. No EventStream may outlive it.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Waits for answers being made, then closes every connection. Idempotent.
  void Stop();
  int port() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_HTTP_HTTP_SERVER_H_
