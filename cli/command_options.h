#ifndef KSEARCH_CLI_COMMAND_OPTIONS_H_
#define KSEARCH_CLI_COMMAND_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "cli/options.h"

namespace ksearch {

// The arguments and flags of single commands, one function each, including subcommands, whose name
// becomes `action`. `options` must outlive `app`.
void AddResume(CLI::App* app, Options* options);
void AddSteer(CLI::App* app, Options* options);
void AddEval(CLI::App* app, Options* options);
void AddCompare(CLI::App* app, Options* options);
void AddFeed(CLI::App* app, Options* options);
void AddMailbox(CLI::App* mailbox, Options* options);
void AddTask(CLI::App* app, Options* options);
void AddTaskList(CLI::App* app, Options* options);
void AddBackup(CLI::App* app, Options* options);
void AddGc(CLI::App* app, Options* options);
// `up` and `down`. All commands also have --local and --state-dir.
void AddUp(CLI::App* app, Options* options);
void AddDown(CLI::App* app, Options* options);

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMMAND_OPTIONS_H_
