// Event streams of any bytes: how they are split over reads must not matter, and sizes stay
// bounded.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/log.h"
#include "coordinator/llm/http/sse_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  // The first byte is the size limit, the second the size of a read.
  const size_t max_event_bytes = 1 + data[0];
  const size_t read_bytes = 1 + data[1] % 16;
  absl::string_view stream(reinterpret_cast<const char*>(data) + 2, size - 2);

  std::vector<ksearch::SseEvent> at_once;
  ksearch::SseParser whole(max_event_bytes);
  const absl::Status status = whole.Push(stream, &at_once);

  std::vector<ksearch::SseEvent> in_pieces;
  ksearch::SseParser pieces(max_event_bytes);
  absl::Status last;
  while (!stream.empty()) {
    last = pieces.Push(stream.substr(0, read_bytes), &in_pieces);
    stream.remove_prefix(std::min(read_bytes, stream.size()));
  }
  CHECK(last == status);
  CHECK(at_once == in_pieces);
  for (const ksearch::SseEvent& event : at_once) {
    CHECK(event.data.size() <= max_event_bytes && event.name.size() <= max_event_bytes);
    CHECK(event.name.find_first_of("\r\n") == event.name.npos);
    CHECK(event.data.find('\r') == event.data.npos);
  }
  return 0;
}
