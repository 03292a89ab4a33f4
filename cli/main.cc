// ksearch: the command line of a coordinator.
#include <csignal>
#include <map>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "common/access/client_access.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // `ksearch log | head` ends quietly
  int exit_code = 0;
  const auto options = ksearch::ParseOptions(argc, argv, &exit_code);
  if (!options.has_value()) return exit_code;

  using Command = int (*)(ksearch::Client*, const ksearch::Options&);
  static const std::map<std::string, Command> kCommands = {
      {"run", ksearch::RunCommand},       {"watch", ksearch::WatchCommand},
      {"stop", ksearch::StopCommand},     {"resume", ksearch::ResumeCommand},
      {"status", ksearch::StatusCommand}, {"tree", ksearch::TreeCommand},
      {"best", ksearch::BestCommand},     {"show", ksearch::ShowCommand},
      {"log", ksearch::LogCommand},       {"workers", ksearch::WorkersCommand},
      {"tasks", ksearch::TasksCommand},   {"eval", ksearch::EvalCommand},
      {"doctor", ksearch::DoctorCommand}, {"token", ksearch::TokenCommand},
      {"pki", ksearch::PkiCommand},       {"mailbox", ksearch::MailboxCommand},
      {"export", ksearch::ExportCommand},
  };
  ksearch::ClientAccess access;
  if (options->command != "token" && options->command != "pki") {
    const auto read = ksearch::ReadClientAccess(options->access);
    if (!read.ok()) return ksearch::Fail(read.status());
    access = *read;
    const absl::Status safe = ksearch::CheckClientAccess(options->coordinator, access);
    if (!safe.ok()) return ksearch::Fail(safe);
  }
  ksearch::Client client(options->coordinator, access);
  return kCommands.at(options->command)(&client, *options);
}
