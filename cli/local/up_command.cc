#include <google/protobuf/struct.pb.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/local/local_pair.h"
#include "common/sink_argument.h"
#include "common/status_macros.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "common/worker_advice.h"

namespace ksearch {
namespace {

constexpr absl::Duration kDrainTime = absl::Minutes(10);

bool AsRoot() { return ::geteuid() == 0; }

absl::StatusOr<std::string> FolderPath(const Options& options, const Environment& environment) {
  return LocalFolder::PathFrom(options.local_dir, environment, AsRoot());
}

absl::StatusOr<std::unique_ptr<LocalPair>> OpenPair(const Options& options) {
  Environment environment = CurrentEnvironment();
  ASSIGN_OR_RETURN(const std::string path, FolderPath(options, environment));
  ASSIGN_OR_RETURN(LocalFolder folder, LocalFolder::Open(path, AsRoot()));
  return std::make_unique<LocalPair>(std::move(folder), std::move(environment), BinaryFolder());
}

// The arguments that name this pair again.
std::string Again(const Options& options) {
  return options.local_dir.empty() ? "" : absl::StrCat(" --state-dir ", options.local_dir);
}

std::string ProcessText(const std::string& name, const std::optional<int>& pid, bool started) {
  if (!pid.has_value()) return absl::StrCat(name, " does not run");
  return absl::StrCat(name, started ? " started" : " runs", " (process ", *pid, ")");
}

void PrintFindings(const std::vector<LocalFinding>& findings) {
  for (const bool good : {true, false}) {
    for (const LocalFinding& finding : findings) {
      if (finding.good != good) continue;
      std::printf("%s  %s\n", good ? "ok" : "--", finding.what.c_str());
      if (!finding.fix.empty()) std::printf("      -> %s\n", finding.fix.c_str());
    }
  }
}

// The page of the coordinator that runs; empty if it serves none.
std::string PageUrl(const LocalFolder& folder) {
  constexpr int64_t kMaxBytes = 4096;
  const auto text = ReadFile(folder.page_url(), kMaxBytes);
  return text.ok() ? std::string(absl::StripAsciiWhitespace(*text)) : "";
}

// A provider that answers by itself, for an example of what to type.
std::string ExampleProvider(const LocalPair::State& state) {
  for (const std::string& name : state.providers) {
    if (name != "mailbox") return name;
  }
  return "";
}

void PrintNextSteps(const LocalPair::State& state, const Options& options) {
  const std::string local = absl::StrCat("--local", Again(options));
  const std::string provider = ExampleProvider(state);
  std::printf("\nWhat to do next:\n");
  std::printf("  ksearch task ls %s\n", local.c_str());
  std::printf("  ksearch eval %s --task TASK FILE\n", local.c_str());
  if (provider.empty()) {
    std::printf("  export OPENAI_API_KEY=... and run ksearch up again, for searches\n");
  } else {
    std::printf("  ksearch run %s --task TASK --model %s/NAME --budget-usd 5\n", local.c_str(),
                provider.c_str());
  }
  std::printf("  ksearch down%s\n", Again(options).c_str());
}

int PrintState(const LocalFolder& folder, const LocalPair::State& state, const Options& options) {
  const bool usable = state.answers && state.ready;
  const int code = usable ? kExitOk : kExitUnavailable;
  const std::string page = state.answers ? PageUrl(folder) : "";
  if (options.json) {
    google::protobuf::Struct json;
    auto& fields = *json.mutable_fields();
    fields["address"].set_string_value(folder.address());
    fields["state_dir"].set_string_value(folder.path());
    if (!page.empty()) fields["page"].set_string_value(page);
    if (state.coordinator.has_value()) {
      fields["coordinator_pid"].set_number_value(*state.coordinator);
    }
    if (state.worker.has_value()) fields["worker_pid"].set_number_value(*state.worker);
    fields["coordinator_started"].set_bool_value(state.coordinator_started);
    fields["worker_started"].set_bool_value(state.worker_started);
    fields["ready"].set_bool_value(usable);
    fields["active_runs"].set_number_value(state.active_runs);
    auto* const findings = fields["findings"].mutable_list_value();
    for (const LocalFinding& finding : state.findings) {
      auto& one = *findings->add_values()->mutable_struct_value()->mutable_fields();
      one["ok"].set_bool_value(finding.good);
      one["finding"].set_string_value(finding.what);
      one["fix"].set_string_value(finding.fix);
    }
    PrintJson(json);
    return code;
  }
  PrintFindings(state.findings);
  std::printf("\n%s, %s%s\n",
              ProcessText("coordinator", state.coordinator, state.coordinator_started).c_str(),
              ProcessText("worker", state.worker, state.worker_started).c_str(),
              usable ? "; ready" : "");
  if (state.active_runs > 0) {
    std::printf("active runs: %d (ksearch status --local%s)\n", state.active_runs,
                Again(options).c_str());
  }
  if (!page.empty()) std::printf("page     %s\n", page.c_str());
  std::printf("address  %s\nlogs     %s\n         %s\ntasks of your own go into %s\n",
              folder.address().c_str(), folder.coordinator_log().c_str(),
              folder.worker_log().c_str(), folder.tasks().c_str());
  return code;
}

int ShowStatus(const Options& options) {
  const auto path = FolderPath(options, CurrentEnvironment());
  if (!path.ok()) return Fail(path.status());
  if (!LocalFolder::Exists(*path)) {
    std::fprintf(stderr, "ksearch: nothing was ever started in %s; ksearch up starts it\n",
                 path->c_str());
    return kExitUnavailable;
  }
  const auto pair = OpenPair(options);
  if (!pair.ok()) return Fail(pair.status());
  const auto state = (*pair)->Inspect();
  if (!state.ok()) return Fail(state.status());
  return PrintState((*pair)->folder(), *state, options);
}

// Absent if none are given, so that the current sinks stay.
absl::StatusOr<std::optional<std::vector<v1::SinkConfig>>> GivenSinks(const Options& options) {
  std::optional<std::vector<v1::SinkConfig>> sinks;
  for (const std::string& text : options.sinks) {
    if (!sinks.has_value()) sinks.emplace();
    if (text == "none") continue;
    ASSIGN_OR_RETURN(v1::SinkConfig sink, ParseSinkArgument(text));
    sinks->push_back(std::move(sink));
  }
  return sinks;
}

// Commands whose answer comes from the worker.
bool NeedsWorker(const Options& options) {
  static const std::set<std::string> kCommands = {"eval", "recheck", "resume", "task"};
  if (options.command == "task" && options.action == "ls") return false;
  return kCommands.contains(options.command) || (options.command == "run" && !options.dry_run);
}

// The providers that a run asks for by name.
std::set<std::string> NamedProviders(const v1::RunConfig& run) {
  std::set<std::string> names;
  if (!run.provider().empty()) names.insert(run.provider());
  for (const v1::ModelUse& use : run.models()) {
    if (!use.provider().empty()) names.insert(use.provider());
  }
  return names;
}

// --model PROVIDER/NAME becomes provider and model.
absl::Status ResolveModel(const std::vector<ModelSource>& sources, Options* options) {
  v1::RunConfig* const run = &options->run;
  if (!run->model().empty() && run->provider().empty()) {
    ASSIGN_OR_RETURN(const ModelChoice choice, ParseModelChoice(run->model(), sources));
    run->set_provider(choice.provider);
    run->set_model(choice.model);
  }
  const bool said_elsewhere = !options->config_file.empty() || !options->cassette.empty();
  if (run->provider().empty() && run->models().empty() && !said_elsewhere) {
    std::vector<std::string> usable;
    for (const ModelSource& source : sources) {
      if (source.usable) usable.push_back(source.name + "/NAME");
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "which model should be used? Give --model PROVIDER/NAME: ", absl::StrJoin(usable, ", "),
        "; ksearch up says what other providers need"));
  }
  return absl::OkStatus();
}

}  // namespace

