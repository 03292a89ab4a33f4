#ifndef KSEARCH_CLI_OPTIONS_H_
#define KSEARCH_CLI_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/access/client_access.h"
#include "proto/config.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Exit codes of every command: a stable contract, documented in docs/cli.md.
enum ExitCode {
  kExitOk = 0,
  kExitOther = 1,        // output cannot be written, the store cannot be read, or a defect
  kExitUsage = 2,        // faulty command line
  kExitConfig = 3,       // faulty file or configuration, or the coordinator refuses the request
  kExitAuth = 4,         // access denied, by the coordinator or by the model's provider
  kExitUnavailable = 5,  // no response, or not in time; the same command may work later
  kExitBudget = 6,       // the run has reached a cap
  kExitNoCandidate = 7,  // no correct or no confirmed candidate
};

// The parsed command line.
struct Options {
  std::string command;  // "run", "eval", "status", ...
  std::string coordinator = "127.0.0.1:7400";
  ClientAccessFiles access;
  bool json = false;
  // Use the coordinator and worker that `up` starts on this machine, and start them if necessary.
  bool local = false;
  std::string local_dir;  // state folder for --local; empty: the user's default

  // up and down
  std::vector<std::string> sinks;  // of up; "none" removes all
  bool show_status = false;
  bool now = false;
  std::optional<absl::Duration> patience;

  // token and pki
  std::string action;    // "create", "list", "revoke"; "init", "issue"
  std::string token_db;  // the coordinator's token file
  std::string role;
  std::string name;
  std::string token_id;
  std::string pool;
  std::string access_file;   // to be written
  std::string token_worker;  // to be revoked
  bool undo = false;
  int days = 0;                    // 0: the action's default
  std::string out;                 // folder, or file for a token; of best: a folder, empty: none
  std::string ca_dir;              // folder in which `pki init` put the authority
  std::vector<std::string> hosts;  // of a server's certificate
  std::string worker;              // name in a worker's certificate

  // run
  v1::RunConfig run;        // fields given on the command line
  std::string config_file;  // RunConfig; the command line takes precedence. Of config: any
  std::string config_kind;  // of config: "coordinator", "worker" or "run"; empty: detect
  std::vector<std::string> seed_files;
  std::string continue_from_solution;  // a file if one has this name, else a run
  std::optional<absl::Duration> wait_for_workers;
  bool without_workers = false;
  std::optional<absl::Duration> progress;  // of run and watch
  bool detach = false;
  bool dry_run = false;

  // eval
  std::string task;
  std::string language;  // empty: by the files' extensions
  std::vector<std::string> files;
  bool confirm = false;
  std::vector<std::string> rival_files;
  bool check_only = false;
  std::string compat;  // mode of the suite's evaluator; empty: none
  std::optional<absl::Duration> build_time;
  bool build_only = false;
  std::string architecture;
  std::string device_model;
  bool repeat = false;
  bool profile = false;

  // compare
  std::string experiment_file;
  std::string html_file;

  // completion
  std::string shell;
  std::string completion;  // the script for that shell

  // feed
  std::optional<int64_t> after_cursor;
  bool only_runs = false;
  bool only_fleet = false;

  // commands on one run
  std::string run_id;
  std::string candidate_id;
  std::string other_candidate_id;
  bool follow = false;
  bool source = false;
  std::string by;  // of best: "official", "all" or empty
  int64_t revision = 0;
  int rounds = 0;
  v1::Budget budget;  // of resume
  int limit = 1000;
  bool calls = false;  // show prompts and replies in full

  // steer; `action` is pause, unpause, score, add, prune or give, `files` the program to give
  std::string node_id;
  std::optional<double> score;
  std::string title;
  std::string description;
  std::string reason;

  // doctor
  std::string check_provider;
  std::string check_model;

  // run, export
  std::string cassette;
  bool without_results = false;
  std::string format;  // of export; `out` is the folder
  bool force = false;

  // mailbox; `action` is list, show or answer
  std::string mailbox_dir;  // empty: ask the coordinator
  std::string prompt_id;
  std::string answer_file;  // empty: an editor on a terminal, otherwise standard input
  std::string answered_by;
  std::string answer_model;

  // memory; `action` is ls, show or forget
  v1::MemoryFilter memory_filter;
  bool one_by_one = false;
  bool forget_all = false;

  // backup and gc; `out` is the file
  std::vector<std::string> gc_runs;
  std::optional<absl::Time> gc_before;
  std::optional<absl::Duration> gc_older_than;

  // cancel
  std::string job_id;

  // results
  bool stale = false;
  int result_limit = 100;

  // report
  std::vector<std::string> report_tasks;
  std::string run_folder;
  std::string baseline_file;  // upstream's file; empty: none

  // workers
  std::string drain_worker;
  std::optional<absl::Duration> drain_grace;
  bool gone_workers = false;
  bool wide = false;  // workers: also the readings of each GPU

  // tasks, task ls
  std::string suite;
  std::string tag;

  // task describe
  std::vector<std::string> tasks;

  // task; `action` is ls, solutions, describe, new or check, `task` the name, or the folder to
  // check
  std::string from_torch;  // FILE or FILE:FUNCTION
  std::vector<std::string> shapes;
  std::string dtype;
  std::string baseline;  // empty, "torch" or "torch.compile"
  std::string device;
  std::string task_output;  // folder in which to create the task's folder
  std::string interpreter;

  // eval and run: names of published solutions, instead of files
  std::string solution;
  std::string rival_solution;
  std::string seed_solution;
};

// Parses argv. Returns nullopt if help, the version or a usage error was printed; the program must
// then end with *exit_code. Every usage error names the argument.
std::optional<Options> ParseOptions(int argc, char** argv, int* exit_code);

}  // namespace ksearch

#endif  // KSEARCH_CLI_OPTIONS_H_
