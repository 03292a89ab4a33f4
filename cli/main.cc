// ksearch: the command-line client of a coordinator.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <map>
#include <string>
#include <system_error>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "common/access/client_access.h"

namespace {

int RunNamedCommand(ksearch::Options options) {
  using Command = int (*)(ksearch::Client*, const ksearch::Options&);
  static const std::map<std::string, Command> kCommands = {
      {"run", ksearch::RunCommand},
      {"watch", ksearch::WatchCommand},
      {"stop", ksearch::StopCommand},
      {"resume", ksearch::ResumeCommand},
      {"status", ksearch::StatusCommand},
      {"tree", ksearch::TreeCommand},
      {"best", ksearch::BestCommand},
      {"show", ksearch::ShowCommand},
      {"log", ksearch::LogCommand},
      {"workers", ksearch::WorkersCommand},
      {"demand", ksearch::DemandCommand},
      {"tasks", ksearch::TasksCommand},
      {"eval", ksearch::EvalCommand},
      {"doctor", ksearch::DoctorCommand},
      {"token", ksearch::TokenCommand},
      {"pki", ksearch::PkiCommand},
      {"mailbox", ksearch::MailboxCommand},
      {"memory", ksearch::MemoryCommand},
      {"export", ksearch::ExportCommand},
      {"recheck", ksearch::RecheckCommand},
      {"jobs", ksearch::JobsCommand},
      {"cancel", ksearch::CancelCommand},
      {"results", ksearch::ResultsCommand},
      {"task", ksearch::TaskCommand},
      {"up", ksearch::UpCommand},
      {"down", ksearch::DownCommand},
      {"candidate", ksearch::CandidateCommand},
      {"config", ksearch::ConfigCommand},
      {"feed", ksearch::FeedCommand},
      {"diff", ksearch::DiffCommand},
      {"compare", ksearch::CompareCommand},
      {"report", ksearch::SuiteReportCommand},
      {"steer", ksearch::SteerCommand},
      {"backup", ksearch::BackupCommand},
      {"gc", ksearch::GcCommand},
  };
  ksearch::ClientAccess access;
  const bool up_or_down = options.command == "up" || options.command == "down";
  const bool alone = options.command == "token" || options.command == "pki" ||
                     options.command == "completion" || options.command == "config" ||
                     (options.command == "task" && options.action == "new");
  if (up_or_down || alone) {
    // These commands need no coordinator, or find it themselves.
  } else if (options.local) {
    // Neither token nor TLS: only this user can reach the socket.
    const absl::Status joined = ksearch::JoinLocalPair(&options);
    if (!joined.ok()) return ksearch::Fail(joined);
  } else {
    const auto read = ksearch::ReadClientAccess(options.access);
    if (!read.ok()) return ksearch::Fail(read.status());
    access = *read;
    const absl::Status safe = ksearch::CheckClientAccess(options.coordinator, access);
    if (!safe.ok()) return ksearch::Fail(safe);
  }
  if (options.command == "completion") {
    std::fputs(options.completion.c_str(), stdout);
    return ksearch::kExitOk;
  }
  ksearch::Client client(options.coordinator, access);
  return kCommands.at(options.command)(&client, options);
}

// A command whose output could not be written has failed, whatever else went well.
int WithOutputWritten(int exit_code) {
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return exit_code;
  // An earlier write may have failed, and its error is no longer available.
  const std::string why = errno == 0 ? "" : ": " + std::generic_category().message(errno);
  std::fprintf(stderr, "ksearch: standard output could not be written%s\n", why.c_str());
  return ksearch::kExitOther;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // `ksearch log | head` ends quietly
  int exit_code = 0;
  const auto options = ksearch::ParseOptions(argc, argv, &exit_code);
  if (options.has_value()) exit_code = RunNamedCommand(*options);
  return WithOutputWritten(exit_code);
}
