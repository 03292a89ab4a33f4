#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/budget_options.h"
#include "cli/client.h"
#include "cli/completion.h"
#include "cli/examples.h"
#include "cli/memory_options.h"
#include "common/language.h"
#include "common/names.h"
#include "common/run_priority.h"

namespace ksearch {
namespace {

// As the coordinator refuses more (coordinator/engine/run_settings.cc).
constexpr int kMostRounds = 1'000'000;
constexpr int kMostParallel = 256;
constexpr int kMostStagnation = 1000;

const std::map<std::string, v1::Preset> kPresets = {{"default", v1::PRESET_DEFAULT},
                                                    {"paper", v1::PRESET_PAPER}};
const std::map<std::string, v1::ProfilePolicy> kProfilePolicies = {
    {"auto", v1::PROFILE_POLICY_AUTO},
    {"all", v1::PROFILE_POLICY_ALL},
    {"never", v1::PROFILE_POLICY_NEVER}};

// What may be typed for a language.
CLI::IsMember LanguageWord() {
  std::vector<std::string> words;
  for (const LanguageFacts& language : Languages()) {
    words.emplace_back(language.name);
    for (const absl::string_view alias : language.aliases) words.emplace_back(alias);
  }
  return CLI::IsMember(words);
}

// A whole number from 1 on. Zero stands for "not given" in requests, and minus signs for nothing.
template <typename Number>
void BindCount(CLI::App* app, const std::string& flag, const std::string& text, Number most,
               std::function<void(Number)> set) {
  app->add_option_function<std::string>(
         flag,
         [flag, most, set](const std::string& given) {
           Number value = 0;
           if (!absl::SimpleAtoi(given, &value) || value < 1 || value > most) {
             throw CLI::ValidationError(
                 flag, absl::StrCat("'", given, "' must be a whole number from 1 to ", most));
           }
           set(value);
         },
         text)
      ->type_name("NUMBER");
}

template <typename T>
CLI::Option* Bind(CLI::App* app, const std::string& flag, const std::string& text,
                  std::function<void(T)> set) {
  return app->add_option_function<T>(
      flag, [set](const T& value) { set(value); }, text);
}

void AddProgress(CLI::App* app, Options* options) {
  AddDuration(
      app, "--progress",
      "while nothing happens, print a status line to stderr this often (default 30 s if the "
      "output is not a terminal)",
      [options](const absl::Duration& every) { options->progress = every; });
}

void AddRun(CLI::App* app, Options* options) {
  v1::RunConfig* run = &options->run;
  Bind<std::string>(app, "--task", "what to optimize (see: ksearch tasks)",
                    [run](const std::string& v) { run->set_task(v); });
  app->add_option_function<std::string>(
         "--language", [run](const std::string& v) { run->set_language(FindLanguage(v)->id); },
         LanguageNames())
      ->check(LanguageWord());
  Bind<std::string>(app, "--strategy",
                    "search strategy: world_model (default), or another of docs/strategies.md",
                    [run](const std::string& v) { run->set_strategy(v); });
  Bind<std::string>(app, "--provider", "name of a model provider of the coordinator",
                    [run](const std::string& v) { run->set_provider(v); });
  Bind<std::string>(app, "--model", "model name",
                    [run](const std::string& v) { run->set_model(v); });
  BindCount<int>(app, "--rounds", "evaluations: rounds of one code reply and its test (default 20)",
                 kMostRounds, [run](int v) { run->set_rounds(v); });
  BindCount<int>(app, "--parallel", "action cycles in flight (default 1)", kMostParallel,
                 [run](int v) { run->set_parallel(v); });
  app->add_option_function<int>(
         "--priority", [run](int v) { run->set_priority(v); },
         "share of workers and of model calls beside other runs, 1 to 100 (default 10)")
      ->check(CLI::Range(kLeastPriority, kMostPriority));
  BindCount<uint64_t>(app, "--seed", "seed of the search's random choices (default 1)", UINT64_MAX,
                      [run](uint64_t v) { run->set_seed(v); });
  app->add_option_function<std::string>(
         "--preset",
         [run](const std::string& v) { run->mutable_world_model()->set_preset(kPresets.at(v)); },
         "default, or paper: K-Search exactly as published")
      ->check(CLI::IsMember(kPresets));
  BindCount<int>(
      app, "--stagnation", "a cycle ends after this many attempts without progress (default 7)",
      kMostStagnation, [run](int v) { run->mutable_world_model()->set_stagnation_window(v); });
  Bind<std::string>(app, "--effort", "reasoning effort requested from the model",
                    [run](const std::string& v) { run->set_reasoning_effort(v); });
  Bind<std::string>(app, "--replay-order",
                    "apply replies and results in the order of this earlier run",
                    [run](const std::string& v) { run->set_replay_order_of(v); });
  app->add_option_function<std::string>(
         "--profile", [run](const std::string& v) { run->set_profile(kProfilePolicies.at(v)); },
         "which candidates are profiled: auto (default; the best quarter, on a GPU), all or never")
      ->check(CLI::IsMember(kProfilePolicies));
  Bind<std::string>(
      app, "--device-model",
      "measure on devices of this model only, as `ksearch workers` names it (default: "
      "the model of most connected devices)",
      [run](const std::string& v) { run->mutable_platform()->set_device_model(v); });
  app->add_flag_callback(
      "--any-device", [run] { run->set_any_device(true); },
      "let devices of other models screen candidates too; scores come from the run's own model");
  CLI::Option* const seed = app->add_option(
      "--seed-solution", options->seed_files,
      "start from this program (may be repeated): FILE, FOLDER, results/NAME or run:ID");
  CLI::Option* const published =
      app->add_option("--seed-published", options->seed_solution,
                      "start from this published solution, as `task solutions` names it")
          ->excludes(seed);
  // K-Search's names.
  CLI::Option* const solution =
      app->add_option("--continue-from-solution", options->continue_from_solution,
                      "start from this file, or from the best confirmed program of this run")
          ->excludes(seed)
          ->excludes(published);
  Bind<std::string>(app, "--continue-from-world-model",
                    "start from the best confirmed program of this run and from its tree",
                    [run](const std::string& v) { run->set_continue_from_world_model(v); })
      ->excludes(seed)
      ->excludes(published)
      ->excludes(solution);
  Bind<std::string>(app, "--target-gpu",
                    "name this hardware to the models, e.g. \"H100\" (default: what the workers "
                    "report)",
                    [run](const std::string& v) { run->set_target_hardware(v); });
  app->add_option("--config", options->config_file, "RunConfig as textproto, .yaml or .json");
  app->add_option(
      "--like-cassette", options->cassette,
      "use the settings of the run recorded in this file; other arguments take precedence");
  CLI::Option* const wait = AddDuration(
      app, "--wait-for-workers",
      "wait this long for a worker that can judge the candidates, e.g. 10m (default 10 s)",
      [options](const absl::Duration& time) { options->wait_for_workers = time; });
  app->add_flag("--without-workers", options->without_workers,
                "start without a worker; evaluations wait for one")
      ->excludes(wait);
  AddProgress(app, options);
  app->add_flag("--detach", options->detach, "print the run id and return");
  app->add_flag("--dry-run", options->dry_run, "estimate the cost of the run and start nothing");
  AddModelOptions(app, run);
  AddGuidanceOptions(app, run);
  AddBudgetOptions(app, run->mutable_budget());
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

void AddEval(CLI::App* app, Options* options) {
  app->add_option("--task", options->task, "the task")->required();
  app->add_option("--language", options->language,
                  absl::StrCat(LanguageNames(), " (default: inferred from the file extension)"))
      ->check(LanguageWord());
  CLI::Option* const files =
      app->add_option("files", options->files, "source files, or the file of a solution");
  CLI::Option* const solution =
      app->add_option("--solution", options->solution,
                      "judge this published solution, as `task solutions` names it")
          ->excludes(files);
  app->callback([options, files, solution] {
    options->command = "eval";
    if (files->count() + solution->count() == 0) {
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
  CLI::Option* const build =
      app->add_flag("--build-only", options->build_only,
                    "build and print the compiler's messages; needs no device")
          ->excludes(confirm)
          ->excludes(check);
  app->add_option("--architecture", options->architecture,
                  "only on a device of this architecture, or build for it; e.g. sm_90a");
  app->add_option("--device-model", options->device_model,
                  "only on a device of this model, as `ksearch workers` names it")
      ->excludes(build);
  app->add_flag("--repeat", options->repeat, "measure again even if a result is on record");
  app->add_flag("--profile", options->profile,
                "then profile it with ncu on its slowest workload and print what limits its speed");
  AddDuration(app, "--wait-for-workers",
              "wait this long for a worker that can do it, e.g. 10m (default 10 s)",
              [options](const absl::Duration& time) { options->wait_for_workers = time; });
}

// Secrets come from files or the environment, never from arguments, which every user of the machine
// can read.
void AddAccess(CLI::App* app, ClientAccessFiles* access) {
  app->add_option("--token-file", access->token_file,
                  "file with your access token (or its text in KSEARCH_TOKEN)")
      ->envname("KSEARCH_TOKEN_FILE");
  app->add_option("--ca-file", access->ca_file,
                  "CA certificate (PEM) that verifies the coordinator; enables TLS")
      ->envname("KSEARCH_CA_FILE");
  app->add_option("--server-name", access->server_name,
                  "name in the coordinator's certificate, if it is not the host of the address")
      ->envname("KSEARCH_SERVER_NAME");
  app->add_option("--cert-file", access->certificate_file,
                  "your own certificate (PEM), if the coordinator requires one");
  app->add_option("--key-file", access->key_file, "key of that certificate (PEM)");
}

// `up` and `down`: see also --local and --state-dir, which every command has.
void AddUp(CLI::App* app, Options* options) {
  app->add_option("--sink", options->sinks,
                  "also write what runs do for another program: wandb, tensorboard or jsonl, each "
                  "with :FOLDER if you like; may be repeated; none: no more")
      ->allow_extra_args(false);
  app->add_flag("--status", options->show_status,
                "only report what is running and what it can do; exit code 5 if it cannot be used");
}

void AddDown(CLI::App* app, Options* options) {
  CLI::Option* const now =
      app->add_flag("--now", options->now, "do not wait for evaluations in progress");
  AddDuration(app, "--wait", "wait at most this long for evaluations in progress (default 10m)",
              [options](const absl::Duration& time) { options->patience = time; })
      ->excludes(now);
}

// Commands that ask no coordinator.
bool AsksNobody(const Options& options) {
  return options.command == "token" || options.command == "pki" ||
         options.command == "completion" || options.command == "config" ||
         (options.command == "task" && options.action == "new");
}

// Empty if --local and --state-dir make sense with the rest of the command line.
std::string CheckLocal(const Options& options, bool coordinator_given) {
  const bool up_or_down = options.command == "up" || options.command == "down";
  if (!options.local_dir.empty() && !options.local && !up_or_down) {
    return "--state-dir: is for --local, up and down; a coordinator of your own has an argument of "
           "this name itself";
  }
  if ((options.local || up_or_down) && coordinator_given) {
    return "--coordinator: the local coordinator has an address of its own; leave out one of "
           "--coordinator and --local";
  }
  if (options.local && AsksNobody(options)) {
    return "--local: this command asks no coordinator";
  }
  return "";
}

void AddToken(CLI::App* app, Options* options) {
  app->require_subcommand(0, 1);
  app->add_option("--token-db", options->token_db, "the coordinator's token file")
      ->default_val("ksearch-state/tokens.textproto");
  CLI::App* create = app->add_subcommand("create", "create a token and print it once");
  create->callback([options] { options->action = "create"; });
  create->add_option("--role", options->role, "read, submit, admin, worker or join")
      ->required()
      ->check(CLI::IsMember({"read", "submit", "admin", "worker", "join"}));
  create->add_option("--pool", options->pool, "only for workers of this pool (worker, join)");
  create->add_option("--name", options->name, "the owner's name, for the list");
  create->add_option("--days", options->days, "days until it expires (default 365)")
      ->check(CLI::Range(1, 36500));
  CLI::Option* const out =
      create->add_option("--out", options->out, "write it to this new file instead of printing it");
  create
      ->add_option("--access-file", options->access_file,
                   "write it to this new file with all that a worker needs besides: --coordinator, "
                   "--ca-file, --server-name and --pool; `ksearch-worker --access FILE` reads it")
      ->excludes(out);
  for (const char* name : {"list", "ls"}) {
    app->add_subcommand(name, "tokens, without their secrets, and revoked workers")
        ->callback([options] { options->action = "list"; });
  }
  CLI::App* revoke = app->add_subcommand(
      "revoke", "revoke a token, or one worker's certificates, also in a running coordinator");
  revoke->callback([options] { options->action = "revoke"; });
  CLI::Option_group* const what = revoke->add_option_group("what");
  what->add_option("id", options->token_id, "id of the token, see list");
  CLI::Option* const of_worker = what->add_option(
      "--worker", options->token_worker, "id of a worker that joined, see `ksearch workers`");
  what->require_option(1);
  revoke->add_flag("--undo", options->undo, "let the worker join again")->needs(of_worker);
}

void AddPki(CLI::App* app, Options* options) {
  app->require_subcommand(0, 1);
  app->add_option("--ca-dir", options->ca_dir, "folder of the certificate authority")
      ->default_val("ksearch-pki");
  CLI::App* init = app->add_subcommand("init", "create a certificate authority: ca.pem and ca.key");
  init->callback([options] { options->action = "init"; });
  CLI::App* issue = app->add_subcommand("issue", "issue a certificate and its key");
  auto* server = issue->add_option(
      "--server", options->hosts,
      "for a coordinator: all host names and addresses by which clients reach it");
  auto* worker = issue->add_option("--worker", options->worker, "for the worker of this name")
                     ->excludes(server);
  issue->callback([options, server, worker] {
    options->action = "issue";
    if (server->count() + worker->count() == 0) {
      throw CLI::RequiredError("pki issue: --server HOST... or --worker NAME",
                               CLI::ExitCodes::RequiredError);
    }
  });
  issue->add_option("--out", options->out,
                    "folder for the two files (default: that of the authority)");
  for (CLI::App* sub : {init, issue}) {
    sub->add_option("--days", options->days, "days until it expires (init 3650, issue 365)")
        ->check(CLI::Range(1, 36500));
  }
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
  answer->add_option("--by", options->answered_by, "who answers; kept with the answer");
  answer->add_option("--model", options->answer_model,
                     "the model that wrote the answer; kept with it");
}

// Empty if `name` may name a task and its folder.
std::string CheckTaskName(const std::string& name) {
  if (IsTaskName(name)) return "";
  return absl::StrCat("the task's name '", name,
                      "' may hold only letters, digits, '_', '.' and '-', and begins with no '.'");
}

void AddTaskList(CLI::App* app, Options* options) {
  app->add_option("task", options->task, "show this task in full, with what is left out and why");
  app->add_option("--suite", options->suite, "only tasks of this suite");
  app->add_option("--tag", options->tag, "only tasks with this tag");
}

void AddTask(CLI::App* app, Options* options) {
  app->require_subcommand(0, 1);
  app->fallthrough();
  CLI::App* list = app->add_subcommand("ls", "list the tasks of all suites");
  list->callback([options] { options->action = "ls"; });
  AddTaskList(list, options);
  CLI::App* solutions =
      app->add_subcommand("solutions", "what others published for a task in its suite");
  solutions->callback([options] { options->action = "solutions"; });
  solutions->add_option("task", options->task, "as `task ls` names it")->required();
  CLI::App* make =
      app->add_subcommand("new", "make a task from a torch function; needs no coordinator");
  make->callback([options] { options->action = "new"; });
  make->add_option("name", options->task, "name of the task")->required()->check(CheckTaskName);
  make->add_option("--from-torch", options->from_torch,
                   "FILE.py or FILE.py:FUNCTION, the function as it is now")
      ->required();
  make->add_option("--shapes", options->shapes,
                   "values of the axes, as n=1024,4096 or n=1024,d=64; may be repeated")
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
  make->add_option("--output", options->task_output, "folder to make the task's folder in")
      ->default_val(".");
  make->add_option(
      "--interpreter", options->interpreter,
      "Python interpreter with torch (default: that of VIRTUAL_ENV, else python3 on PATH)");
  CLI::App* describe = app->add_subcommand(
      "describe", "have a worker run a suite's problem once, to learn its inputs and outputs");
  describe->callback([options] { options->action = "describe"; });
  describe->add_option("tasks", options->tasks, "as `task ls` names them")->required();
  CLI::App* check = app->add_subcommand(
      "check", "check on workers that the task passes honest programs and refuses cheats");
  check->callback([options] { options->action = "check"; });
  check->add_option("task", options->task, "its name, or its folder")->required();
}

// What may stand behind `app` on a command line.
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

void AddCompare(CLI::App* app, Options* options) {
  app->add_option("experiment", options->experiment_file, "textproto file of the experiment")
      ->required();
  app->add_flag("--dry-run", options->dry_run, "print what it may cost, and start nothing");
  app->add_option("--html", options->html_file, "also write the report here, as one HTML file");
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

// What to say if a word stands where a command must; empty if it was another mistake.
std::string UnknownCommand(const CLI::App& app) {
  const CLI::App* given = GivenCommand(&app);
  const std::string names = CommandNames(*given);
  if (names.empty()) return "";
  for (const std::string& word : app.remaining(true)) {
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
  app.require_subcommand(0, 1);  // that there is one is checked below, with a better message
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
  AddEval(add("eval", "build, check and time a program of yours"), &options);
  // What the commands of a run take; old spellings and new ones alike.
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
                  "then print events as they happen, until the run ends");
  };
  const auto resume_options = [&options](CLI::App* sub) {
    BindCount<int>(sub, "--rounds", "new total budget", kMostRounds,
                   [&options](int v) { options.rounds = v; });
    AddBudgetOptions(sub, &options.budget);
  };
  const auto nothing = [](CLI::App*) {};

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
                       "leave out the results of evaluations");
  resume_options(
      add_for_run("resume", "continue a run that was stopped, failed, or reached a cap", true));
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
  workers->add_flag("--gone", options.gone_workers, "also workers that are gone for good")
      ->excludes(drain);
  add("demand", "what waits for workers, what is there to serve it, and pools of autoscalers");
  AddTaskList(add("tasks", "list the tasks of all suites"), &options);
  add("jobs", "list evaluations that are queued or in progress, and who waits for them")
      ->add_option("--task", options.task, "only of this task");
  auto* report = add("report", "show how the problems of a suite stand, and KernelBench's fast_p");
  report->add_option("suite", options.suite, "name of the suite, e.g. kernelbench")->required();
  report->add_option("--task", options.report_tasks,
                     "only this task or level, without the suite's name, e.g. l1 or l2/76; may "
                     "repeat");
  report->add_option("--run", options.run_id, "only programs of this run");
  report->add_option("--device-model", options.device_model,
                     "only results of this model of device (default: the one with the most)");
  report->add_option("--baseline-file", options.baseline_file,
                     "also count over the times in a baseline file of KernelBench");
  report->add_option("--out", options.out,
                     "also write the best programs as a run folder of KernelBench, for one level");
  report->add_flag("--force", options.force, "overwrite an existing run folder");
  auto* results = add("results", "list results on record, and why some of them no longer count");
  results->add_flag("--stale", options.stale, "only results that no longer count");
  results->add_option("--task", options.task, "only of this task");
  results
      ->add_option("--limit", options.result_limit, "at most this many, newest first (default 100)")
      ->check(CLI::Range(1, 1000));
  add("cancel", "cancel a job, for everybody who waits for it")
      ->add_option("job", options.job_id, "id of the job, or a unique prefix, see jobs")
      ->required();
  AddMailbox(add("mailbox", "list, show and answer prompts of the mailbox"), &options);
  AddMemoryCommand(add("memory", "what runs measured of changes to programs (docs/memory.md)"),
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
  std::string meant;  // the command that such a pair stands for
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
  nothing(verb_of_run(run_noun, "show", "status", "show where a run stands"));
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
  CLI::App* worker = add("worker", "list workers, and have one leave");
  verb(worker, "ls", "workers", "list workers and their devices")
      ->add_flag("--gone", options.gone_workers, "also workers that are gone for good");
  CLI::App* drain_verb = verb(worker, "drain", "workers", "ask a worker to finish and leave");
  drain_verb->add_option("worker", options.drain_worker, "its id, see worker ls")->required();
  AddDuration(drain_verb, "--grace",
              "jobs that it has not finished after this long, e.g. 30s, run elsewhere",
              [&options](const absl::Duration& grace) { options.drain_grace = grace; });
  CLI::App* job = add("job", "list evaluations in progress, and cancel one");
  verb(job, "ls", "jobs", "list evaluations that are queued or in progress")
      ->add_option("--task", options.task, "only of this task");
  verb(job, "cancel", "cancel", "cancel a job, for everybody who waits for it")
      ->add_option("job", options.job_id, "id of the job, or a unique prefix, see job ls")
      ->required();
  CLI::App* config = add("config", "check a configuration file; needs no coordinator");
  CLI::App* validate =
      verb(config, "validate", "config", "say whether a file is a good configuration");
  validate->add_option("file", options.config_file, "textproto, .yaml or .json")->required();
  validate
      ->add_option("--as", options.config_kind,
                   "what it configures: coordinator, worker or run (default: what its fields fit)")
      ->check(CLI::IsMember({"coordinator", "worker", "run"}));

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
    // The environment may name another coordinator than the local one; an argument may not.
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
