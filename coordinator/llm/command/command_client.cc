#include "coordinator/llm/command/command_client.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/utf8.h"
#include "coordinator/llm/command/command_json.h"
#include "coordinator/llm/command/program.h"
#include "coordinator/llm/failure/billed_tries.h"

namespace ksearch {
namespace {

bool Names(const std::vector<std::string>& argv, absl::string_view placeholder) {
  for (const std::string& argument : argv) {
    if (absl::StrContains(argument, placeholder)) return true;
  }
  return false;
}

bool LooksSecret(const std::string& variable) {
  const std::string name = absl::AsciiStrToUpper(variable);
  for (const char* word : {"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "AUTH"}) {
    if (absl::StrContains(name, word)) return true;
  }
  return false;
}

// The end of the program's standard error, in one line.
std::string Excerpt(const std::string& err) {
  std::string text(absl::StripAsciiWhitespace(err));
  if (text.size() > 600) text = absl::StrCat("...", text.substr(text.size() - 600));
  for (char& c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
    if (!absl::ascii_isascii(static_cast<unsigned char>(c))) c = '?';  // it may be cut anywhere
  }
  return text;
}

std::string ExitText(const Subprocess::Exit& exit) {
  if (exit.signaled) return absl::StrCat("was ended by signal ", exit.code);
  return absl::StrCat("ended with exit code ", exit.code);
}

}  // namespace

CommandClient::CommandClient(CommandOptions options)
    : options_(std::move(options)), stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  for (int i = 0; i < options_.max_concurrency; ++i) {
    threads_.emplace_back([this] { Loop(); });
  }
}

CommandClient::~CommandClient() {
  calls_.Close();
  ::eventfd_write(stop_.get(), 1);
  for (std::thread& thread : threads_) thread.join();
  calls_.CancelRest();
}

void CommandClient::Complete(LlmRequest request, Done done) {
  calls_.Add(std::move(request), std::move(done));
}

void CommandClient::Loop() {
  while (auto call = calls_.Take()) {
    absl::StatusOr<LlmReply> reply = Run(call->request);
    int lost = 0;  // tries that the program may have paid for
    for (int attempt = 2; attempt <= options_.max_attempts; ++attempt) {
      if (!absl::IsUnavailable(reply.status()) && !absl::IsDataLoss(reply.status())) break;
      ++lost;
      struct pollfd stop = {stop_.get(), POLLIN, 0};
      if (::poll(&stop, 1, static_cast<int>(absl::ToInt64Milliseconds(options_.retry_delay))) > 0) {
        reply = absl::CancelledError("the coordinator is shutting down");
        break;
      }
      reply = Run(call->request);
    }
    if (reply.ok()) {
      reply->billed_tries = lost;
    } else {
      absl::Status status = reply.status();
      SetBilledTries(&status, absl::IsFailedPrecondition(status) ? lost : lost + 1);
      reply = std::move(status);
    }
    call->done(std::move(reply));
  }
}

absl::StatusOr<LlmReply> CommandClient::Run(const LlmRequest& request) const {
  std::string pattern = "/tmp/ksearch-command-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) return ErrnoStatus(errno, "make a folder in /tmp");
  const std::string folder = pattern;
  const auto remove = absl::MakeCleanup([&folder] {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  });
  const bool system_apart = Names(options_.argv, "{system_file}");
  const bool in_file = Names(options_.argv, "{prompt_file}");
  const std::string prompt = system_apart || request.system.empty()
                                 ? request.user
                                 : absl::StrCat(request.system, "\n\n", request.user);
  const std::string system_file = folder + "/system.md", prompt_file = folder + "/prompt.md";
  if (system_apart) RETURN_IF_ERROR(WriteFileAtomically(system_file, request.system));
  if (in_file) RETURN_IF_ERROR(WriteFileAtomically(prompt_file, prompt));

  SubprocessOptions options;
  const std::string model = request.model.empty() ? options_.default_model : request.model;
  for (const std::string& argument : options_.argv) {
    options.argv.push_back(absl::StrReplaceAll(
        argument, {{"{prompt_file}", prompt_file},
                   {"{system_file}", system_file},
                   {"{model}", model},
                   {"{effort}", request.reasoning_effort},
                   {"{max_output_tokens}", absl::StrCat(request.max_output_tokens)},
                   {"{call_id}", request.call_id}}));
  }
  options.environment = options_.environment;
  options.working_directory = options_.working_directory;
  if (options.working_directory.empty()) {
    options.working_directory = folder + "/work";
    std::filesystem::create_directory(options.working_directory);
  }
  const std::string& program = options_.argv[0];
  const auto output = RunWithInput(options, in_file ? "" : prompt, options_.timeout,
                                   options_.max_reply_bytes, stop_.get());
  if (!output.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        output.status().message(), "; check command.argv and command.working_directory"));
  }
  const std::string said = Redacted(Excerpt(output->err));
  const std::string also = said.empty() ? "" : absl::StrCat("; it said: ", said);
  if (output->stopped) return absl::CancelledError("the coordinator is shutting down");
  if (output->timed_out) {
    return absl::DeadlineExceededError(absl::StrCat(program, " did not end within ",
                                                    absl::FormatDuration(options_.timeout),
                                                    " (command.timeout)", also));
  }
  if (output->too_much) {
    return absl::DataLossError(absl::StrCat(program, " printed more than ",
                                            options_.max_reply_bytes,
                                            " bytes (command.max_reply_bytes)"));
  }
  if (output->exit.signaled || output->exit.code != 0) {
    const std::string text = absl::StrCat(program, " ", ExitText(output->exit), also);
    // The exit codes of a shell or env for a program that cannot be run.
    if (!output->exit.signaled && (output->exit.code == 126 || output->exit.code == 127)) {
      return absl::FailedPreconditionError(text);
    }
    return absl::UnavailableError(text);
  }
  LlmReply reply;
  if (options_.json_output) {
    auto parsed = ParseCommandJson(output->out);
    if (!parsed.ok()) {
      return absl::Status(parsed.status().code(),
                          Redacted(absl::StrCat(parsed.status().message(), also)));
    }
    reply = *std::move(parsed);
  } else {
    reply.text = output->out;
  }
  reply.text = Redacted(std::move(reply.text));
  if (absl::StripAsciiWhitespace(reply.text).empty()) {
    return absl::DataLossError(absl::StrCat(program, " printed no reply", also));
  }
  if (const size_t valid = ValidUtf8Bytes(reply.text); valid != reply.text.size()) {
    return absl::DataLossError(
        absl::StrCat(program, " printed text that is not UTF-8, at byte ", valid));
  }
  reply.finish_reason = "stop";
  if (reply.model.empty()) reply.model = model;
  return reply;
}

std::string CommandClient::Redacted(std::string text) const {
  for (const auto& [name, value] : options_.environment) {
    if (value.size() >= 6 && LooksSecret(name)) {
      text = absl::StrReplaceAll(text, {{value, absl::StrCat("[", name, "]")}});
    }
  }
  return text;
}

}  // namespace ksearch
