#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_REPLY_SOURCE_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_REPLY_SOURCE_H_

#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "proto/cassette.pb.h"

namespace ksearch {

// A request to the server, independent of its transport. Header names are in lower case.
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
  absl::Duration delay;  // time to wait before sending
};

// A request for a reply.
struct ChatQuestion {
  std::map<std::string, std::string> headers;  // names are in lower case
  std::string system;                          // joined messages of that role
  std::string user;                            // joined other messages
  size_t prompt_bytes = 0;                     // over all messages

  // Returns "" if the request does not have the header.
  std::string Header(const char* name) const;
};

// Produces the replies of a ChatEndpoint. Thread-safe.
class ReplySource {
 public:
  virtual ~ReplySource() = default;

  virtual const std::string& model() const = 0;
  virtual EndpointResponse Reply(const ChatQuestion& question) = 0;
  // Returns the error to send instead of an embedding, or nullopt. `question` has only headers.
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
  std::optional<v1::CassetteUsage> usage;  // if absent, a quarter of the bytes of prompt and reply
};
EndpointResponse CompletionResponse(const ChatCompletion& completion, const ChatQuestion& question);
// Returns an error object in OpenAI's form.
EndpointResponse ErrorResponse(int status, const std::string& message, const std::string& code);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_REPLY_SOURCE_H_
