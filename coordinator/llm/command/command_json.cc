#include "coordinator/llm/command/command_json.h"

#include "absl/strings/str_cat.h"
#include "coordinator/llm/provider/json_fields.h"

namespace ksearch {

absl::StatusOr<LlmReply> ParseCommandJson(absl::string_view output) {
  const Json body = ParseJson(output);
  if (!body.is_object()) {
    return absl::DataLossError(
        "the program printed no JSON object; leave out json_output if it prints text");
  }
  LlmReply reply;
  for (const char* name : {"result", "answer", "response", "text"}) {
    const Json& text = Member(body, name);
    if (text.is_string()) reply.text = text.get<std::string>();
    if (!reply.text.empty()) break;
  }
  const Json& is_error = Member(body, "is_error");
  if (is_error.is_boolean() && is_error.get<bool>()) {
    return absl::UnavailableError(
        absl::StrCat("the program reports an error: ", reply.text.substr(0, 600)));
  }
  if (reply.text.empty()) {
    return absl::DataLossError(
        "the program's JSON has no \"result\", \"answer\", \"response\" or \"text\"");
  }
  reply.model = Text(Member(body, "model"));
  const Json& usage = Member(body, "usage");
  if (usage.is_object()) {
    reply.usage_reported = true;
    if (usage.contains("prompt_tokens")) {
      reply.usage.uncached_input = Count(Member(usage, "prompt_tokens"));
      reply.usage.cache_read =
          TakePart(Count(Member(Member(usage, "prompt_tokens_details"), "cached_tokens")),
                   &reply.usage.uncached_input, &reply.usage);
      reply.usage.visible_output = Count(Member(usage, "completion_tokens"));
    } else {
      reply.usage.uncached_input = Count(Member(usage, "input_tokens"));
      reply.usage.cache_read = Count(Member(usage, "cache_read_input_tokens"));
      reply.usage.cache_write_5m = Count(Member(usage, "cache_creation_input_tokens"));
      reply.usage.visible_output = Count(Member(usage, "output_tokens"));
    }
  }
  return reply;
}

}  // namespace ksearch
