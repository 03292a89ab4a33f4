// What any HTTP server may send us: bodies of any bytes and headers, at every status.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "common/log.h"
#include "coordinator/llm/openai_chat_client.h"
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

  ksearch::OpenAiChatOptions options;
  options.base_url = "https://fuzz/v1";
  options.default_model = "m";
  int replies = 0;
  ksearch::FakeHttpTransport transport;
  ksearch::OpenAiChatClient client(options, transport, ksearch::Clock::Real());
  client.Complete({}, [&replies](absl::StatusOr<ksearch::LlmReply> reply) {
    ++replies;
    CHECK(!reply.ok() || reply->finish_reason != "stop" || !reply->text.empty());
    CHECK(!reply.ok() || (reply->input_tokens >= 0 && reply->output_tokens >= 0));
  });
  transport.Answer(std::move(response));
  CHECK(replies == 1);
  return 0;
}
