#ifndef KSEARCH_TESTS_INTEGRATION_COUNTING_MODEL_SERVER_H_
#define KSEARCH_TESTS_INTEGRATION_COUNTING_MODEL_SERVER_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "coordinator/llm/model_server/chat_endpoint.h"
#include "coordinator/llm/model_server/http_server.h"

namespace ksearch {

// The scripted model server, in this process: it outlives whatever a test kills, and knows how
// often each call came. Thread-safe.
class CountingModelServer {
 public:
  // `delay`: thinking time of every reply.
  static absl::StatusOr<std::unique_ptr<CountingModelServer>> Start(const std::string& cassette,
                                                                    absl::Duration delay);

  std::string url() const;  // ".../v1"
  // How often each call came, by "purpose/node/attempt/cycle".
  std::map<std::string, int> calls() const;

 private:
  CountingModelServer(Cassette cassette, ChatEndpointOptions options)
      : endpoint_(std::move(cassette), std::move(options)) {}
  EndpointResponse Answer(const EndpointRequest& request);

  ChatEndpoint endpoint_;
  mutable Mutex mu_;
  std::map<std::string, int> calls_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<HttpServer> server_;  // last: its threads end first
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_INTEGRATION_COUNTING_MODEL_SERVER_H_
