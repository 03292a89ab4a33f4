#include "cli/command_options.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "cli/budget_options.h"
#include "cli/option_kinds.h"
#include "common/language.h"
#include "common/names.h"

namespace ksearch {
namespace {

constexpr int64_t kMostDays = 36'500;
constexpr char kBenchmarkMode[] = "benchmark";

// Empty if `name` may name a task and its folder.
std::string CheckTaskName(const std::string& name) {
  if (IsTaskName(name)) return "";
  return absl::StrCat("the task's name '", name,
                      "' may hold only letters, digits, '_', '.' and '-', and not begin with '.'");
}

}  // namespace

void AddBackup(CLI::App* app, Options* options) {
  app->add_option("file", options->out, "file for the copy; an existing one is replaced")
      ->required();
}

void AddGc(CLI::App* app, Options* options) {
  app->add_option("--run", options->gc_runs,
                  "archive this run, which must have ended; may be repeated")
      ->allow_extra_args(false);
  CLI::Option* const age =
      app->add_option_function<std::string>(
             "--older-than",
             [options](const std::string& given) {
               int64_t days = 0;
               if (!absl::SimpleAtoi(absl::StripSuffix(given, "d"), &days) || days < 1 ||
                   days > kMostDays) {
                 throw CLI::ValidationError(
                     "--older-than",
                     absl::StrCat("'", given, "' must be days, from 1d to ", kMostDays, "d"));
               }
               options->gc_older_than = days * absl::Hours(24);
             },
             "archive every run that ended at least this long ago, e.g. 90d")
          ->type_name("DAYS");
  app->add_option_function<std::string>(
         "--before",
         [options](const std::string& given) {
           absl::Time day;
           std::string why;
           if (!absl::ParseTime("%Y-%m-%d", given, &day, &why)) {
             throw CLI::ValidationError(
                 "--before",
                 absl::StrCat("'", given, "' is not a date; write one such as 2026-11-30"));
           }
           options->gc_before = day;
         },
         "archive every run that ended before this date (UTC), e.g. 2026-11-30")
      ->excludes(age);
  CLI::Option* const archive =
      app->add_option("--archive", options->out, "new file for the archived runs");
  CLI::Option* const dry = app->add_flag("--dry-run", options->dry_run,
                                         "print what would be archived, and change nothing");
  dry->excludes(archive);
  app->callback([options, archive, dry] {
    options->command = "gc";
    if (archive->count() + dry->count() == 0) {
      throw CLI::RequiredError("gc: --archive FILE or --dry-run", CLI::ExitCodes::RequiredError);
    }
    if (options->gc_runs.empty() && !options->gc_before.has_value() &&
        !options->gc_older_than.has_value()) {
      throw CLI::RequiredError("gc: --older-than DAYS, --before DATE or --run RUN",
                               CLI::ExitCodes::RequiredError);
    }
  });
}

void AddFeed(CLI::App* app, Options* options) {
  app->add_option("--after", options->after_cursor,
                  "begin with all events of runs after this cursor; 0: with the first one")
      ->check(CLI::Range(int64_t{0}, INT64_MAX));
  CLI::Option* const runs = app->add_flag("--runs", options->only_runs, "only events of runs");
  app->add_flag("--fleet", options->only_fleet,
                "only events of workers, devices, jobs and model calls")
      ->excludes(runs);
}

// A mode need not be given, so that what follows --compat may be the first file.
void ReadMode(Options* options) {
  constexpr const char* kModes[] = {"test", kBenchmarkMode, "leaderboard"};
  std::string& mode = options->compat;
  if (mode.empty() || std::find(std::begin(kModes), std::end(kModes), mode) != std::end(kModes)) {
    return;
  }
  if (::access(mode.c_str(), F_OK) != 0) {
    throw CLI::ValidationError(
        "--compat",
        absl::StrCat("'", mode, "' is neither a mode (test, benchmark, leaderboard) nor a file"));
  }
  options->files.insert(options->files.begin(), std::move(mode));
  mode = kBenchmarkMode;
}

void AddEval(CLI::App* app, Options* options) {
  app->add_option("--task", options->task, "the task")->required();
  app->add_option("--language", options->language,
                  absl::StrCat(LanguageNames(), " (default: inferred from the file extension)"))
      ->check(LanguageWord());
  CLI::Option* const files =
      app->add_option("files", options->files, "source files, or the file of a solution");
  app->add_option("--solution", options->solution,
                  "judge this published solution, as `task solutions` names it")
      ->excludes(files);
  app->callback([options] {
    options->command = "eval";
    ReadMode(options);
    if (options->files.empty() && options->solution.empty()) {
      throw CLI::RequiredError("eval: FILE... or --solution NAME", CLI::ExitCodes::RequiredError);
    }
  });
  CLI::Option* const confirm =
      app->add_flag("--confirm", options->confirm,
                    "compare with the baseline, interleaved, on held-out workloads too");
  CLI::Option* const rival =
      app->add_option("--rival", options->rival_files,
                      "with --confirm: a file of a program to compare with instead of the "
                      "baseline; may be repeated")
          ->allow_extra_args(false);
  app->add_option("--rival-solution", options->rival_solution,
                  "with --confirm: compare with this published solution instead")
      ->excludes(rival);
  CLI::Option* const check =
      app->add_flag("--check", options->check_only, "build and check, do not time")
          ->excludes(confirm);
  CLI::Option* const compat =
      app->add_option("--compat", options->compat,
                      "evaluate as the task's suite does in this mode (docs/suites); "
                      "benchmark: also time the program by the suite's clock")
          ->expected(0, 1)
          ->default_str(kBenchmarkMode)
          ->type_name("[test|benchmark|leaderboard]")
          ->excludes(confirm)
          ->excludes(check);
  AddDuration(app, "--build-time", "how long the program may compile, e.g. 5m (default 60 s)",
              [options](const absl::Duration& time) { options->build_time = time; });
  CLI::Option* const build =
      app->add_flag("--build-only", options->build_only,
                    "build and print the compiler's messages; needs no device")
          ->excludes(confirm)
          ->excludes(check)
          ->excludes(compat);
  app->add_option("--architecture", options->architecture,
                  "only on a device of this architecture, or build for it; e.g. sm_90a");
  app->add_option("--device-model", options->device_model,
                  "only on a device of this model, as `ksearch workers` names it")
      ->excludes(build);
  app->add_flag("--repeat", options->repeat, "measure again even if a result is on record");
  app->add_flag(
      "--profile", options->profile,
      "afterwards, profile it with ncu on its slowest workload and print what limits its speed");
  AddDuration(app, "--wait-for-workers",
              "wait this long for a worker that can do it, e.g. 10m (default 10 s)",
              [options](const absl::Duration& time) { options->wait_for_workers = time; });
}

void AddUp(CLI::App* app, Options* options) {
  app->add_option("--sink", options->sinks,
                  "also write the events of runs in this format: wandb, tensorboard or jsonl, "
                  "optionally with :FOLDER; may be repeated; none: remove all sinks")
      ->allow_extra_args(false);
  app->add_flag("--status", options->show_status,
                "only report what is running and what it can do; exit code 5 if it is not usable");
}

void AddDown(CLI::App* app, Options* options) {
  CLI::Option* const now =
      app->add_flag("--now", options->now, "do not wait for evaluations in progress");
  AddDuration(app, "--wait", "wait at most this long for evaluations in progress (default 10m)",
              [options](const absl::Duration& time) { options->patience = time; })
      ->excludes(now);
}

void AddResume(CLI::App* app, Options* options) {
  AddWholeNumber<int>(app, "--rounds", "new total number of rounds", kMostRounds,
                      [options](int v) { options->rounds = v; });
  AddBudgetOptions(app, &options->budget);
}

void AddSteer(CLI::App* app, Options* options) {
  app->require_subcommand(0, 1);
  app->fallthrough();
  const auto add = [&](const std::string& verb, const std::string& text) {
    CLI::App* sub = app->add_subcommand(verb, text);
    sub->callback([options, verb] { options->action = verb; });
    sub->add_option("run", options->run_id, "run id, a unique prefix, or 'last'")->required();
    return sub;
  };
  const auto under = [&](CLI::App* sub) {
    sub->add_option("--under", options->node_id, "parent of its node (default: the root)");
  };
  add("pause", "start no new model call or evaluation; those in progress end and count");
  add("unpause", "continue a paused run")->alias("go-on");
  CLI::App* score = add("score", "set the score of an idea; the highest is tried first");
  score->add_option("node", options->node_id, "id of its node, as `tree` prints it")->required();
  score->add_option("score", options->score, "from 0 to 1")
      ->required()
      ->check(CLI::Range(0.0, 1.0));
  CLI::App* idea = add("add", "add an idea");
  idea->add_option("title", options->title, "what to try, in one line")->required();
  idea->add_option("--description", options->description, "how, in words for the model");
  idea->add_option("--score", options->score, "from 0 to 1 (default 0.9)")
      ->check(CLI::Range(0.0, 1.0));
  under(idea);
  CLI::App* prune = add("prune", "remove an idea that no attempt is working on");
  prune->add_option("node", options->node_id, "id of its node, as `tree` prints it")->required();
  prune->add_option("--reason", options->reason, "why, in words for the model");
  CLI::App* give = add("give", "give the run a program to build on");
  give->add_option("files", options->files, "its source files")->required();
  give->add_option("--title", options->title, "what it is, in one line");
  under(give);
}

void AddMailbox(CLI::App* mailbox, Options* options) {
  mailbox->require_subcommand(0, 1);
  mailbox->fallthrough();
  const auto add = [&](const std::string& verb, const std::string& text) {
    CLI::App* sub = mailbox->add_subcommand(verb, text);
    sub->callback([options, verb] { options->action = verb; });
    sub->add_option("--dir", options->mailbox_dir,
                    "the mailbox, or a state folder that has one; works without a coordinator");
    return sub;
  };
  const auto add_for_prompt = [&](const std::string& verb, const std::string& text) {
    CLI::App* sub = add(verb, text);
    sub->add_option("id", options->prompt_id, "id of the prompt, or a unique prefix")->required();
    return sub;
  };
  add("list", "list prompts that wait for an answer")
      ->add_option("--run", options->run_id, "only prompts of this run");
  add_for_prompt("show", "print one prompt, to read or to paste");
  CLI::App* answer = add_for_prompt("answer", "answer a prompt");
  answer->add_option(
      "file", options->answer_file,
      "the whole reply as text, or NAME.json; - is standard input; default: your $EDITOR "
      "on a terminal, else standard input");
  answer->add_option("--by", options->answered_by, "who answers; stored with the answer");
  answer->add_option("--model", options->answer_model,
                     "the model that wrote the answer; stored with it");
}

void AddTaskList(CLI::App* app, Options* options) {
  app->add_option("task", options->task,
                  "show this task in full, with the cases that it omits and why");
  app->add_option("--suite", options->suite, "only tasks of this suite");
  app->add_option("--tag", options->tag, "only tasks with this tag");
}

void AddTask(CLI::App* app, Options* options) {
  app->require_subcommand(0, 1);
  app->fallthrough();
  CLI::App* list = app->add_subcommand("ls", "list the tasks of all suites");
  list->callback([options] { options->action = "ls"; });
  AddTaskList(list, options);
  CLI::App* show =
      app->add_subcommand("show", "show one task in full, with the cases that it omits and why");
  show->callback([options] { options->action = "ls"; });
  show->add_option("task", options->task, "as `task ls` names it")->required();
  CLI::App* solutions = app->add_subcommand(
      "solutions", "list the programs that others published for a task in its suite");
  solutions->callback([options] { options->action = "solutions"; });
  solutions->add_option("task", options->task, "as `task ls` names it")->required();
  CLI::App* make =
      app->add_subcommand("new", "make a task from a torch function; needs no coordinator");
  make->callback([options] { options->action = "new"; });
  make->add_option("name", options->task, "name of the task")->required()->check(CheckTaskName);
  make->add_option("--from-torch", options->from_torch,
                   "FILE.py or FILE.py:FUNCTION: the function to optimize")
      ->required();
  make->add_option("--shapes", options->shapes,
                   "values of the axes, e.g. n=1024,4096 or n=1024,d=64; may be repeated")
      ->required()
      ->allow_extra_args(false);
  make->add_option(
      "--dtype", options->dtype,
      "dtype of floating-point inputs that the file does not declare (default float32)");
  make->add_option("--baseline", options->baseline,
                   "torch or torch.compile: the function itself is the baseline, called this way "
                   "(default: a copy of it in baseline.py)")
      ->check(CLI::IsMember({"torch", "torch.compile"}));
  make->add_option("--device", options->device,
                   "where the task is timed: cpu (default) or cuda; here the function is called on "
                   "the CPU either way")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->default_val("cpu");
  make->add_option(
      "--output", options->task_output,
      "folder in which to create the task's folder (default: the current one; with --local: "
      "where the local coordinator looks for tasks of your own)");
  make->add_option(
      "--interpreter", options->interpreter,
      "Python interpreter with torch (default: that of VIRTUAL_ENV, else python3 on PATH)");
  CLI::App* describe = app->add_subcommand(
      "describe", "have a worker run a suite's problems once, to learn their inputs and outputs");
  describe->callback([options] { options->action = "describe"; });
  describe->add_option("tasks", options->tasks, "as `task ls` names them");
  describe->add_option("--suite", options->suite,
                       "all problems of this suite that are not tasks yet");
  CLI::App* check = app->add_subcommand(
      "check", "check on workers that the task passes honest programs and refuses cheats");
  check->callback([options] { options->action = "check"; });
  check->add_option("task", options->task, "its name, or its folder")->required();
}

void AddCompare(CLI::App* app, Options* options) {
  app->add_option("experiment", options->experiment_file, "textproto file of the experiment")
      ->required();
  app->add_flag("--dry-run", options->dry_run, "print the estimated cost, and start nothing");
  app->add_option("--html", options->html_file, "also write the report to this HTML file");
}

}  // namespace ksearch
