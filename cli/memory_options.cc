#include "cli/memory_options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace ksearch {
namespace {

const std::map<std::string, v1::MemoryMode> kMemoryModes = {
    {"off", v1::MEMORY_MODE_OFF},
    {"read", v1::MEMORY_MODE_READ},
    {"read-write", v1::MEMORY_MODE_READ_WRITE}};

void AddFilter(CLI::App* app, v1::MemoryFilter* filter) {
  const auto add = [app](const std::string& flag, const std::string& text,
                         std::function<void(const std::string&)> set) {
    app->add_option_function<std::string>(flag, std::move(set), text)
        ->check([flag](const std::string& value) {
          return value.empty() ? flag + ": is empty" : std::string();
        });
  };
  add("--run", "only gains that this run measured: id, a unique prefix, or 'last'",
      [filter](const std::string& v) { filter->set_run_id(v); });
  add("--task", "only gains on this task", [filter](const std::string& v) { filter->set_task(v); });
  add("--op-type", "only gains on tasks with this op_type",
      [filter](const std::string& v) { filter->set_op_type(v); });
  add("--architecture", "only gains on devices of this architecture, e.g. sm_90a",
      [filter](const std::string& v) { filter->set_architecture(v); });
  add("--benchmark", "only gains on tasks of this suite, e.g. kernelbench",
      [filter](const std::string& v) { filter->set_benchmark(v); });
}

}  // namespace

void AddGuidanceOptions(CLI::App* app, v1::RunConfig* run) {
  app->add_option_function<std::string>(
         "--memory",
         [run](const std::string& v) { run->mutable_memory()->set_mode(kMemoryModes.at(v)); },
         "whether planners see the gains that earlier runs measured (read), and whether this run "
         "also adds its own (read-write, the default); off: neither")
      ->check(CLI::IsMember(kMemoryModes));
  app->add_flag_callback(
      "--memory-within-benchmark", [run] { run->mutable_memory()->set_within_benchmark(true); },
      "also show gains measured on tasks of the same benchmark; scores on it are then not "
      "comparable");
  app->add_flag_callback(
      "--judge", [run] { run->set_judge(true); },
      "before each attempt at a working program, ask a judge for one bottleneck, one method and "
      "one plan");
  app->add_option_function<double>(
         "--floor-share", [run](const double& v) { run->set_floor_share(v); },
         "end a cycle, or a search without cycles, at this share of the highest possible speed, "
         "e.g. 0.95 (default: never)")
      ->check(CLI::Range(0.1, 1.0));
}

void AddMemoryCommand(CLI::App* memory, Options* options) {
  memory->require_subcommand(0, 1);
  memory->fallthrough();
  const auto add = [&](const std::string& verb, const std::string& text) {
    CLI::App* sub = memory->add_subcommand(verb, text);
    sub->callback([options, verb] { options->action = verb; });
    return sub;
  };
  CLI::App* ls = add("ls", "list the gains of changes, by operation, architecture and language");
  AddFilter(ls, &options->memory_filter);
  ls->add_flag("--one-by-one", options->one_by_one, "every measured gain, newest first");
  ls->add_option("--limit", options->limit, "with --one-by-one: at most this many (default 1000)")
      ->check(CLI::Range(1, 1000));
  add("show", "show the gains that a run read when it started")
      ->add_option("run", options->run_id, "run id, a unique prefix, or 'last'")
      ->required();
  CLI::App* forget =
      add("forget", "remove measured gains permanently; runs keep what they have read");
  AddFilter(forget, &options->memory_filter);
  CLI::Option* const all = forget->add_flag("--all", options->forget_all, "everything");
  forget->callback([options, all] {
    options->action = "forget";
    if (all->count() == 0 && options->memory_filter.ByteSizeLong() == 0) {
      throw CLI::RequiredError(
          "memory forget requires --run, --task, --op-type, --architecture, "
          "--benchmark or --all",
          CLI::ExitCodes::RequiredError);
    }
    if (all->count() > 0 && options->memory_filter.ByteSizeLong() > 0) {
      throw CLI::ValidationError("--all", "forgets everything; leave out the other arguments");
    }
  });
}

}  // namespace ksearch
