#include "coordinator/llm/provider/reply_reader.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ksearch {

absl::Status ReplyReader::Push(absl::string_view bytes) {
  std::vector<SseEvent> events;
  const absl::Status parsed = parser_.Push(bytes, &events);
  for (const SseEvent& event : events) {
    any_event_ = true;
    RETURN_IF_ERROR(OnEvent(event));
  }
  return parsed;
}

absl::StatusOr<ReplyOutcome> ReplyReader::Finish(absl::string_view body) {
  if (any_event_) return EndOfStream();
  const absl::string_view start = absl::StripLeadingAsciiWhitespace(body);
  if (absl::StartsWith(start, "{") || absl::StartsWith(start, "[")) {
    if (std::optional<ProviderError> error = ParseError(body)) {
      return ReplyOutcome{.reply = {}, .error = std::move(error)};
    }
    return ReadWhole(body);
  }
  RETURN_IF_ERROR(Push(body));
  if (any_event_) return EndOfStream();
  return absl::DataLossError(absl::StrCat("the reply is neither JSON nor an event stream (",
                                          body.size(), " bytes); is base_url right?"));
}

}  // namespace ksearch
