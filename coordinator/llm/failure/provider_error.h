#ifndef KSEARCH_COORDINATOR_LLM_FAILURE_PROVIDER_ERROR_H_
#define KSEARCH_COORDINATOR_LLM_FAILURE_PROVIDER_ERROR_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "coordinator/llm/http/http_transport.h"
#include "coordinator/llm/provider/api_key.h"

namespace ksearch {

// An error as a provider's server reports it.
struct ProviderError {
  std::string message;    // at most 600 bytes
  std::string code;       // e.g. "rate_limit_exceeded"; numbers as text
  std::string type;       // e.g. "authentication_error"
  std::string parameter;  // parameter concerned, if the server names it separately
  std::optional<absl::Duration> retry_after;  // google.rpc.RetryInfo
  bool daily_quota = false;                   // google.rpc.QuotaFailure for a daily quota
};

// Returns the status, with LlmClient's codes, of a call that `response` ended: an HTTP status other
// than 200, or a 200 that contains `error`. UNAVAILABLE carries the server's advice on retrying
// (retry_after.h). The message names `url`, the server's message, and the fix; `key` is removed
// from all of it.
absl::Status HttpFailure(const HttpResponse& response, const std::optional<ProviderError>& error,
                         const ApiKey& key, absl::string_view url, absl::string_view model,
                         absl::Time now);

// Returns the delay that the response's headers demand: retry-after-ms, or Retry-After in seconds
// or as an HTTP date.
std::optional<absl::Duration> ServerDelay(const HttpResponse& response, absl::Time now);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_FAILURE_PROVIDER_ERROR_H_
