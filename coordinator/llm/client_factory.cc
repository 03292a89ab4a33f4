#include "coordinator/llm/client_factory.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/llm/api_key.h"
#include "coordinator/llm/curl_transport.h"
#include "coordinator/llm/openai_chat_client.h"
#include "coordinator/llm/retrying_client.h"

namespace ksearch {
namespace {

// A provider's client with its retries and its transport.
class ProviderClient final : public LlmClient {
 public:
  ProviderClient(OpenAiChatOptions chat, RetryOptions retry,
                 std::unique_ptr<CurlTransport> transport, const Clock& clock, uint64_t seed)
      : client_(std::make_unique<OpenAiChatClient>(std::move(chat), *transport, clock), *transport,
                clock, retry, seed),
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

absl::StatusOr<OpenAiChatOptions> MakeOpenAiChatOptions(const std::string& name,
                                                        const v1::OpenAiChat& settings) {
  OpenAiChatOptions options;
  options.provider = name;
  options.base_url =
      settings.base_url().empty() ? "https://api.openai.com/v1" : settings.base_url();
  while (absl::EndsWith(options.base_url, "/")) options.base_url.pop_back();
  RETURN_IF_ERROR(Annotate(CheckUrlAllowed(options.base_url), "openai_chat.base_url"));
  if (absl::EndsWith(options.base_url, "/chat/completions")) {
    return absl::InvalidArgumentError(
        "openai_chat.base_url: leave out /chat/completions, it is added to every call");
  }
  absl::StatusOr<ApiKey> key = ApiKey::Read(settings.api_key_env(), settings.api_key_file());
  if (!key.ok()) return Annotate(key.status(), "openai_chat");
  options.key = *std::move(key);
  options.default_model = settings.default_model();
  ASSIGN_OR_RETURN(options.connect_timeout,
                   PositiveDuration(settings.has_connect_timeout(), settings.connect_timeout(),
                                    options.connect_timeout, "openai_chat.connect_timeout"));
  ASSIGN_OR_RETURN(options.total_timeout,
                   PositiveDuration(settings.has_total_timeout(), settings.total_timeout(),
                                    options.total_timeout, "openai_chat.total_timeout"));
  if (settings.max_reply_bytes() < 0) {
    return absl::InvalidArgumentError("openai_chat.max_reply_bytes: must not be negative");
  }
  if (settings.max_reply_bytes() > 0) options.max_reply_bytes = settings.max_reply_bytes();
  options.label_headers = settings.label_headers();
  if (!settings.token_limit_field().empty()) {
    options.token_limit_field = settings.token_limit_field();
  }
  return options;
}

absl::StatusOr<std::unique_ptr<LlmClient>> MakeOpenAiChat(const v1::ModelProvider& provider,
                                                          const Clock& clock, uint64_t seed) {
  absl::StatusOr<OpenAiChatOptions> chat =
      MakeOpenAiChatOptions(provider.name(), provider.openai_chat());
  if (!chat.ok()) return chat.status();
  absl::StatusOr<RetryOptions> retry = MakeRetryOptions(provider.retry());
  if (!retry.ok()) return retry.status();
  absl::StatusOr<std::unique_ptr<CurlTransport>> transport = CurlTransport::Create();
  if (!transport.ok()) return transport.status();
  return std::make_unique<ProviderClient>(*std::move(chat), *retry, *std::move(transport), clock,
                                          seed);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LlmClient>> MakeLlmClient(const v1::ModelProvider& provider,
                                                         const Clock& clock, uint64_t seed) {
  if (provider.name().empty()) {
    return absl::InvalidArgumentError("providers: an entry has no name; runs refer to it by name");
  }
  absl::StatusOr<std::unique_ptr<LlmClient>> client;
  switch (provider.kind_case()) {
    case v1::ModelProvider::kOpenaiChat:
      client = MakeOpenAiChat(provider, clock, seed);
      break;
    case v1::ModelProvider::KIND_NOT_SET:
      client = absl::InvalidArgumentError("no kind; add openai_chat { base_url: \"...\" }");
      break;
  }
  if (!client.ok()) {
    return Annotate(client.status(), absl::StrCat("provider \"", provider.name(), "\""));
  }
  return client;
}

}  // namespace ksearch