int UpCommand(Client* /*client*/, const Options& options) {
  if (options.show_status) return ShowStatus(options);
  const auto sinks = GivenSinks(options);
  if (!sinks.ok()) return Fail(sinks.status());
  const auto pair = OpenPair(options);
  if (!pair.ok()) return Fail(pair.status());
  LocalPair::UpOptions up;
  for (const ModelSource& source : FindModelSources(CurrentEnvironment())) {
    up.providers.insert(source.name);
  }
  up.sinks = *sinks;
  const auto state = (*pair)->Up(up);
  if (!state.ok()) return Fail(state.status());
  const int code = PrintState((*pair)->folder(), *state, options);
  if (!options.json) PrintNextSteps(*state, options);
  return code;
}

absl::Status WithLocalAdvice(const absl::Status& status, const Options& options) {
  if (options.local && absl::IsNotFound(status) && absl::StrContains(options.task, '/') &&
      absl::StrContains(status.message(), absl::StrCat("no task '", options.task, "'"))) {
    return absl::Status(status.code(),
                        absl::StrCat(status.message(),
                                     ". Tasks of a suite need a coordinator with --suite, which "
                                     "--local does not start (docs/suites/README.md)"));
  }
  if (!options.local || !absl::IsFailedPrecondition(status) ||
      !absl::StrContains(status.message(), kStartWorkerAdvice)) {
    return status;
  }
  // Whoever uses a pair of their own starts no other worker.
  return absl::Status(
      status.code(),
      absl::StrCat(absl::StrReplaceAll(status.message(), {{kStartWorkerAdvice, ""}}),
                   ". What this machine lacks: ksearch up --status", Again(options)));
}

