#ifndef KSEARCH_COORDINATOR_LLM_FLOW_RATE_LIMIT_H_
#define KSEARCH_COORDINATOR_LLM_FLOW_RATE_LIMIT_H_

#include <map>
#include <string>

#include "absl/time/time.h"
#include "coordinator/llm/llm_client.h"

namespace ksearch {

// Returns how long the next call should wait if it uses as much as the last one, according to the
// response's headers (names in lower case): until the provider's rate limits have refilled that
// far, assuming that they refill evenly. 0 if enough is left, or if the headers do not say. At most
// 2 minutes. Supports OpenAI's x-ratelimit-* and Anthropic's anthropic-ratelimit-*.
absl::Duration RateLimitPause(const std::map<std::string, std::string>& headers,
                              const TokenUsage& used, absl::Time now);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_FLOW_RATE_LIMIT_H_
