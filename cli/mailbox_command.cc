#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/text.h"
#include "common/mailbox/mailbox_folder.h"
#include "common/mailbox/mailbox_text.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

constexpr absl::string_view kCutLine =
    "----- write the answer above this line; it and everything below are left out -----";

// The prompts that wait: from the coordinator, or from a folder, for which no coordinator needs to
// run.
class Prompts {
 public:
  Prompts(Client* client, const Options& options) : client_(client), options_(options) {}

  absl::StatusOr<std::vector<v1::MailboxEntry>> List() {
    std::vector<v1::MailboxEntry> prompts;
    if (options_.mailbox_dir.empty()) {
      v1::ListPromptsRequest request;
      request.set_run_id(options_.run_id);
      ASSIGN_OR_RETURN(const v1::ListPromptsReply reply,
                       (client_->Call<v1::ListPromptsRequest, v1::ListPromptsReply>(
                           &Stub::ListPrompts, request)));
      return std::vector<v1::MailboxEntry>(reply.prompts().begin(), reply.prompts().end());
    }
    ASSIGN_OR_RETURN(const MailboxFolder folder, MailboxFolder::Find(options_.mailbox_dir));
    ASSIGN_OR_RETURN(prompts, folder.List());
    if (!options_.run_id.empty()) {
      std::erase_if(prompts, [&](const v1::MailboxEntry& entry) {
        return !absl::StartsWith(entry.prompt().run(), options_.run_id);
      });
    }
    return prompts;
  }

  absl::StatusOr<v1::MailboxEntry> Read(const std::string& id) {
    if (options_.mailbox_dir.empty()) {
      v1::GetPromptRequest request;
      request.set_id(id);
      return client_->Call<v1::GetPromptRequest, v1::MailboxEntry>(&Stub::GetPrompt, request);
    }
    ASSIGN_OR_RETURN(const MailboxFolder folder, MailboxFolder::Find(options_.mailbox_dir));
    return folder.Read(id);
  }

  absl::StatusOr<std::string> Answer(const v1::MailboxAnswer& answer) {
    if (options_.mailbox_dir.empty()) {
      v1::AnswerPromptRequest request;
      *request.mutable_answer() = answer;
      ASSIGN_OR_RETURN(const v1::AnswerPromptReply reply,
                       (client_->Call<v1::AnswerPromptRequest, v1::AnswerPromptReply>(
                           &Stub::AnswerPrompt, request)));
      return reply.id();
    }
    ASSIGN_OR_RETURN(const MailboxFolder folder, MailboxFolder::Find(options_.mailbox_dir));
    return folder.Answer(answer);
  }

 private:
  Client* const client_;
  const Options& options_;
};

std::string Age(const google::protobuf::Timestamp& since) {
  const double minutes = absl::ToDoubleMinutes(absl::Now() - FromProto(since));
  if (minutes < 120) return absl::StrFormat("%.0f min", minutes);
  if (minutes < 48 * 60) return absl::StrFormat("%.0f h", minutes / 60);
  return absl::StrFormat("%.0f days", minutes / 60 / 24);
}

std::string StateOf(const v1::MailboxEntry& entry) {
  if (entry.answer_delivered()) return "answered, not taken yet";
  return entry.claimed_by().empty() ? "waits" : absl::StrCat("claimed by ", entry.claimed_by());
}

int List(Prompts* prompts, const Options& options) {
  const auto entries = prompts->List();
  if (!entries.ok()) return Fail(entries.status());
  if (options.json) {
    v1::ListPromptsReply reply;
    for (const v1::MailboxEntry& entry : *entries) *reply.add_prompts() = entry;
    return PrintJson(reply);
  }
  if (entries->empty()) {
    std::printf("no prompt waits for an answer\n");
    return kExitOk;
  }
  std::vector<std::vector<std::string>> rows = {{"id", "for", "node", "age", "state"}};
  for (const v1::MailboxEntry& entry : *entries) {
    const v1::MailboxPrompt& prompt = entry.prompt();
    rows.push_back(
        {prompt.id(), prompt.purpose(), prompt.node(), Age(prompt.created_at()), StateOf(entry)});
  }
  std::printf("%s", Table(rows).c_str());
  return kExitOk;
}

