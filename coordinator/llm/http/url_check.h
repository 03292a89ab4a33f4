#ifndef KSEARCH_COORDINATOR_LLM_HTTP_URL_CHECK_H_
#define KSEARCH_COORDINATOR_LLM_HTTP_URL_CHECK_H_

#include <string>

#include "absl/status/statusor.h"

namespace ksearch {

enum class UrlScheme { kHttps, kLoopbackHttp };

// The scheme of `url`, if a secret may be sent there: https, or http to a loopback address; no user
// name or password, query or fragment in it. INVALID_ARGUMENT says what is wrong.
absl::StatusOr<UrlScheme> CheckUrl(const std::string& url);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_HTTP_URL_CHECK_H_
