// Any response that an HTTP server may send: bodies of any bytes and headers, with every status.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>

#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "common/log.h"
#include "coordinator/llm/anthropic/anthropic_client.h"
#include "coordinator/llm/openai/openai_chat_client.h"
#include "coordinator/llm/openai/openai_responses_client.h"
#include "tests/fakes/fake_http_transport.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  static constexpr int kStatuses[] = {200, 200, 204, 302, 400, 401, 402, 403, 404, 429, 500, 529};
  ksearch::HttpResponse response;
  response.status = kStatuses[data[0] % std::size(kStatuses)];
  // The second byte says how much of the rest is a Retry-After header.
  const absl::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  response.headers["retry-after"] = std::string(rest.substr(0, data[1] % 40));
  response.headers["x-request-id"] = response.headers["retry-after"];
  response.body = std::string(rest.substr(std::min<size_t>(rest.size(), data[1] % 40)));

  // Half of the bodies come as an event stream.
  if (data[1] % 2 == 0) response.headers["content-type"] = "text/event-stream";

  ksearch::OpenAiChatOptions options;
  options.base_url = "https://fuzz/v1";
  options.default_model = "m";
  ksearch::AnthropicOptions messages_options;
  static_cast<ksearch::ProviderOptions&>(messages_options) = options;
  ksearch::OpenAiResponsesOptions responses_options;
  static_cast<ksearch::ProviderOptions&>(responses_options) = options;
  ksearch::FakeHttpTransport transport;
  const ksearch::Clock& clock = ksearch::Clock::Real();
  ksearch::OpenAiChatClient chat(options, transport, clock);
  ksearch::AnthropicClient messages(messages_options, transport, clock);
  ksearch::OpenAiResponsesClient responses(responses_options, transport, clock);
  for (ksearch::LlmClient* client :
       std::initializer_list<ksearch::LlmClient*>{&chat, &messages, &responses}) {
    int replies = 0;
    client->Complete({}, [&replies](absl::StatusOr<ksearch::LlmReply> reply) {
      ++replies;
      CHECK(!reply.ok() || reply->finish_reason != "stop" || !reply->text.empty());
      if (!reply.ok()) return;
      const ksearch::TokenUsage& usage = reply->usage;
      CHECK(usage.uncached_input >= 0 && usage.cache_read >= 0 && usage.cache_write_5m >= 0);
      CHECK(usage.cache_write_1h >= 0 && usage.visible_output >= 0 && usage.reasoning_output >= 0);
    });
    transport.Answer(response);
    CHECK(replies == 1);
  }
  return 0;
}