int Show(Prompts* prompts, const Options& options) {
  const auto entry = prompts->Read(options.prompt_id);
  if (!entry.ok()) return Fail(entry.status());
  if (options.json) return PrintJson(*entry);
  std::printf("%s\n", PromptMarkdown(entry->prompt()).c_str());
  return kExitOk;
}

// The text that the user writes in an editor, which shows the prompt below it.
absl::StatusOr<std::string> AnswerFromEditor(const v1::MailboxPrompt& prompt) {
  std::string path = "/tmp/ksearch-answer-XXXXXX.md";
  const int fd = ::mkstemps(path.data(), 3);
  if (fd < 0) return ErrnoStatus(errno, "make a temporary file");
  ::close(fd);
  absl::Status status =
      WriteFileAtomically(path, absl::StrCat("\n\n", kCutLine, "\n\n", PromptMarkdown(prompt)));
  absl::StatusOr<std::string> text = status;
  if (status.ok()) {
    const std::string command = absl::StrCat("${VISUAL:-${EDITOR:-vi}} ", path);
    if (std::system(command.c_str()) != 0) {  // NOLINT(concurrency-mt-unsafe)
      status = absl::AbortedError("the editor ended with an error; nothing was answered");
    }
    text = status.ok() ? ReadFile(path, 2 * kMaxAnswerBytes) : status;
  }
  ::unlink(path.c_str());
  if (!text.ok()) return text;
  const std::string answer =
      text->substr(0, std::min(text->find(std::string(kCutLine)), text->size()));
  return std::string(absl::StripAsciiWhitespace(answer));
}

absl::StatusOr<std::string> AnswerText(Prompts* prompts, const Options& options) {
  if (options.answer_file.empty() && ::isatty(STDIN_FILENO) != 0) {
    ASSIGN_OR_RETURN(const v1::MailboxEntry entry, prompts->Read(options.prompt_id));
    return AnswerFromEditor(entry.prompt());
  }
  const bool from_stdin = options.answer_file.empty() || options.answer_file == "-";
  const auto text = ReadFile(from_stdin ? "/dev/stdin" : options.answer_file, kMaxAnswerBytes);
  if (absl::IsResourceExhausted(text.status())) {
    return absl::InvalidArgumentError(text.status().message());
  }
  return text;
}

int Answer(Prompts* prompts, const Options& options) {
  const auto text = AnswerText(prompts, options);
  if (!text.ok()) return Fail(text.status());
  const bool json = absl::EndsWith(options.answer_file, ".json");
  const auto prompt = prompts->Read(options.prompt_id);
  if (!prompt.ok()) return Fail(prompt.status());
  auto answer = ParseAnswer(prompt->prompt().id(), json, *text);
  if (!answer.ok()) return Fail(answer.status());
  if (!options.answered_by.empty()) answer->set_answered_by(options.answered_by);
  if (!options.answer_model.empty()) answer->set_model(options.answer_model);
  const auto id = prompts->Answer(*answer);
  if (!id.ok()) return Fail(id.status());
  if (options.json) {
    v1::AnswerPromptReply reply;
    reply.set_id(*id);
    return PrintJson(reply);
  }
  std::printf("answered %s\n", id->c_str());
  return kExitOk;
}

}  // namespace

int MailboxCommand(Client* client, const Options& options) {
  Prompts prompts(client, options);
  if (options.action == "list") return List(&prompts, options);
  if (options.action == "show") return Show(&prompts, options);
  return Answer(&prompts, options);
}

}  // namespace ksearch
