#ifndef KSEARCH_CLI_COMMAND_OPTIONS_H_
#define KSEARCH_CLI_COMMAND_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "cli/options.h"

namespace ksearch {

// What single commands take, each as one function: arguments, flags and, where a command has them,
// its own subcommands, whose name becomes `action`. `options` outlives `app`.
void AddRun(CLI::App* app, Options* options);
void AddResume(CLI::App* app, Options* options);
void AddSteer(CLI::App* app, Options* options);
void AddEval(CLI::App* app, Options* options);
void AddCompare(CLI::App* app, Options* options);
void AddFeed(CLI::App* app, Options* options);
void AddMailbox(CLI::App* mailbox, Options* options);
void AddTask(CLI::App* app, Options* options);
void AddTaskList(CLI::App* app, Options* options);
void AddToken(CLI::App* app, Options* options);
void AddPki(CLI::App* app, Options* options);
void AddBackup(CLI::App* app, Options* options);
void AddGc(CLI::App* app, Options* options);
// `up` and `down`: see also --local and --state-dir, which every command has.
void AddUp(CLI::App* app, Options* options);
void AddDown(CLI::App* app, Options* options);

// --progress, of commands that follow a run.
void AddProgress(CLI::App* app, Options* options);
// How one gets in. Secrets come from files or the environment, never from arguments, which every
// user of the machine can read.
void AddAccess(CLI::App* app, ClientAccessFiles* access);

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMMAND_OPTIONS_H_
