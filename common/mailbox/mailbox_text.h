#ifndef KSEARCH_COMMON_MAILBOX_MAILBOX_TEXT_H_
#define KSEARCH_COMMON_MAILBOX_MAILBOX_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/mailbox.pb.h"

namespace ksearch {

// The prompt for people: a comment that says how to answer, then the rules and the question as they
// are, so that the whole file may be pasted into a chat.
std::string PromptMarkdown(const v1::MailboxPrompt& prompt);

absl::StatusOr<v1::MailboxPrompt> ParsePrompt(absl::string_view json);

// The answer in a file of the inbox: plain text, or JSON (v1::MailboxAnswer). INVALID_ARGUMENT
// says what is wrong: empty, not UTF-8, not JSON, or for another prompt than `id`.
absl::StatusOr<v1::MailboxAnswer> ParseAnswer(absl::string_view id, bool json,
                                              absl::string_view content);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_MAILBOX_MAILBOX_TEXT_H_
