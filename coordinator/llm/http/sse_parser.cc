#include "coordinator/llm/http/sse_parser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "common/utf8.h"

namespace ksearch {

absl::Status SseParser::Push(absl::string_view bytes, std::vector<SseEvent>* events) {
  RETURN_IF_ERROR(failure_);
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && absl::ConsumePrefix(&bytes, "\n")) continue;
    const size_t length = std::min(bytes.find_first_of("\r\n"), bytes.size());
    if (length > max_event_bytes_ - line_.size()) {
      return failure_ = absl::DataLossError(absl::StrCat(
                 "a line of the event stream is longer than ", max_event_bytes_, " bytes"));
    }
    line_.append(bytes.data(), length);
    bytes.remove_prefix(length);
    if (bytes.empty()) break;
    after_cr_ = bytes.front() == '\r';
    bytes.remove_prefix(1);
    failure_ = EndLine(events);
    RETURN_IF_ERROR(failure_);
  }
  return absl::OkStatus();
}

absl::Status SseParser::EndLine(std::vector<SseEvent>* events) {
  absl::string_view value = line_;
  if (std::exchange(first_line_, false)) absl::ConsumePrefix(&value, kByteOrderMark);
  if (value.empty()) {
    EndEvent(events);
  } else {
    const size_t colon = std::min(value.find(':'), value.size());
    const absl::string_view field = value.substr(0, colon);
    value.remove_prefix(std::min(colon + 1, value.size()));
    absl::ConsumePrefix(&value, " ");
    if (field == "event") {
      event_.name = std::string(value);
    } else if (field == "data") {
      // The bound holds for any number of lines: each costs at least one byte, its "\n".
      if (value.size() >= max_event_bytes_ - event_.data.size()) {
        return absl::DataLossError(absl::StrCat("an event of the stream has more than ",
                                                max_event_bytes_, " bytes of data"));
      }
      if (std::exchange(has_data_, true)) event_.data += '\n';
      event_.data.append(value.data(), value.size());
    }
  }
  line_.clear();
  return absl::OkStatus();
}

void SseParser::EndEvent(std::vector<SseEvent>* events) {
  if (std::exchange(has_data_, false)) events->push_back(std::move(event_));
  event_ = SseEvent();
}

}  // namespace ksearch
