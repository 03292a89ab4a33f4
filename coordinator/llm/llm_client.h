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

// What a call is for. A scripted server selects replies by these labels.
struct LlmLabels {
  std::string purpose;  // "init", "propose", "refine", "too_hard", "action", "debug", "improve"
  std::string node_id;  // empty if the call is not about a node
  int attempt = 1;
  int cycle = 0;
};

// The state of one call that a provider must keep beyond this process, such as the id of a reply
// that the server is still computing. Thread-safe.
class ProviderState {
 public:
  virtual ~ProviderState() = default;

  // Returns the state as last saved by this or an earlier process; empty: none.
  virtual std::string Load() const = 0;
  // Load returns `state` from now on; `stored` runs once, on any thread, when the state is durable
  // or could not be stored. Does not block.
  virtual void Save(std::string state, absl::AnyInvocable<void(absl::Status)> stored) = 0;
};

struct LlmRequest {
  std::string call_id;  // "<run>/<number>": stays the same across restarts; empty: none
  std::string model;
  std::string system;  // stable rules; may be empty
  std::string user;
  int max_output_tokens = 32000;
  std::string reasoning_effort;  // empty: the provider's default
  LlmLabels labels;
  // Asks for the embedding of `user`, which is the reply's text (embedding/embedding.h). Only for
  // clients of providers with an embedding model.
  bool embeds = false;
  std::shared_ptr<ProviderState> state;  // null: the call does not survive the process
};

// The tokens of a call in disjoint parts, so that its cost is a sum of products. Unlike some
// providers' counts, none includes another. None is negative.
struct TokenUsage {
  int64_t uncached_input = 0;  // neither read from nor written to the provider's prompt cache
  int64_t cache_read = 0;
  int64_t cache_write_5m = 0;    // cached for minutes, or for an unknown time
  int64_t cache_write_1h = 0;    // cached for an hour
  int64_t visible_output = 0;    // text of the reply and everything else that is not thinking
  int64_t reasoning_output = 0;  // 0 if the provider does not report it separately
  // The provider's counts contradict each other (a part larger than its total); clamped at 0.
  bool inconsistent = false;

  int64_t input() const { return uncached_input + cache_read + cache_write_5m + cache_write_1h; }
  int64_t output() const { return visible_output + reasoning_output; }
  friend bool operator==(const TokenUsage&, const TokenUsage&) = default;
};

struct LlmReply {
  std::string text;  // visible text only; empty only if finish_reason is not "stop"
  // "stop", "length" (cut off), "content_filter", "refusal" (`text` is then the refusal), ...
  std::string finish_reason;
  std::string model;  // as resolved by the provider
  std::string response_id;
  TokenUsage usage;
  bool usage_reported = false;  // false: `usage` is empty
  // Earlier attempts of this call that failed but may have been billed.
  int billed_tries = 0;
  // How long the next call should wait according to the provider's rate limits.
  absl::Duration pause = absl::ZeroDuration();
};

// Returns true for failures that every further call to the same model would meet until a person
// fixes something: a wrong key, an unknown model, no credit.
inline bool IsTerminalLlmError(absl::StatusCode code) {
  return code == absl::StatusCode::kUnauthenticated ||
         code == absl::StatusCode::kPermissionDenied || code == absl::StatusCode::kNotFound ||
         code == absl::StatusCode::kResourceExhausted ||
         code == absl::StatusCode::kFailedPrecondition;
}

// A client of a language model. Thread-safe.
class LlmClient {
 public:
  using Done = absl::AnyInvocable<void(absl::StatusOr<LlmReply>)>;

  virtual ~LlmClient() = default;

  // Starts a call. `done` runs exactly once, on a thread of the client, and must not block. When
  // the destructor returns, no `done` is running; calls in flight end with CANCELLED. Codes:
  // UNAVAILABLE (temporary; retries used up), RESOURCE_EXHAUSTED (quota or money; terminal),
  // UNAUTHENTICATED / PERMISSION_DENIED / NOT_FOUND / FAILED_PRECONDITION (key, model, URL or
  // configuration; terminal, the message names the fix), INVALID_ARGUMENT (request refused),
  // OUT_OF_RANGE (context overflow), DATA_LOSS (unreadable reply), DEADLINE_EXCEEDED, CANCELLED.
  // Messages never contain the key.
  virtual void Complete(LlmRequest request, Done done) = 0;

  // Ids of the calls that wait for a person, who may need days: nothing is lost if the process ends
  // meanwhile, because the next process finds the answer. Such a client permits any number of calls
  // in flight.
  virtual std::vector<std::string> ParkedCalls() { return {}; }

  // How long no call to the model (empty: the default one) will be made, because of failures or at
  // the provider's request; 0 if calls are made.
  virtual absl::Duration RestsFor(const std::string& /*model*/) { return absl::ZeroDuration(); }
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_LLM_CLIENT_H_
