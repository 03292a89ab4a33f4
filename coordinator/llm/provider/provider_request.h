#ifndef KSEARCH_COORDINATOR_LLM_PROVIDER_PROVIDER_REQUEST_H_
#define KSEARCH_COORDINATOR_LLM_PROVIDER_PROVIDER_REQUEST_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "coordinator/llm/http/http_transport.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/llm/provider/api_key.h"

namespace ksearch {

// The settings of v1::ModelProvider that all kinds of providers have, with defaults filled in and
// the key read.
struct ProviderOptions {
  std::string provider;  // name in the configuration, for messages
  std::string base_url;  // without a trailing slash
  ApiKey key;
  std::string default_model;
  HttpTimeouts timeouts;
  int64_t max_reply_bytes = int64_t{8} << 20;
  std::string ca_file;     // as in HttpRequest
  std::string extra_body;  // JSON object with members of every request; may be empty
  bool label_headers = false;
};

// Returns a POST of JSON `body` to `url`. The labels, and the call's id if given, are added as
// headers if the options say so. The key is not added, because its header differs by kind.
HttpRequest JsonPost(const ProviderOptions& options, absl::string_view url, std::string body,
                     const LlmLabels& labels, absl::string_view call_id = {});

// INVALID_ARGUMENT unless `text` is empty or a JSON object.
absl::Status CheckExtraBody(absl::string_view text);

// Fails a call that names no model if `kind` has no default. Goes through the transport, because
// `done` must not run on the caller's thread.
void RefuseWithoutModel(const ProviderOptions& options, absl::string_view kind,
                        HttpTransport& transport, LlmClient::Done done);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_PROVIDER_PROVIDER_REQUEST_H_
