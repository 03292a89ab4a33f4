#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_HTTP_SERVER_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "coordinator/llm/model_server/chat_endpoint.h"

namespace ksearch {

// HTTP/1.1 on 127.0.0.1 with one thread per connection; meant for tests and demonstrations. Accepts
// at most 512 connections at once and 64 MiB per request.
class HttpServer {
 public:
  // Called on connection threads, several at once.
  using Answer = std::function<EndpointResponse(const EndpointRequest&)>;

  // Starts to listen. `port` 0 picks a free one. UNAVAILABLE if the port is in use.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(uint16_t port, Answer answer);

  // Closes all connections, including those that wait for a reply, and joins all threads.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_HTTP_SERVER_H_
