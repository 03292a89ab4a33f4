#include "coordinator/llm/offline_factory.h"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/mailbox/mailbox_folder.h"
#include "common/status_macros.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "coordinator/llm/command/command_client.h"
#include "coordinator/llm/mailbox/mailbox_client.h"
#include "coordinator/llm/replay/replay_client.h"

namespace ksearch {
namespace {

absl::Status SetDuration(bool present, const google::protobuf::Duration& value,
                         absl::string_view field, absl::Duration* out) {
  if (!present) return absl::OkStatus();
  *out = FromProto(value);
  if (*out > absl::ZeroDuration()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": must be longer than 0"));
}

absl::Status SetCount(int64_t value, absl::string_view field, int64_t* out) {
  if (value < 0) return absl::InvalidArgumentError(absl::StrCat(field, ": must not be negative"));
  if (value > 0) *out = value;
  return absl::OkStatus();
}

absl::StatusOr<OfflineProvider> MakeMailbox(const v1::Mailbox& settings,
                                            const std::string& state_dir, const Clock& clock) {
  MailboxOptions options;
  if (!settings.default_model().empty()) options.default_model = settings.default_model();
  RETURN_IF_ERROR(SetDuration(settings.has_poll_interval(), settings.poll_interval(),
                              "mailbox.poll_interval", &options.poll_interval));
  RETURN_IF_ERROR(SetDuration(settings.has_settle_time(), settings.settle_time(),
                              "mailbox.settle_time", &options.settle_time));
  RETURN_IF_ERROR(
      SetCount(settings.max_answer_bytes(), "mailbox.max_answer_bytes", &options.max_answer_bytes));
  OfflineProvider provider;
  provider.mailbox = settings.folder().empty() ? "mailbox" : settings.folder();
  if (!absl::StartsWith(provider.mailbox, "/")) {
    provider.mailbox = absl::StrCat(state_dir, "/", provider.mailbox);
  }
  auto folder = MailboxFolder::Create(provider.mailbox);
  if (!folder.ok()) return Annotate(folder.status(), "mailbox.folder");
  provider.default_model = options.default_model;
  provider.client = std::make_unique<MailboxClient>(*std::move(folder), std::move(options), clock);
  return provider;
}

absl::StatusOr<OfflineProvider> MakeCommand(const v1::ModelProvider& provider) {
  const v1::AgentCommand& settings = provider.command();
  CommandOptions options;
  options.argv.assign(settings.argv().begin(), settings.argv().end());
  if (options.argv.empty() || options.argv[0].empty()) {
    return absl::InvalidArgumentError("command.argv: must name a program, e.g. argv: \"claude\"");
  }
  if (const auto program = FindOnPath(options.argv[0]); program.ok()) {
    options.argv[0] = *program;
  } else {
    return Annotate(program.status(), "command.argv");
  }
  std::vector<std::string> names(settings.environment().begin(), settings.environment().end());
  const bool given = !names.empty();
  if (!given) names = {"PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR"};
  for (const std::string& name : names) {
    const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
    if (value != nullptr) {
      options.environment[name] = value;
    } else if (given) {
      return absl::NotFoundError(absl::StrCat("command.environment: variable ", name,
                                              " is not set where the coordinator is started"));
    }
  }
  options.working_directory = settings.working_directory();
  RETURN_IF_ERROR(
      SetDuration(settings.has_timeout(), settings.timeout(), "command.timeout", &options.timeout));
  RETURN_IF_ERROR(
      SetCount(settings.max_reply_bytes(), "command.max_reply_bytes", &options.max_reply_bytes));
  if (settings.max_concurrency() < 0 || settings.max_concurrency() > 256) {
    return absl::InvalidArgumentError("command.max_concurrency: must be 1 to 256 (0: 4)");
  }
  if (settings.max_concurrency() > 0) options.max_concurrency = settings.max_concurrency();
  if (provider.retry().max_attempts() > 0) options.max_attempts = provider.retry().max_attempts();
  RETURN_IF_ERROR(SetDuration(provider.retry().has_first_delay(), provider.retry().first_delay(),
                              "retry.first_delay", &options.retry_delay));
  if (!settings.default_model().empty()) options.default_model = settings.default_model();
  options.json_output = settings.json_output();
  OfflineProvider made;
  made.default_model = options.default_model;
  made.client = std::make_unique<CommandClient>(std::move(options));
  return made;
}

absl::StatusOr<OfflineProvider> MakeReplay(const v1::Replay& settings) {
  if (settings.cassette().empty()) {
    return absl::InvalidArgumentError(
        "replay.cassette: must name a file of ksearch export RUN --cassette FILE");
  }
  auto recording = ReadRecording(settings.cassette());
  if (!recording.ok()) return Annotate(recording.status(), "replay.cassette");
  OfflineProvider made;
  made.recording = std::make_shared<const Recording>(*std::move(recording));
  made.default_model = made.recording->header.config().model();
  made.client = std::make_unique<ReplayClient>(made.recording);
  return made;
}

absl::StatusOr<OfflineProvider> MakeKind(const v1::ModelProvider& provider,
                                         const std::string& state_dir, const Clock& clock) {
  switch (provider.kind_case()) {
    case v1::ModelProvider::kMailbox:
      return MakeMailbox(provider.mailbox(), state_dir, clock);
    case v1::ModelProvider::kCommand:
      return MakeCommand(provider);
    case v1::ModelProvider::kReplay:
      return MakeReplay(provider.replay());
    default:
      return absl::InvalidArgumentError("not a provider without a network");
  }
}

}  // namespace

bool IsOffline(const v1::ModelProvider& provider) {
  return provider.has_mailbox() || provider.has_command() || provider.has_replay();
}

absl::StatusOr<OfflineProvider> MakeOfflineProvider(const v1::ModelProvider& provider,
                                                    const std::string& state_dir,
                                                    const Clock& clock) {
  auto made = MakeKind(provider, state_dir, clock);
  if (!made.ok()) {
    return Annotate(made.status(), absl::StrCat("provider \"", provider.name(), "\""));
  }
  return made;
}

}  // namespace ksearch
