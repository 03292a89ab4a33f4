#ifndef KSEARCH_COORDINATOR_LLM_HTTP_URL_CHECK_H_
#define KSEARCH_COORDINATOR_LLM_HTTP_URL_CHECK_H_

#include <string>

#include "absl/status/statusor.h"

namespace ksearch {

enum class UrlScheme { kHttps, kLoopbackHttp };

// Returns the scheme of `url` if secrets may be sent there: https, or http to a loopback address,
// without user name, password, query or fragment. INVALID_ARGUMENT says what is wrong.
absl::StatusOr<UrlScheme> CheckUrl(const std::string& url);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_HTTP_URL_CHECK_H_
