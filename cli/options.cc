#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/access_options.h"
#include "cli/client.h"
#include "cli/command_options.h"
#include "cli/completion.h"
#include "cli/examples.h"
#include "cli/memory_options.h"
#include "cli/option_kinds.h"
#include "cli/run_options.h"
#include "cli/value_words.h"

namespace ksearch {
namespace {

// Returns true if the command asks no coordinator.
bool NeedsNoCoordinator(const Options& options) {
  return options.command == "token" || options.command == "pki" ||
         options.command == "completion" || options.command == "config" ||
         (options.command == "task" && options.action == "new");
}

// Empty if --local and --state-dir make sense with the rest of the command line.
std::string CheckLocal(const Options& options, bool coordinator_given) {
  const bool up_or_down = options.command == "up" || options.command == "down";
  if (!options.local_dir.empty() && !options.local && !up_or_down) {
    return "--state-dir: is for --local, up and down; for a coordinator of your own, give it to "
           "ksearch-coordinator";
  }
  if ((options.local || up_or_down) && coordinator_given) {
    return "--coordinator: the local coordinator has an address of its own; leave out one of "
           "--coordinator and --local";
  }
  const bool makes_task = options.command == "task" && options.action == "new";
  if (options.local && NeedsNoCoordinator(options) && !makes_task) {
    return "--local: this command asks no coordinator";
  }
  if (options.local && makes_task && !options.task_output.empty()) {
    return "--output: with --local the task goes where the local coordinator looks for tasks of "
           "your "
           "own; leave out one of --output and --local";
  }
  return "";
}

// The words that may follow `app` on a command line.
CommandWords WordsOf(const CLI::App& app) {
  CommandWords words;
  words.name = app.get_name();
  words.text = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    CommandWords::Flag flag;
    for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
    flag.text = option->get_description();
    if (!flag.names.empty()) words.flags.push_back(std::move(flag));
  }
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    words.commands.push_back(WordsOf(*command));
  }
  return words;
}

// Names of the commands below `app`: "run, watch, ...".
std::string CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return absl::StrJoin(names, ", ");
}

// The innermost command that was given; `app` itself without one.
const CLI::App* GivenCommand(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

void RequireCommand(const CLI::App* app) {
  const CLI::App* given = GivenCommand(app);
  const std::string names = CommandNames(*given);
  // `run` alone starts one.
  if (names.empty() || given->get_name() == "run") return;
  throw CLI::RequiredError(absl::StrCat(given == app ? "" : given->get_name() + ": ",
                                        "a command is missing; give one of: ", names),
                           CLI::ExitCodes::RequiredError);
}

// The error for a word that is not a command; empty for any other mistake.
std::string UnknownCommand(const CLI::App& app) {
  const CLI::App* given = GivenCommand(&app);
  const std::string names = CommandNames(*given);
  if (names.empty()) return "";
  const std::vector<std::string> words = app.remaining(true);
  // `run` has options of its own: a word may be the value of one that is misspelled.
  if (given->get_name() == "run" &&
      std::any_of(words.begin(), words.end(),
                  [](const std::string& word) { return absl::StartsWith(word, "-"); })) {
    return "";
  }
  for (const std::string& word : words) {
    if (word.empty() || word[0] == '-') continue;
    return absl::StrCat("there is no command '", given == &app ? "" : given->get_name() + " ", word,
                        "'; commands: ", names);
  }
  return "";
}

}  // namespace

