#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_CHAT_ENDPOINT_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_CHAT_ENDPOINT_H_

#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "coordinator/llm/model_server/cassette.h"

namespace ksearch {

// What the server answers, and nothing of sockets. Header names in lower case.
struct EndpointRequest {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;
  std::string body;
};
struct EndpointResponse {
  int status = 200;
  std::map<std::string, std::string> headers;
  std::string body;
  absl::Duration delay;  // to wait before it is sent
};

struct ChatEndpointOptions {
  std::optional<absl::Duration> delay;  // instead of the cassette's
  // Requests without an entry are appended here as entries to fill in, each key once. Empty: not.
  std::string record_misses_path;
};

// Plays a cassette as an OpenAI-compatible server: POST /v1/chat/completions, GET /v1/models,
// GET /health. Bodies are any bytes; errors are error objects in OpenAI's form. Replies come whole,
// also where a stream is asked for. Thread-safe.
class ChatEndpoint {
 public:
  ChatEndpoint(Cassette cassette, ChatEndpointOptions options);

  EndpointResponse Answer(const EndpointRequest& request);

 private:
  EndpointResponse Complete(const EndpointRequest& request);
  EndpointResponse Miss(const CassetteKey& key, const std::string& prompt);
  // True as long as `entry` has failures left to play; counts one.
  bool TakeFault(const Cassette::Entry& entry);
  void RecordMiss(const CassetteKey& key, const std::string& prompt);

  const Cassette cassette_;
  const ChatEndpointOptions options_;

  Mutex mu_;
  std::map<const Cassette::Entry*, int> faults_played_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> recorded_ ABSL_GUARDED_BY(mu_);  // keys, as text
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_CHAT_ENDPOINT_H_
