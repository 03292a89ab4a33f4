// Cassettes that people write, and requests that anybody on the machine may send to the scripted
// server: the bytes up to the first NUL are a cassette, the rest is a request body.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "common/log.h"
#include "coordinator/llm/model_server/cassette.h"
#include "coordinator/llm/model_server/chat_endpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view input(reinterpret_cast<const char*>(data), size);
  const absl::string_view text = input.substr(0, input.find('\0'));
  absl::StatusOr<ksearch::Cassette> cassette = ksearch::Cassette::Parse(
      text, "fuzz", [](const std::string& path) -> absl::StatusOr<std::string> {
        if (path.size() % 2 == 0) return absl::NotFoundError("no such file");
        return path;
      });
  if (!cassette.ok()) {
    CHECK(!cassette.status().message().empty());
    return 0;
  }
  ksearch::EndpointRequest request;
  request.method = "POST";
  request.target = "/v1/chat/completions";
  request.body = std::string(input.substr(std::min(text.size() + 1, input.size())));
  if (request.body.empty()) request.body = R"({"messages":[{"content":"x"}]})";
  for (const ksearch::Cassette::Entry& entry : cassette->entries()) {
    // Every entry is the answer to its own key.
    CHECK(cassette->Find(entry.key) == &entry);
    request.headers["x-ksearch-purpose"] = entry.key.purpose;
    request.headers["x-ksearch-node"] = entry.key.node;
  }
  ksearch::ChatEndpoint endpoint(*std::move(cassette), {});
  CHECK(endpoint.Answer(request).status >= 200);
  return 0;
}
