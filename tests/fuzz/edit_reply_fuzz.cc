// Any text a model may send instead of an edit script. What is accepted means the same when it is
// written out and read back, and a refusal stays short.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "common/log.h"
#include "common/textproto.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/proposer/text_safety.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ksearch;  // NOLINT: a test's main function
  const absl::string_view reply(reinterpret_cast<const char*>(data), size);
  for (const bool clamp : {false, true}) {
    EditReplyOptions options;
    options.clamp = clamp;
    const absl::StatusOr<v1::EditScript> script = ParseEditReply(reply, options);
    if (!script.ok()) {
      CHECK(absl::IsInvalidArgument(script.status()));
      const absl::string_view message = script.status().message();
      CHECK(!message.empty() && IsValidUtf8(message));
      CHECK(std::count(message.begin(), message.end(), '\n') < 40);
      continue;
    }
    const absl::StatusOr<v1::EditScript> again = ParseEditReply(RenderEditScript(*script), options);
    CHECK(again.ok());
    CHECK(ToTextproto(*again) == ToTextproto(*script));
  }
  return 0;
}
