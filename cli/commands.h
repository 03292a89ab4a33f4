#ifndef KSEARCH_CLI_COMMANDS_H_
#define KSEARCH_CLI_COMMANDS_H_

#include "cli/client.h"
#include "cli/options.h"

namespace ksearch {

// One function per command, in the file named in its comment. They print on stdout (JSON with
// --json), errors on stderr, and return the exit code.

// run_commands.cc
int RunCommand(Client* client, const Options& options);
int WatchCommand(Client* client, const Options& options);
int StopCommand(Client* client, const Options& options);
int ResumeCommand(Client* client, const Options& options);

// steer_command.cc
int SteerCommand(Client* client, const Options& options);

// compare/compare_command.cc: kExitUnavailable if a run did not finish.
int CompareCommand(Client* client, const Options& options);

// query_commands.cc
int StatusCommand(Client* client, const Options& options);
int TreeCommand(Client* client, const Options& options);
int BestCommand(Client* client, const Options& options);
int ShowCommand(Client* client, const Options& options);
int LogCommand(Client* client, const Options& options);
int WorkersCommand(Client* client, const Options& options);

// demand_command.cc
int DemandCommand(Client* client, const Options& options);

// task/list_command.cc: `tasks` and `task ls`
int TasksCommand(Client* client, const Options& options);
int SolutionsCommand(Client* client, const Options& options);

// candidate_command.cc: `candidate ls`
int CandidateCommand(Client* client, const Options& options);

// config_command.cc: `config validate`. Contacts no coordinator. kExitConfig: the file is not
// valid.
int ConfigCommand(Client* client, const Options& options);

// diff_command.cc
int DiffCommand(Client* client, const Options& options);

// feed_command.cc: runs until it is interrupted.
int FeedCommand(Client* client, const Options& options);

// job_commands.cc
int ResultsCommand(Client* client, const Options& options);
int SuiteReportCommand(Client* client, const Options& options);
int JobsCommand(Client* client, const Options& options);
int CancelCommand(Client* client, const Options& options);

// eval_command.cc
int EvalCommand(Client* client, const Options& options);

// recheck_command.cc: kExitOk: the claim holds; kExitNoCandidate: it does not; kExitOther: the new
// interval is too wide to tell; lost jobs and faulty tasks as in EvalCommand.
int RecheckCommand(Client* client, const Options& options);

// token_command.cc: works on the coordinator's token file. Contacts no coordinator.
int TokenCommand(Client* client, const Options& options);

// pki_command.cc: creates files. Contacts no coordinator.
int PkiCommand(Client* client, const Options& options);

// task/task_command.cc: `task new` creates a folder and contacts no coordinator; `task check` ends
// with kExitNoCandidate if an honest program fails or a cheat passes.
int TaskCommand(Client* client, const Options& options);

// task/export_solution.cc: the best program of a run in the form of its suite.
int ExportSolutionCommand(Client* client, const Options& options);

// export_view_command.cc: a run as one file for viewing. IsViewFormat returns true if --format
// names such a format.
bool IsViewFormat(absl::string_view format);
int ExportViewCommand(Client* client, const Options& options);

// export_command.cc
int ExportCommand(Client* client, const Options& options);
// Reads the settings of the run that a cassette records. INVALID_ARGUMENT and NOT_FOUND name the
// file.
absl::StatusOr<v1::RunConfig> RecordedConfig(const std::string& path);

// memory_command.cc: the memory of measured gains.
int MemoryCommand(Client* client, const Options& options);

// retention_command.cc: copies of the database, and removal of old runs.
int BackupCommand(Client* client, const Options& options);
int GcCommand(Client* client, const Options& options);

// mailbox_command.cc
int MailboxCommand(Client* client, const Options& options);

// local/up_command.cc: starts, shows and stops the coordinator and worker of this machine.
int UpCommand(Client* client, const Options& options);
int DownCommand(Client* client, const Options& options);
// For --local: starts the local pair as far as the command needs it, and makes `options` name its
// coordinator. For `run`, the provider is taken from --model PROVIDER/NAME. Errors as of
// LocalPair::Up, and errors that name the variable that a provider needs.
absl::Status JoinLocalPair(Options* options);
// For --local: returns the same error, and adds how to find out what this machine lacks if no
// worker can judge a program, and what tasks of suites need.
absl::Status WithLocalAdvice(const absl::Status& status, const Options& options);

// doctor_command.cc
int DoctorCommand(Client* client, const Options& options);

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMMANDS_H_