int DownCommand(Client* /*client*/, const Options& options) {
  const auto path = FolderPath(options, CurrentEnvironment());
  if (!path.ok()) return Fail(path.status());
  LocalPair::DownReport report;
  if (LocalFolder::Exists(*path)) {
    const auto pair = OpenPair(options);
    if (!pair.ok()) return Fail(pair.status());
    const absl::Duration patience =
        options.now ? absl::ZeroDuration() : options.patience.value_or(kDrainTime);
    const auto done = (*pair)->Down(patience);
    if (!done.ok()) return Fail(done.status());
    report = *done;
  }
  const auto word = [](bool ran, bool finished) {
    return !ran ? "did not run" : finished ? "stopped" : "killed";
  };
  const std::string coordinator = word(report.coordinator_ran, report.coordinator_finished);
  const std::string worker = word(report.worker_ran, report.worker_finished);
  if (options.json) {
    return PrintJson({{"coordinator", coordinator},
                      {"worker", worker},
                      {"active_runs", absl::StrCat(report.active_runs)}});
  }
  std::printf("worker %s, coordinator %s\n", worker.c_str(), coordinator.c_str());
  if (!report.worker_finished) {
    std::printf("evaluations in progress are tried again after the next ksearch up%s\n",
                Again(options).c_str());
  }
  if (report.active_runs > 0) {
    std::printf("active runs, which continue after the next ksearch up%s: %d\n",
                Again(options).c_str(), report.active_runs);
  }
  return kExitOk;
}

absl::Status JoinLocalPair(Options* options) {
  const std::vector<ModelSource> sources = FindModelSources(CurrentEnvironment());
  const bool run = options->command == "run";
  if (run) RETURN_IF_ERROR(ResolveModel(sources, options));
  ASSIGN_OR_RETURN(const std::unique_ptr<LocalPair> pair, OpenPair(*options));
  LocalPair::UpOptions up;
  up.need_worker = NeedsWorker(*options);
  if (run) {
    // Finds out what is not available before anything is started.
    up.providers = NamedProviders(options->run);
    ASSIGN_OR_RETURN(const LocalPair::State before, pair->Inspect());
    for (const std::string& name : up.providers) {
      RETURN_IF_ERROR(CheckUsable(name, sources, before.providers));
    }
  }
  ASSIGN_OR_RETURN(const LocalPair::State state, pair->Up(up));
  if (!state.not_taken.empty()) {
    const auto& [name, why] = *state.not_taken.begin();
    return absl::FailedPreconditionError(absl::StrCat("model provider ", name, ": ", why));
  }
  if (state.coordinator_started || state.worker_started) {
    std::fprintf(stderr, "started %s of your own (ksearch down%s stops it)\n",
                 !state.worker_started        ? "a coordinator"
                 : !state.coordinator_started ? "a worker"
                                              : "a coordinator and a worker",
                 Again(*options).c_str());
  }
  if (run) {
    if (const std::string page = PageUrl(pair->folder()); !page.empty()) {
      std::fprintf(stderr, "page: %s\n", page.c_str());
    }
  }
  options->coordinator = pair->folder().address();
  return absl::OkStatus();
}

}  // namespace ksearch
