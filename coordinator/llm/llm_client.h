#ifndef KSEARCH_COORDINATOR_LLM_LLM_CLIENT_H_
#define KSEARCH_COORDINATOR_LLM_LLM_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ksearch {

// What a call is for; a scripted server answers by these.
struct LlmLabels {
  std::string purpose;  // "init", "propose", "refine", "too_hard", "action", "debug", "improve"
  std::string node_id;  // empty when the call is about no node
  int attempt = 1;
  int cycle = 0;
};

// What a provider must remember of one call beyond this process, such as the id of a reply that it
// is still working on. Thread-safe.
class ProviderState {
 public:
  virtual ~ProviderState() = default;

  // As last saved, in this process or an earlier one; empty: nothing.
  virtual std::string Load() const = 0;
  // Load returns `state` at once; `stored` runs once, on any thread, when the state is durable or
  // could not be made durable. Does not block.
  virtual void Save(std::string state, absl::AnyInvocable<void(absl::Status)> stored) = 0;
};

struct LlmRequest {
  std::string call_id;  // "<run>/<number>": the same in every life of a call; empty: none
  std::string model;
  std::string system;  // stable rules; may be empty
  std::string user;
  int max_output_tokens = 32000;
  std::string reasoning_effort;  // empty = provider's default
  LlmLabels labels;
  // `user` is to be embedded: the reply's text is its embedding (embedding/embedding.h). Only
  // clients of providers with a model of embeddings are asked for that.
  bool embeds = false;
  std::shared_ptr<ProviderState> state;  // null: the call is forgotten with the process
};

// Tokens of a call in disjoint parts, so that its cost is a sum of products. Whatever the
// provider's own counts include, none of these includes another; none is negative.
struct TokenUsage {
  int64_t uncached_input = 0;  // neither read from nor written to the provider's prompt cache
  int64_t cache_read = 0;
  int64_t cache_write_5m = 0;    // kept for minutes; also where a provider tells no duration
  int64_t cache_write_1h = 0;    // kept for an hour
  int64_t visible_output = 0;    // the text of the reply, and what else is no thinking
  int64_t reasoning_output = 0;  // 0 also where a provider does not tell it apart
  // The provider's counts contradict each other (a part larger than its whole); clamped at 0.
  bool inconsistent = false;

  int64_t input() const { return uncached_input + cache_read + cache_write_5m + cache_write_1h; }
  int64_t output() const { return visible_output + reasoning_output; }
  friend bool operator==(const TokenUsage&, const TokenUsage&) = default;
};

struct LlmReply {
  std::string text;  // visible text only; empty only if finish_reason is not "stop"
  // "stop", "length" (cut off), "content_filter", "refusal" (`text` is then the refusal), ...
  std::string finish_reason;
  std::string model;  // as the provider resolved it
  std::string response_id;
  TokenUsage usage;
  bool usage_reported = false;  // false: `usage` is empty
  // Earlier tries of this call that failed but may have been billed.
  int billed_tries = 0;
  // How long the provider's rate limits want the next call to wait.
  absl::Duration pause = absl::ZeroDuration();
};

// True for failures that any further call to the same model would meet too, until a person repairs
// something: a wrong key, an unknown model, no credit.
inline bool IsTerminalLlmError(absl::StatusCode code) {
  return code == absl::StatusCode::kUnauthenticated ||
         code == absl::StatusCode::kPermissionDenied || code == absl::StatusCode::kNotFound ||
         code == absl::StatusCode::kResourceExhausted ||
         code == absl::StatusCode::kFailedPrecondition;
}

// Asks a model. Thread-safe.
class LlmClient {
 public:
  using Done = absl::AnyInvocable<void(absl::StatusOr<LlmReply>)>;

  virtual ~LlmClient() = default;

  // Starts a call. `done` runs exactly once, on a thread of the client's; it must not block. After
  // the destructor returns no `done` is running; calls in flight end with CANCELLED.
  // Codes: UNAVAILABLE (transient; retries used up), RESOURCE_EXHAUSTED (quota or money; terminal),
  // UNAUTHENTICATED / PERMISSION_DENIED / NOT_FOUND / FAILED_PRECONDITION (key, model, URL or
  // configuration; terminal, the message names the fix), INVALID_ARGUMENT (request refused),
  // OUT_OF_RANGE (context overflow), DATA_LOSS (unreadable reply), DEADLINE_EXCEEDED, CANCELLED.
  // Never contains the key.
  virtual void Complete(LlmRequest request, Done done) = 0;

  // Ids of the calls that wait for a person, who may take days: nothing is lost if the process ends
  // meanwhile, and the next one finds the answer. Such a client has any number of calls in flight.
  virtual std::vector<std::string> ParkedCalls() { return {}; }

  // How long no call to the model (empty: the default one) will be made, because of failures or
  // because the provider asked for it; 0: calls are made.
  virtual absl::Duration RestsFor(const std::string& /*model*/) { return absl::ZeroDuration(); }
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_LLM_CLIENT_H_
