#include "coordinator/llm/client_factory.h"

#include <unistd.h>

#include <cerrno>
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
#include "coordinator/llm/embedding/split_client.h"
#include "coordinator/llm/flow/call_gate.h"
#include "coordinator/llm/flow/retrying_client.h"
#include "coordinator/llm/http/curl_transport.h"
#include "coordinator/llm/http/url_check.h"
#include "coordinator/llm/openai/openai_chat_client.h"
#include "coordinator/llm/openai/openai_embeddings_client.h"
#include "coordinator/llm/openai/openai_responses_client.h"
#include "coordinator/llm/provider/api_key.h"
#include "coordinator/llm/provider/provider_request.h"

namespace ksearch {
namespace {

// A provider's client with its retries and its transport.
class ProviderClient final : public LlmClient {
 public:
  // `client` uses `transport`.
  ProviderClient(std::unique_ptr<LlmClient> client, RetryOptions retry,
                 RetryingClient::GateOf gate_of, std::unique_ptr<CurlTransport> transport,
                 const Clock& clock, uint64_t seed)
      : client_(std::move(client), *transport, clock, retry, std::move(gate_of), seed),
        transport_(std::move(transport)) {}

  void Complete(LlmRequest request, Done done) override {
    client_.Complete(std::move(request), std::move(done));
  }
  absl::Duration RestsFor(const std::string& model) override { return client_.RestsFor(model); }

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
  ASSIGN_OR_RETURN(options.call_deadline,
                   PositiveDuration(settings.has_call_deadline(), settings.call_deadline(),
                                    options.call_deadline, "retry.call_deadline"));
  return options;
}

// `*value`, unless `given` is 0; it must not be negative.
absl::Status TakeCount(int given, absl::string_view field, int* value) {
  if (given < 0) return absl::InvalidArgumentError(absl::StrCat(field, ": must not be negative"));
  if (given > 0) *value = given;
  return absl::OkStatus();
}

absl::StatusOr<GateOptions> MakeGateOptions(const v1::FlowSettings& settings) {
  GateOptions options;
  RETURN_IF_ERROR(TakeCount(settings.initial_concurrency(), "flow.initial_concurrency",
                            &options.initial_concurrency));
  RETURN_IF_ERROR(
      TakeCount(settings.max_concurrency(), "flow.max_concurrency", &options.max_concurrency));
  RETURN_IF_ERROR(
      TakeCount(settings.breaker_failures(), "flow.breaker_failures", &options.breaker_failures));
  ASSIGN_OR_RETURN(options.breaker_pause,
                   PositiveDuration(settings.has_breaker_pause(), settings.breaker_pause(),
                                    options.breaker_pause, "flow.breaker_pause"));
  return options;
}

// The default server of a kind of provider.
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
  RETURN_IF_ERROR(Annotate(CheckUrl(options.base_url).status(), field("base_url")));
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
  HttpTimeouts& timeouts = options.timeouts;
  ASSIGN_OR_RETURN(timeouts.connect,
                   PositiveDuration(settings.has_connect_timeout(), settings.connect_timeout(),
                                    timeouts.connect, field("connect_timeout")));
  ASSIGN_OR_RETURN(
      timeouts.first_byte,
      PositiveDuration(settings.has_first_byte_timeout(), settings.first_byte_timeout(),
                       timeouts.first_byte, field("first_byte_timeout")));
  ASSIGN_OR_RETURN(timeouts.idle,
                   PositiveDuration(settings.has_idle_timeout(), settings.idle_timeout(),
                                    timeouts.idle, field("idle_timeout")));
  ASSIGN_OR_RETURN(timeouts.total,
                   PositiveDuration(settings.has_total_timeout(), settings.total_timeout(),
                                    timeouts.total, field("total_timeout")));
  if (!settings.ca_file().empty() && ::access(settings.ca_file().c_str(), R_OK) != 0) {
    return Annotate(ErrnoStatus(errno, absl::StrCat("open ", settings.ca_file())),
                    field("ca_file"));
  }
  options.ca_file = settings.ca_file();
  RETURN_IF_ERROR(Annotate(CheckExtraBody(settings.extra_body_json()), field("extra_body_json")));
  options.extra_body = settings.extra_body_json();
  if (settings.max_reply_bytes() < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(field("max_reply_bytes"), ": must not be negative"));
  }
  if (settings.max_reply_bytes() > 0) options.max_reply_bytes = settings.max_reply_bytes();
  options.label_headers = settings.label_headers();
  return options;
}

