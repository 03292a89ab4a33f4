// Recordings of any bytes: what is read has a header, and is read again from its own lines.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "common/log.h"
#include "coordinator/llm/replay/recording.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto recording =
      ksearch::ParseRecording(absl::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!recording.ok()) return 0;
  ksearch::v1::RecordedLine line;
  *line.mutable_header() = recording->header;
  std::string text = ksearch::RecordingLine(line);
  for (const ksearch::v1::RecordedCall& call : recording->calls) {
    *line.mutable_call() = call;
    text += ksearch::RecordingLine(line);
    ksearch::ExplainMiss(*recording, call);
  }
  const auto again = ksearch::ParseRecording(text, "again");
  CHECK(again.ok());
  CHECK(again->calls.size() == recording->calls.size());
  return 0;
}
