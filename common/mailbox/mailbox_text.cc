#include "common/mailbox/mailbox_text.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/utf8.h"

namespace ksearch {
namespace {

template <typename Message>
absl::StatusOr<Message> FromJson(absl::string_view json) {
  Message message;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), &message, options);
  if (status.ok()) return message;
  const std::string why(status.message().data(), status.message().size());
  return absl::InvalidArgumentError(absl::StrCat("not the JSON expected: ", why.substr(0, 300)));
}

std::string Field(absl::string_view name, absl::string_view value) {
  return value.empty() ? "" : absl::StrCat(name, " ", value);
}

}  // namespace

std::string PromptMarkdown(const v1::MailboxPrompt& prompt) {
  std::vector<std::string> about = {
      Field("run", prompt.run()), Field("call", prompt.call_id()), Field("for", prompt.purpose()),
      Field("node", prompt.node()),
      prompt.attempt() > 0 ? absl::StrCat("attempt ", prompt.attempt()) : ""};
  about.erase(std::remove(about.begin(), about.end(), ""), about.end());
  std::string text =
      absl::StrCat("<!-- ksearch asks: ", absl::StrJoin(about, ", "),
                   ".\n     Write the whole reply to ", prompt.reply_to(),
                   " in this mailbox, or: ksearch mailbox answer ", prompt.id(), " FILE -->\n\n");
  for (const v1::MailboxMessage& message : prompt.messages()) {
    absl::StrAppend(&text, message.content(), "\n\n");
  }
  return text;
}

absl::StatusOr<v1::MailboxPrompt> ParsePrompt(absl::string_view json) {
  return FromJson<v1::MailboxPrompt>(json);
}

absl::StatusOr<v1::MailboxAnswer> ParseAnswer(absl::string_view id, bool json,
                                              absl::string_view content) {
  absl::string_view text = content;
  absl::ConsumePrefix(&text, kByteOrderMark);
  if (const size_t valid = ValidUtf8Bytes(text); valid != text.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the answer is not UTF-8 at byte ", valid, "; save it as UTF-8 text"));
  }
  v1::MailboxAnswer answer;
  if (json) {
    absl::StatusOr<v1::MailboxAnswer> parsed = FromJson<v1::MailboxAnswer>(text);
    if (!parsed.ok()) return parsed.status();
    answer = *std::move(parsed);
    if (!answer.id().empty() && answer.id() != id) {
      return absl::InvalidArgumentError(absl::StrCat("\"id\" is ", answer.id().substr(0, 200),
                                                     ", but the file's name is of ", id));
    }
    const std::string& reason = answer.finish_reason();
    if (!reason.empty() && reason != "stop" && reason != "length" && reason != "refusal") {
      return absl::InvalidArgumentError("\"finish_reason\" must be stop, length or refusal");
    }
    if (answer.usage().input_tokens() < 0 || answer.usage().output_tokens() < 0) {
      return absl::InvalidArgumentError("\"usage\" has a negative number of tokens");
    }
  } else {
    answer.set_answer(std::string(text));
  }
  answer.set_id(std::string(id));
  if (absl::StripAsciiWhitespace(answer.answer()).empty()) {
    return absl::InvalidArgumentError(json ? "\"answer\" is missing or empty"
                                           : "the answer is empty");
  }
  return answer;
}

}  // namespace ksearch