// A kind's client, without retries, and the prefix of its gates' names.
struct KindClient {
  std::unique_ptr<LlmClient> client;
  std::string gate_prefix;  // the same for the same server and key
  std::string default_model;
};

constexpr int kLeastPieceBytes = 64;
constexpr int kMostPieceBytes = 1 << 20;

// Adds embeddings to `answers` if the settings name a model for them. `options` are those of
// `answers`.
template <typename Settings>
absl::StatusOr<std::unique_ptr<LlmClient>> WithEmbeddings(
    const Settings& settings, absl::string_view kind, ProviderOptions options,
    HttpTransport& transport, const Clock& clock, std::unique_ptr<LlmClient> answers) {
  const int bytes = settings.embedding_piece_bytes();
  const std::string field = absl::StrCat(kind, ".embedding_piece_bytes");
  if (settings.embedding_model().empty()) {
    if (bytes == 0) return answers;
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": has no effect without ", kind, ".embedding_model"));
  }
  OpenAiEmbeddingsOptions embedding;
  static_cast<ProviderOptions&>(embedding) = std::move(options);
  embedding.default_model = settings.embedding_model();
  if (bytes != 0) {
    if (bytes < kLeastPieceBytes || bytes > kMostPieceBytes) {
      return absl::InvalidArgumentError(absl::StrCat(field, ": is ", bytes, ", must be ",
                                                     kLeastPieceBytes, " to ", kMostPieceBytes));
    }
    embedding.piece_bytes = static_cast<size_t>(bytes);
  }
  return std::make_unique<SplitClient>(
      std::move(answers),
      std::make_unique<OpenAiEmbeddingsClient>(std::move(embedding), transport, clock));
}

template <typename Client, typename Options>
KindClient MakeKindClient(Options options, HttpTransport& transport, const Clock& clock) {
  KindClient made;
  made.gate_prefix = absl::StrCat(options.base_url, "\n", options.key.Fingerprint(), "\n");
  made.default_model = options.default_model;
  made.client = std::make_unique<Client>(std::move(options), transport, clock);
  return made;
}

absl::StatusOr<KindClient> MakeOpenAiChat(const v1::ModelProvider& provider,
                                          HttpTransport& transport, const Clock& clock) {
  OpenAiChatOptions options;
  ASSIGN_OR_RETURN(static_cast<ProviderOptions&>(options),
                   MakeProviderOptions(provider.name(), provider.openai_chat(),
                                       {.kind = "openai_chat",
                                        .default_base_url = "https://api.openai.com/v1",
                                        .added = {"/chat/completions"}}));
  if (!provider.openai_chat().token_limit_field().empty()) {
    options.token_limit_field = provider.openai_chat().token_limit_field();
  }
  if (provider.openai_chat().has_stream()) options.stream = provider.openai_chat().stream();
  ProviderOptions common = options;
  KindClient made = MakeKindClient<OpenAiChatClient>(std::move(options), transport, clock);
  ASSIGN_OR_RETURN(made.client,
                   WithEmbeddings(provider.openai_chat(), "openai_chat", std::move(common),
                                  transport, clock, std::move(made.client)));
  return made;
}

absl::StatusOr<KindClient> MakeOpenAiResponses(const v1::ModelProvider& provider,
                                               HttpTransport& transport, const Clock& clock) {
  const v1::OpenAiResponses& settings = provider.openai_responses();
  OpenAiResponsesOptions options;
  ASSIGN_OR_RETURN(static_cast<ProviderOptions&>(options),
                   MakeProviderOptions(provider.name(), settings,
                                       {.kind = "openai_responses",
                                        .default_base_url = "https://api.openai.com/v1",
                                        .added = {"/responses"}}));
  options.background = settings.background();
  ASSIGN_OR_RETURN(options.poll_interval,
                   PositiveDuration(settings.has_poll_interval(), settings.poll_interval(),
                                    options.poll_interval, "openai_responses.poll_interval"));
  ProviderOptions common = options;
  KindClient made = MakeKindClient<OpenAiResponsesClient>(std::move(options), transport, clock);
  ASSIGN_OR_RETURN(made.client, WithEmbeddings(settings, "openai_responses", std::move(common),
                                               transport, clock, std::move(made.client)));
  return made;
}

