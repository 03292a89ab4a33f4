#include "cli/run_options.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/budget_options.h"
#include "cli/memory_options.h"
#include "cli/option_kinds.h"
#include "common/language.h"
#include "common/run_priority.h"

namespace ksearch {
namespace {

// The coordinator refuses more (coordinator/engine/run_settings.cc).
constexpr int kMostParallel = 256;
constexpr int kMostStagnation = 1000;

const std::map<std::string, v1::Preset> kPresets = {{"default", v1::PRESET_DEFAULT},
                                                    {"paper", v1::PRESET_PAPER}};
const std::map<std::string, v1::ProfilePolicy> kProfilePolicies = {
    {"auto", v1::PROFILE_POLICY_AUTO},
    {"all", v1::PROFILE_POLICY_ALL},
    {"never", v1::PROFILE_POLICY_NEVER}};

template <typename T>
CLI::Option* Bind(CLI::App* app, const std::string& flag, const std::string& text,
                  std::function<void(T)> set) {
  return app->add_option_function<T>(
      flag, [set](const T& value) { set(value); }, text);
}

}  // namespace

void AddProgress(CLI::App* app, Options* options) {
  AddDuration(
      app, "--progress",
      "while nothing happens, print a status line to stderr this often (default 30 s if the "
      "output is not a terminal)",
      [options](const absl::Duration& every) { options->progress = every; });
}

void AddRun(CLI::App* app, Options* options) {
  v1::RunConfig* run = &options->run;
  Bind<std::string>(app, "--task", "what to optimize (see: ksearch task ls)",
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
  Bind<std::string>(app, "--model", "the model; with --local PROVIDER/NAME, e.g. openai/gpt-5.4",
                    [run](const std::string& v) { run->set_model(v); });
  AddWholeNumber<int>(app, "--rounds",
                      "evaluations: rounds of one code reply and its test (default 20)",
                      kMostRounds, [run](int v) { run->set_rounds(v); });
  AddWholeNumber<int>(app, "--parallel", "action cycles in flight (default 1)", kMostParallel,
                      [run](int v) { run->set_parallel(v); });
  app->add_option_function<int>(
         "--priority", [run](int v) { run->set_priority(v); },
         "share of workers and model calls relative to other runs, 1 to 100 (default 10)")
      ->check(CLI::Range(kLeastPriority, kMostPriority));
  AddWholeNumber<uint64_t>(app, "--seed", "seed of the search's random choices (default 1)",
                           UINT64_MAX, [run](uint64_t v) { run->set_seed(v); });
  app->add_option_function<std::string>(
         "--preset",
         [run](const std::string& v) { run->mutable_world_model()->set_preset(kPresets.at(v)); },
         "default, or paper: K-Search exactly as published")
      ->check(CLI::IsMember(kPresets));
  AddWholeNumber<int>(
      app, "--stagnation",
      "a cycle ends after this many attempts without progress (default 3; preset paper: 7)",
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
  // The names that K-Search uses.
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
                    "hardware that prompts name, e.g. \"H100\" (default: what the workers report)",
                    [run](const std::string& v) { run->set_target_hardware(v); });
  app->add_option("--baseline-solution", options->seed_solution,
                  "the published solution to beat: the same as --seed-published")
      ->excludes(seed)
      ->excludes(published)
      ->excludes(solution);
  app->add_option_function<std::vector<std::string>>(
         "--feedback-workloads",
         [run](const std::vector<std::string>& uuids) {
           run->clear_feedback_workloads();
           for (const std::string& uuid : uuids) run->add_feedback_workloads(uuid);
         },
         "screen on these workloads, as `eval` names them, and hold out all others")
      ->delimiter(',');
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

}  // namespace ksearch
