// Answers of any bytes: what is taken is UTF-8 and not empty, and survives being written and read
// as JSON.

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/log.h"
#include "common/mailbox/mailbox_text.h"
#include "common/textproto.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool json : {false, true}) {
    const auto answer = ksearch::ParseAnswer("r.1", json, bytes);
    if (!answer.ok()) continue;
    CHECK(answer->id() == "r.1" && !answer->answer().empty());
    const auto again = ksearch::ParseAnswer("r.1", true, ksearch::ToJson(*answer));
    CHECK(again.ok());
    CHECK(again->answer() == answer->answer());
  }
  return 0;
}