absl::StatusOr<KindClient> MakeAnthropic(const v1::ModelProvider& provider,
                                         HttpTransport& transport, const Clock& clock) {
  AnthropicOptions options;
  ASSIGN_OR_RETURN(static_cast<ProviderOptions&>(options),
                   MakeProviderOptions(provider.name(), provider.anthropic(),
                                       {.kind = "anthropic",
                                        .default_base_url = "https://api.anthropic.com",
                                        .added = {"/v1/messages", "/v1"}}));
  options.cache_ttl = provider.anthropic().cache_ttl();
  if (!options.cache_ttl.empty() && options.cache_ttl != "5m" && options.cache_ttl != "1h") {
    return absl::InvalidArgumentError("anthropic.cache_ttl: must be \"5m\" or \"1h\"");
  }
  return MakeKindClient<AnthropicClient>(std::move(options), transport, clock);
}

absl::StatusOr<KindClient> MakeKind(const v1::ModelProvider& provider, HttpTransport& transport,
                                    const Clock& clock) {
  switch (provider.kind_case()) {
    case v1::ModelProvider::kOpenaiChat:
      return MakeOpenAiChat(provider, transport, clock);
    case v1::ModelProvider::kOpenaiResponses:
      return MakeOpenAiResponses(provider, transport, clock);
    case v1::ModelProvider::kAnthropic:
      return MakeAnthropic(provider, transport, clock);
    default:
      break;
  }
  return absl::InvalidArgumentError("no kind; add openai_chat { base_url: \"...\" }");
}

absl::StatusOr<std::unique_ptr<LlmClient>> MakeWithRetries(const v1::ModelProvider& provider,
                                                           const Clock& clock, uint64_t seed,
                                                           std::shared_ptr<CallGates> gates) {
  absl::StatusOr<std::unique_ptr<CurlTransport>> transport = CurlTransport::Create();
  if (!transport.ok()) return transport.status();
  absl::StatusOr<KindClient> kind = MakeKind(provider, **transport, clock);
  if (!kind.ok()) return kind.status();
  const absl::StatusOr<RetryOptions> retry = MakeRetryOptions(provider.retry());
  if (!retry.ok()) return retry.status();
  const absl::StatusOr<GateOptions> gate = MakeGateOptions(provider.flow());
  if (!gate.ok()) return gate.status();
  auto gate_of = [gates = std::move(gates), prefix = kind->gate_prefix,
                  default_model = kind->default_model, options = *gate](const std::string& model) {
    return gates->Named(absl::StrCat(prefix, model.empty() ? default_model : model), options);
  };
  return std::make_unique<ProviderClient>(std::move(kind->client), *retry, std::move(gate_of),
                                          *std::move(transport), clock, seed);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LlmClient>> MakeLlmClient(const v1::ModelProvider& provider,
                                                         const Clock& clock, uint64_t seed,
                                                         std::shared_ptr<CallGates> gates) {
  if (gates == nullptr) gates = std::make_shared<CallGates>();
  if (provider.name().empty()) {
    return absl::InvalidArgumentError("providers: an entry has no name; runs refer to it by name");
  }
  absl::StatusOr<std::unique_ptr<LlmClient>> client =
      MakeWithRetries(provider, clock, seed, std::move(gates));
  if (!client.ok()) {
    return Annotate(client.status(), absl::StrCat("provider \"", provider.name(), "\""));
  }
  return client;
}

const std::string& DefaultModel(const v1::ModelProvider& provider) {
  switch (provider.kind_case()) {
    case v1::ModelProvider::kAnthropic:
      return provider.anthropic().default_model();
    case v1::ModelProvider::kOpenaiResponses:
      return provider.openai_responses().default_model();
    default:
      return provider.openai_chat().default_model();
  }
}

const std::string& EmbeddingModel(const v1::ModelProvider& provider) {
  // Unset messages have empty fields.
  return provider.has_openai_responses() ? provider.openai_responses().embedding_model()
                                         : provider.openai_chat().embedding_model();
}

}  // namespace ksearch
