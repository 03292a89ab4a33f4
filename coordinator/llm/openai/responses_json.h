#ifndef KSEARCH_COORDINATOR_LLM_OPENAI_RESPONSES_JSON_H_
#define KSEARCH_COORDINATOR_LLM_OPENAI_RESPONSES_JSON_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/llm/failure/provider_error.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/llm/provider/reply_reader.h"

namespace ksearch {

// The JSON of POST and GET /responses, independent of HTTP. Accepts any bytes; returned strings are
// UTF-8.

// Streamed, or in background mode: the server then stores the response and returns its id at once.
// Members of the JSON object `extra_body` are added.
std::string ResponsesRequestJson(const LlmRequest& request, bool background,
                                 absl::string_view extra_body);

// The present state of a response at the server.
struct ResponsesSnapshot {
  std::string id;
  // Absent while the response is not complete ("queued", "in_progress").
  std::optional<ReplyOutcome> outcome;
};

// `body` is a response object. DATA_LOSS says what is missing: no JSON, no status, or no text
// although the response is complete. The text is that of all "message" items.
absl::StatusOr<ResponsesSnapshot> ParseResponse(absl::string_view body);

// Returns true if the id is safe as a part of a URL.
bool IsResponseId(absl::string_view id);

// Reads the events of a streamed response; the last one contains all of it.
class ResponsesReader final : public ReplyReader {
 public:
  explicit ResponsesReader(size_t max_event_bytes = size_t{8} << 20)
      : ReplyReader(max_event_bytes) {}

  bool complete() const override { return outcome_.has_value(); }
  std::optional<ProviderError> ParseError(absl::string_view body) const override;

 private:
  absl::Status OnEvent(const SseEvent& event) override;
  absl::StatusOr<ReplyOutcome> EndOfStream() override;
  absl::StatusOr<ReplyOutcome> ReadWhole(absl::string_view body) override;

  std::optional<ReplyOutcome> outcome_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_OPENAI_RESPONSES_JSON_H_
