#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_REPLY_SOURCE_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_REPLY_SOURCE_H_

#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "proto/cassette.pb.h"

namespace ksearch {

// A response of the server, apart from its transport. Header names in lower case.
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

// A request for a reply.
struct ChatQuestion {
  std::map<std::string, std::string> headers;  // names in lower case
  std::string system;                          // messages of that role, joined
  std::string user;                            // all others
  size_t prompt_bytes = 0;                     // of all messages

  // Empty: the request has no such header.
  std::string Header(const char* name) const;
};

// Produces the replies of a ChatEndpoint. Thread-safe.
class ReplySource {
 public:
  virtual ~ReplySource() = default;

  virtual const std::string& model() const = 0;
  virtual EndpointResponse Reply(const ChatQuestion& question) = 0;
  // What a request to embed is answered with in place of an embedding; `question` has headers
  // alone. nullopt: nothing.
  virtual std::optional<EndpointResponse> EmbeddingFault(const ChatQuestion& /*question*/) {
    return std::nullopt;
  }
};

// A reply in OpenAI's form.
struct ChatCompletion {
  std::string id;
  std::string model;
  std::string text;
  std::string finish_reason = "stop";
  std::optional<v1::CassetteUsage> usage;  // absent: a quarter of the bytes of prompt and reply
};
EndpointResponse CompletionResponse(const ChatCompletion& completion, const ChatQuestion& question);
// An error object in OpenAI's form.
EndpointResponse ErrorResponse(int status, const std::string& message, const std::string& code);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_REPLY_SOURCE_H_
