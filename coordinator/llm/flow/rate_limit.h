#ifndef KSEARCH_COORDINATOR_LLM_FLOW_RATE_LIMIT_H_
#define KSEARCH_COORDINATOR_LLM_FLOW_RATE_LIMIT_H_

#include <map>
#include <string>

#include "absl/time/time.h"
#include "coordinator/llm/llm_client.h"

namespace ksearch {

// How long the next call, if it uses as much as the last, had better wait by what the response's
// headers (names in lower case) say is left of the provider's rate limits: until they have filled
// up again that far, if they do so evenly. 0: enough is left, or nothing is said of it. At most
// 2 minutes. Knows OpenAI's x-ratelimit-* and Anthropic's anthropic-ratelimit-*.
absl::Duration RateLimitPause(const std::map<std::string, std::string>& headers,
                              const TokenUsage& used, absl::Time now);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_FLOW_RATE_LIMIT_H_
