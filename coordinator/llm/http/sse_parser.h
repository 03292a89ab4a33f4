#ifndef KSEARCH_COORDINATOR_LLM_HTTP_SSE_PARSER_H_
#define KSEARCH_COORDINATOR_LLM_HTTP_SSE_PARSER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// One event of a text/event-stream. Bytes are as the server sent them: UTF-8 is not checked.
struct SseEvent {
  std::string name;  // of the `event` field; empty if there was none
  std::string data;  // `data` lines, joined by "\n"

  friend bool operator==(const SseEvent&, const SseEvent&) = default;
};

// Reads server-sent events from a stream that arrives in pieces of any size, by the rules of the
// HTML standard: lines end in CR, LF or CRLF, a leading byte order mark and comments are skipped,
// an empty line ends an event, an event without `data` is none. `id` and `retry` are ignored, as a
// POST is never reconnected. An event that the stream's end cuts off never comes out. Not
// thread-safe.
class SseParser {
 public:
  // `max_event_bytes` bounds a line, and the data of an event; so it does the parser's memory.
  explicit SseParser(size_t max_event_bytes = size_t{1} << 20)
      : max_event_bytes_(max_event_bytes) {}

  // Appends the events that `bytes` completes. DATA_LOSS when a line or an event is too large, and
  // ever after; events before it have come out. The result depends on the bytes, not on how they
  // are split over calls.
  absl::Status Push(absl::string_view bytes, std::vector<SseEvent>* events);

 private:
  absl::Status EndLine(std::vector<SseEvent>* events);
  void EndEvent(std::vector<SseEvent>* events);

  const size_t max_event_bytes_;
  absl::Status failure_;
  std::string line_;        // what has come of the current line
  bool first_line_ = true;  // may start with a byte order mark
  bool after_cr_ = false;   // an LF that comes next belongs to it
  bool has_data_ = false;
  SseEvent event_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_HTTP_SSE_PARSER_H_