std::optional<Options> ParseOptions(int argc, char** argv, int* exit_code) {
  Options options;
  CLI::App app("Finds faster GPU kernels. Talks to a ksearch-coordinator.", "ksearch");
  app.set_version_flag("--version", std::string(KSEARCH_VERSION));
  app.require_subcommand(0, 1);  // a missing one is reported below, with a better message
  app.fallthrough();
  app.footer(ExamplesText(""));
  bool coordinator_given = false;  // as an argument
  app.add_option("--coordinator", options.coordinator, "address of the coordinator")
      ->envname("KSEARCH_COORDINATOR");
  app.add_flag(
      "--local", options.local,
      "use the coordinator and worker of this machine; start them if they are not running");
  app.add_option(
      "--state-dir", options.local_dir,
      "with --local, up and down: folder of the pair (default: ksearch in XDG_STATE_HOME "
      "or ~/.local/state; for root /var/lib/ksearch-local)");
  app.add_flag("--json", options.json, "print JSON");
  AddAccess(&app, &options.access);

  const auto add = [&](const std::string& name, const std::string& text) {
    CLI::App* sub = app.add_subcommand(name, text);
    sub->callback([&options, name] { options.command = name; });
    sub->footer(ExamplesText(name));
    return sub;
  };
  const auto add_for_run = [&](const std::string& name, const std::string& text, bool required) {
    CLI::App* sub = add(name, text);
    auto* run = sub->add_option("run", options.run_id, "run id, a unique prefix, or 'last'");
    if (required) run->required();
    return sub;
  };
  AddUp(add("up", "start your own coordinator and worker on this machine"), &options);
  AddDown(add("down", "stop the coordinator and worker that up started"), &options);
  CLI::App* run_noun = add("run", "start a search and watch it, or list and steer runs");
  AddRun(run_noun, &options);
  AddCompare(add("compare", "compare strategies: tasks x arms x seeds, with intervals"), &options);
  AddEval(add("eval", "build, check and time a program"), &options);
  // The arguments of commands on runs, for old and new spellings alike.
  const auto progress = [&options](CLI::App* sub) { AddProgress(sub, &options); };
  const auto revision = [&options](CLI::App* sub) {
    sub->add_option("--revision", options.revision, "an earlier state of the tree, from 1")
        ->check(CLI::Range(int64_t{1}, INT64_MAX));
  };
  const auto best_options = [&options](CLI::App* sub) {
    sub->add_flag("--source", options.source, "print its source");
    sub->add_option("-o,--out", options.out, "write its files into this folder");
    sub->add_option("--by", options.by,
                    "which mean speed-up to print first: over the official cases of the task's "
                    "suite, or over all, held-out ones too")
        ->check(CLI::IsMember({"official", "all"}));
  };
  const auto show_options = [&options](CLI::App* sub) {
    sub->add_option("candidate", options.candidate_id, "candidate id or a unique prefix")
        ->required();
    sub->add_flag("--source", options.source, "print its source only");
    sub->add_flag("--calls", options.calls,
                  "also print the planning calls, and every reply in full");
  };
  const auto diff_options = [&options](CLI::App* sub) {
    sub->add_option("first", options.candidate_id,
                    "candidate id, a unique prefix, or 'best'; alone: compared with its parent")
        ->required();
    sub->add_option("second", options.other_candidate_id,
                    "the other candidate, named the same way");
  };
  const auto log_options = [&options](CLI::App* sub) {
    sub->add_option("--limit", options.limit, "print at most this many lines, newest last")
        ->check(CLI::Range(1, 1000000));
    sub->add_flag("-f,--follow", options.follow,
                  "keep printing events as they happen, until the run ends");
  };
  const auto resume_options = [&options](CLI::App* sub) { AddResume(sub, &options); };

  add_for_run("status", "list runs, or show one", false);
  progress(add_for_run("watch", "follow a run until it ends", true));
  revision(add_for_run("tree", "show the world model of a run", true));
  best_options(add_for_run("best", "show the best confirmed candidate", true));
  show_options(add_for_run(
      "show", "show one candidate: source, results, and the model call it came from", true));
  diff_options(add_for_run("diff", "show the difference between two candidates of a run", true));
  add_for_run(
      "recheck",
      "measure a confirmed candidate again, on another device if there is one, or the kernel "
      "of a folder with a record; exit code 0 if the claim holds, 7 if not, 1 if undecided",
      true)
      ->add_option("candidate", options.candidate_id,
                   "candidate id or a unique prefix (default: the best)");
  log_options(add_for_run("log", "print the events of a run", true));
  AddFeed(add("feed", "print events of all runs and workers as they happen"), &options);
  add_for_run("stop", "stop a run; it can be resumed", true);
  auto* export_run = add_for_run(
      "export",
      "record a run for replay without a network, or export its best program, a trace or a "
      "report",
      true);
  auto* cassette = export_run->add_option("--cassette", options.cassette,
                                          "the file to write; - is standard output");
  auto* format =
      export_run
          ->add_option("--format", options.format,
                       "the best program in the format of this suite, or the run as a trace for "
                       "ui.perfetto.dev or as one HTML file")
          ->check(CLI::IsMember({"flashinfer-bench", "gpumode", "kernelbench", "trace", "html"}))
          ->excludes(cassette);
  auto* out = export_run->add_option("--out", options.out,
                                     "the data set to add it to, or the file or folder to write");
  format->needs(out);
  out->needs(format);
  export_run->callback([&options, cassette, format] {
    options.command = "export";
    if (cassette->count() + format->count() == 0) {
      throw CLI::RequiredError("export: --cassette FILE or --format NAME --out FOLDER",
                               CLI::ExitCodes::RequiredError);
    }
  });
  export_run->add_flag("--force", options.force, "overwrite an existing file");
  export_run->add_flag("--without-results", options.without_results,
                       "omit the results of evaluations");
  resume_options(
      add_for_run("resume", "continue a run that was stopped, failed, or reached a cap", true));
  AddSteer(add("steer", "pause a run, edit its tree, or give it a program"), &options);
  const auto list_workers = [&](CLI::App* command) {
    command->add_flag("--gone", options.gone_workers,
                      "also list workers that have been gone for a long time");
    command->add_flag("--wide", options.wide,
                      "also list clocks, temperature and power of each GPU, and what throttles it");
  };
  auto* workers = add("workers", "list workers and their devices");
  auto* drain =
      workers->add_option("--drain", options.drain_worker, "ask this worker to finish and leave");
  drain->check([](const std::string& worker) {
    return worker.empty() ? std::string("the worker's id is empty") : std::string();
  });
  AddDuration(
      workers, "--grace",
      "with --drain: jobs that it has not finished after this long, e.g. 30s, run elsewhere",
      [&options](const absl::Duration& grace) { options.drain_grace = grace; })
      ->needs(drain);
  list_workers(workers);
  workers->get_option("--gone")->excludes(drain);
  workers->get_option("--wide")->excludes(drain);
  add("demand", "show the demand for workers, free slots, and autoscalers' pools");
  AddTaskList(add("tasks", "list the tasks of all suites"), &options);
  add("jobs", "list evaluations that are queued or in progress, and who waits for them")
      ->add_option("--task", options.task, "only those of this task");
  auto* report = add("report", "show the results on a suite's problems, and KernelBench's fast_p");
  report->add_option("suite", options.suite, "name of the suite, e.g. kernelbench")->required();
  report->add_option("--task", options.report_tasks,
                     "only this task or level, without the suite's name, e.g. l1 or l2/76; may be "
                     "repeated");
  CLI::Option* const only_run =
      report->add_option("--run", options.run_id, "only programs of this run");
  report
      ->add_option("--run-folder", options.run_folder,
                   "judge the samples of this run folder of KernelBench, "
                   "level_L_problem_P_sample_S_kernel.py, and report on them")
      ->excludes(only_run);
  report->add_option("--device-model", options.device_model,
                     "only results of this device model (default: the one with the most results)");
  report->add_option("--baseline-file", options.baseline_file,
                     "also compute fast_p over the times in this baseline file of KernelBench");
  report->add_option("--out", options.out,
                     "also write the best programs, or with --run-folder all samples, as a run "
                     "folder of KernelBench, for one level");
  report->add_flag("--force", options.force, "overwrite an existing run folder");
  auto* results = add("results", "list results on record, and why some of them no longer count");
  results->add_flag("--stale", options.stale, "only results that no longer count");
  results->add_option("--task", options.task, "only those of this task");
  results
      ->add_option("--limit", options.result_limit, "at most this many, newest first (default 100)")
      ->check(CLI::Range(1, 1000));
  add("cancel", "cancel a job for everyone who waits for it")
      ->add_option("job", options.job_id, "id of the job, as `jobs` prints it, or a unique prefix")
      ->required();
  AddMailbox(add("mailbox", "list, show and answer prompts of the mailbox"), &options);
  AddMemoryCommand(
      add("memory", "list, show and remove the gains that runs measured (docs/memory.md)"),
      &options);
  AddBackup(add("backup", "copy the coordinator's database into a file, while it is in use"),
            &options);
  AddGc(add("gc", "move runs that ended from the coordinator's database into an archive"),
        &options);
  CLI::App* doctor = add("doctor", "check the installation and print what to fix");
  auto* provider = doctor->add_option("--provider", options.check_provider,
                                      "make one cheap call to this model provider");
  doctor->add_option("--model", options.check_model, "the model to call")->needs(provider);

  AddTask(add("task", "list, make and check tasks (docs/bring-your-kernel.md)"), &options);
  AddToken(add("token", "create, list and revoke access tokens (docs/security.md)"), &options);
  add("completion", "print a shell completion script")
      ->add_option("shell", options.shell, absl::StrJoin(CompletionShells(), ", "))
      ->required()
      ->check(CLI::IsMember(CompletionShells()));
  AddPki(add("pki", "make certificates for a cluster without its own authority"), &options);

  // The same commands as nouns and verbs.
  std::string meant;  // the old command that a noun and verb stand for
  const auto verb = [&](CLI::App* noun, const std::string& name, const std::string& command,
                        const std::string& text) {
    CLI::App* sub = noun->add_subcommand(name, text);
    sub->callback([&meant, command] { meant = command; });
    noun->require_subcommand(0, 1);
    noun->fallthrough();
    return sub;
  };
  const auto verb_of_run = [&](CLI::App* noun, const std::string& name, const std::string& command,
                               const std::string& text) {
    CLI::App* sub = verb(noun, name, command, text);
    sub->add_option("run", options.run_id, "run id, a unique prefix, or 'last'")->required();
    return sub;
  };
  verb(run_noun, "ls", "status", "list runs");
  verb_of_run(run_noun, "show", "status", "show the status of a run");
  progress(verb_of_run(run_noun, "watch", "watch", "follow a run until it ends"));
  log_options(verb_of_run(run_noun, "logs", "log", "print the events of a run"));
  revision(verb_of_run(run_noun, "tree", "tree", "show the world model of a run"));
  best_options(verb_of_run(run_noun, "best", "best", "show the best confirmed candidate"));
  verb_of_run(run_noun, "stop", "stop", "stop a run; it can be resumed");
  resume_options(verb_of_run(run_noun, "resume", "resume",
                             "continue a run that was stopped, failed, or reached a cap"));
  CLI::App* candidate = add("candidate", "list, show and compare the candidates of a run");
  verb_of_run(candidate, "ls", "candidate", "list the candidates of a run");
  show_options(verb_of_run(candidate, "show", "show",
                           "show one candidate: source, results, and the call it came from"));
  diff_options(
      verb_of_run(candidate, "diff", "diff", "show the difference between two candidates"));
  CLI::App* worker = add("worker", "list workers, and ask one to leave");
  list_workers(verb(worker, "ls", "workers", "list workers and their devices"));
  CLI::App* drain_verb = verb(worker, "drain", "workers", "ask a worker to finish and leave");
  drain_verb->add_option("worker", options.drain_worker, "its id, as `worker ls` prints it")
      ->required();
  AddDuration(drain_verb, "--grace",
              "jobs that it has not finished after this long, e.g. 30s, run elsewhere",
              [&options](const absl::Duration& grace) { options.drain_grace = grace; });
  CLI::App* job = add("job", "list evaluations in progress, and cancel one");
  verb(job, "ls", "jobs", "list evaluations that are queued or in progress")
      ->add_option("--task", options.task, "only those of this task");
  verb(job, "cancel", "cancel", "cancel a job for everyone who waits for it")
      ->add_option("job", options.job_id,
                   "id of the job, as `job ls` prints it, or a unique prefix")
      ->required();
  CLI::App* config = add("config", "check a configuration file; needs no coordinator");
  CLI::App* validate =
      verb(config, "validate", "config", "check whether a file is a valid configuration");
  validate->add_option("file", options.config_file, "textproto, .yaml or .json")->required();
  validate
      ->add_option(
          "--as", options.config_kind,
          "what it configures: coordinator, worker or run (default: inferred from its fields)")
      ->check(CLI::IsMember({"coordinator", "worker", "run"}));

  NameValues(&app);
  try {
    app.parse(argc, argv);
    RequireCommand(&app);
  } catch (const CLI::ExtrasError& error) {
    const std::string unknown = UnknownCommand(app);
    *exit_code = kExitUsage;
    if (unknown.empty()) {
      app.exit(error);
    } else {
      std::fprintf(stderr, "ksearch: %s\n", unknown.c_str());
    }
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    *exit_code = code == 0 ? kExitOk : kExitUsage;
    return std::nullopt;
  }
  if (!meant.empty()) options.command = meant;
  for (int i = 1; i < argc; ++i) {
    // With --local the environment may name another coordinator, but an argument may not.
    coordinator_given |= absl::StartsWith(argv[i], "--coordinator");
  }
  if (const std::string fault = CheckLocal(options, coordinator_given); !fault.empty()) {
    std::fprintf(stderr, "ksearch: %s\n", fault.c_str());
    *exit_code = kExitUsage;
    return std::nullopt;
  }
  if (options.command == "completion") {
    options.completion = CompletionScript(options.shell, WordsOf(app));
  }
  if (const absl::Status address = CheckAddress(options.coordinator); !address.ok()) {
    std::fprintf(stderr, "ksearch: --coordinator: %s\n", std::string(address.message()).c_str());
    *exit_code = kExitUsage;
    return std::nullopt;
  }
  return options;
}

}  // namespace ksearch
