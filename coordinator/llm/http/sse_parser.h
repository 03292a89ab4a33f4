#ifndef KSEARCH_COORDINATOR_LLM_HTTP_SSE_PARSER_H_
#define KSEARCH_COORDINATOR_LLM_HTTP_SSE_PARSER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// One event of a text/event-stream. The bytes are as the server sent them; UTF-8 is not checked.
struct SseEvent {
  std::string name;  // of the `event` field; empty if there was none
  std::string data;  // `data` lines, joined by "\n"

  friend bool operator==(const SseEvent&, const SseEvent&) = default;
};

// Parses server-sent events from a stream that arrives in pieces of any size, by the rules of the
// HTML standard: lines end in CR, LF or CRLF, a leading byte order mark and comments are skipped,
// an empty line ends an event, and an event without `data` is dropped. `id` and `retry` are
// ignored, because a POST is never reconnected. An event that the end of the stream cuts off is
// dropped. Not thread-safe.
class SseParser {
 public:
  // `max_event_bytes` limits a line and the data of an event, and so the parser's memory.
  explicit SseParser(size_t max_event_bytes = size_t{1} << 20)
      : max_event_bytes_(max_event_bytes) {}

  // Appends the events that `bytes` completes. DATA_LOSS if a line or an event is too large, and at
  // every later call; earlier events have been appended. The result does not depend on how the
  // bytes are split over calls.
  absl::Status Push(absl::string_view bytes, std::vector<SseEvent>* events);

 private:
  absl::Status EndLine(std::vector<SseEvent>* events);
  void EndEvent(std::vector<SseEvent>* events);

  const size_t max_event_bytes_;
  absl::Status failure_;
  std::string line_;        // the part of the current line that has arrived
  bool first_line_ = true;  // may start with a byte order mark
  bool after_cr_ = false;   // ignore an LF that comes next
  bool has_data_ = false;
  SseEvent event_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_HTTP_SSE_PARSER_H_
