#include "coordinator/llm/client_factory.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/llm/anthropic/anthropic_client.h"
#include "coordinator/llm/flow/retrying_client.h"
#include "coordinator/llm/http/curl_transport.h"
#include "coordinator/llm/openai/openai_chat_client.h"
#include "coordinator/llm/provider/api_key.h"
#include "coordinator/llm/provider/provider_request.h"

namespace ksearch {
namespace {

// A provider's client with its retries and its transport.
class ProviderClient final : public LlmClient {
 public:
  // `client` uses `transport`.
  ProviderClient(std::unique_ptr<LlmClient> client, RetryOptions retry,
                 std::unique_ptr<CurlTransport> transport, const Clock& clock, uint64_t seed)
      : client_(std::move(client), *transport, clock, retry, seed),
        transport_(std::move(transport)) {}

  void Complete(LlmRequest request, Done done) override {
    client_.Complete(std::move(request), std::move(done));
  }

 private:
  RetryingClient client_;
  const std::unique_ptr<CurlTransport> transport_;  // last: its callbacks use client_
};

// The field's value, or `fallback` if it is absent; it must be positive.
absl::StatusOr<absl::Duration> PositiveDuration(bool present,
                                                const google::protobuf::Duration& value,
                                                absl::Duration fallback, absl::string_view field) {
  if (!present) return fallback;
  const absl::Duration duration = FromProto(value);
  if (duration > absl::ZeroDuration()) return duration;
  return absl::InvalidArgumentError(absl::StrCat(field, ": must be longer than 0"));
}

absl::StatusOr<RetryOptions> MakeRetryOptions(const v1::RetrySettings& settings) {
  RetryOptions options;
  if (settings.max_attempts() < 0) {
    return absl::InvalidArgumentError("retry.max_attempts: must not be negative");
  }
  if (settings.max_attempts() > 0) options.max_attempts = settings.max_attempts();
  ASSIGN_OR_RETURN(options.first_delay,
                   PositiveDuration(settings.has_first_delay(), settings.first_delay(),
                                    options.first_delay, "retry.first_delay"));
  ASSIGN_OR_RETURN(options.max_delay,
                   PositiveDuration(settings.has_max_delay(), settings.max_delay(),
                                    options.max_delay, "retry.max_delay"));
  return options;
}

// Where a kind's server is.
struct Endpoint {
  absl::string_view kind;  // the field of ModelProvider, for messages
  absl::string_view default_base_url;
  std::vector<absl::string_view> added;  // to base_url, which must not end in it
};

// `Settings` is a kind's message: what they have in common has the same names in all of them.
template <typename Settings>
absl::StatusOr<ProviderOptions> MakeProviderOptions(const std::string& name,
                                                    const Settings& settings,
                                                    const Endpoint& endpoint) {
  const auto field = [&endpoint](absl::string_view field_name) {
    return absl::StrCat(endpoint.kind, ".", field_name);
  };
  ProviderOptions options;
  options.provider = name;
  options.base_url =
      settings.base_url().empty() ? std::string(endpoint.default_base_url) : settings.base_url();
  while (absl::EndsWith(options.base_url, "/")) options.base_url.pop_back();
  RETURN_IF_ERROR(Annotate(CheckUrlAllowed(options.base_url), field("base_url")));
  for (absl::string_view end : endpoint.added) {
    if (absl::EndsWith(options.base_url, end)) {
      return absl::InvalidArgumentError(
          absl::StrCat(field("base_url"), ": leave out ", end, ", it is added to every call"));
    }
  }
  absl::StatusOr<ApiKey> key = ApiKey::Read(settings.api_key_env(), settings.api_key_file());
  if (!key.ok()) return Annotate(key.status(), endpoint.kind);
  options.key = *std::move(key);
  options.default_model = settings.default_model();
  ASSIGN_OR_RETURN(options.connect_timeout,
                   PositiveDuration(settings.has_connect_timeout(), settings.connect_timeout(),
                                    options.connect_timeout, field("connect_timeout")));
  ASSIGN_OR_RETURN(options.total_timeout,
                   PositiveDuration(settings.has_total_timeout(), settings.total_timeout(),
                                    options.total_timeout, field("total_timeout")));
  if (settings.max_reply_bytes() < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(field("max_reply_bytes"), ": must not be negative"));
  }
  if (settings.max_reply_bytes() > 0) options.max_reply_bytes = settings.max_reply_bytes();
  options.label_headers = settings.label_headers();
  return options;
}

absl::StatusOr<std::unique_ptr<LlmClient>> MakeOpenAiChat(const v1::ModelProvider& provider,
                                                          HttpTransport& transport,
                                                          const Clock& clock) {
  OpenAiChatOptions options;
  ASSIGN_OR_RETURN(static_cast<ProviderOptions&>(options),
                   MakeProviderOptions(provider.name(), provider.openai_chat(),
                                       {.kind = "openai_chat",
                                        .default_base_url = "https://api.openai.com/v1",
                                        .added = {"/chat/completions"}}));
  if (!provider.openai_chat().token_limit_field().empty()) {
    options.token_limit_field = provider.openai_chat().token_limit_field();
  }
  return std::make_unique<OpenAiChatClient>(std::move(options), transport, clock);
}

absl::StatusOr<std::unique_ptr<LlmClient>> MakeAnthropic(const v1::ModelProvider& provider,
                                                         HttpTransport& transport,
                                                         const Clock& clock) {
  absl::StatusOr<ProviderOptions> options =
      MakeProviderOptions(provider.name(), provider.anthropic(),
                          {.kind = "anthropic",
                           .default_base_url = "https://api.anthropic.com",
                           .added = {"/v1/messages", "/v1"}});
  if (!options.ok()) return options.status();
  return std::make_unique<AnthropicClient>(*std::move(options), transport, clock);
}

// The client of the provider's kind, without retries.
absl::StatusOr<std::unique_ptr<LlmClient>> MakeKind(const v1::ModelProvider& provider,
                                                    HttpTransport& transport, const Clock& clock) {
  switch (provider.kind_case()) {
    case v1::ModelProvider::kOpenaiChat:
      return MakeOpenAiChat(provider, transport, clock);
    case v1::ModelProvider::kAnthropic:
      return MakeAnthropic(provider, transport, clock);
    case v1::ModelProvider::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("no kind; add openai_chat { base_url: \"...\" }");
}

absl::StatusOr<std::unique_ptr<LlmClient>> MakeWithRetries(const v1::ModelProvider& provider,
                                                           const Clock& clock, uint64_t seed) {
  absl::StatusOr<std::unique_ptr<CurlTransport>> transport = CurlTransport::Create();
  if (!transport.ok()) return transport.status();
  absl::StatusOr<std::unique_ptr<LlmClient>> client = MakeKind(provider, **transport, clock);
  if (!client.ok()) return client.status();
  absl::StatusOr<RetryOptions> retry = MakeRetryOptions(provider.retry());
  if (!retry.ok()) return retry.status();
  return std::make_unique<ProviderClient>(*std::move(client), *retry, *std::move(transport), clock,
                                          seed);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LlmClient>> MakeLlmClient(const v1::ModelProvider& provider,
                                                         const Clock& clock, uint64_t seed) {
  if (provider.name().empty()) {
    return absl::InvalidArgumentError("providers: an entry has no name; runs refer to it by name");
  }
  absl::StatusOr<std::unique_ptr<LlmClient>> client = MakeWithRetries(provider, clock, seed);
  if (!client.ok()) {
    return Annotate(client.status(), absl::StrCat("provider \"", provider.name(), "\""));
  }
  return client;
}

const std::string& DefaultModel(const v1::ModelProvider& provider) {
  return provider.has_anthropic() ? provider.anthropic().default_model()
                                  : provider.openai_chat().default_model();
}

}  // namespace ksearch
