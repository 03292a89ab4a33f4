#ifndef KSEARCH_COORDINATOR_LLM_LLM_CLIENT_H_
#define KSEARCH_COORDINATOR_LLM_LLM_CLIENT_H_

#include <cstdint>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"

namespace ksearch {

// What a call is for; a scripted server answers by these.
struct LlmLabels {
  std::string purpose;  // "init", "propose", "refine", "too_hard", "action", "debug", "improve"
  std::string node_id;  // empty when the call is about no node
  int attempt = 1;
  int cycle = 0;
};

struct LlmRequest {
  std::string model;
  std::string system;  // stable rules; may be empty
  std::string user;
  int max_output_tokens = 32000;
  std::string reasoning_effort;  // empty = provider's default
  LlmLabels labels;
};

struct LlmReply {
  std::string text;  // visible text only; empty only if finish_reason is not "stop"
  // "stop", "length" (cut off), "content_filter", "refusal" (`text` is then the refusal), ...
  std::string finish_reason;
  std::string model;  // as the provider resolved it
  std::string response_id;
  int64_t input_tokens = 0;
  int64_t output_tokens = 0;  // reasoning included
  bool usage_reported = false;
};

// Asks a model. Thread-safe.
class LlmClient {
 public:
  using Done = absl::AnyInvocable<void(absl::StatusOr<LlmReply>)>;

  virtual ~LlmClient() = default;

  // Starts a call. `done` runs exactly once, on a thread of the client's; it must not block. After
  // the destructor returns no `done` is running; calls in flight end with CANCELLED.
  // Codes: UNAVAILABLE (transient; retries used up), RESOURCE_EXHAUSTED (quota or money; terminal),
  // UNAUTHENTICATED / PERMISSION_DENIED / NOT_FOUND (key, model or URL; terminal, the message names
  // the fix), INVALID_ARGUMENT (request refused), OUT_OF_RANGE (context overflow),
  // DATA_LOSS (unreadable reply), DEADLINE_EXCEEDED, CANCELLED. Never contains the key.
  virtual void Complete(LlmRequest request, Done done) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_LLM_CLIENT_H_
