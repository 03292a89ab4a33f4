#include "cli/call_text.h"

#include "absl/strings/str_cat.h"
#include "cli/text.h"

namespace ksearch {

std::string CallLine(const v1::LlmCallSummary& call) {
  return absl::StrCat(call.call_id(), " (", call.purpose(), ", ", call.model(), ", ",
                      call.input_tokens(), " + ", call.output_tokens(), " tokens)\n");
}

std::string CallText(const v1::LlmCallSummary& call, bool with_reply) {
  std::string text =
      absl::StrCat("\n---- prompt of call ", CallLine(call), EndedLine(call.prompt()));
  if (with_reply) absl::StrAppend(&text, "---- reply\n", EndedLine(call.reply()));
  return text;
}

}  // namespace ksearch
