#include "cli/local/local_pair.h"

#include <google/protobuf/util/message_differencer.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/local/pair_config.h"
#include "cli/text.h"
#include "common/clock.h"
#include "common/language.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

constexpr absl::Duration kTurnWithin = absl::Minutes(5);
// Recovering a large database after a crash takes time.
constexpr absl::Duration kAnswerWithin = absl::Minutes(2);
// A worker tries its compilers and GPUs first.
constexpr absl::Duration kReadyWithin = absl::Minutes(3);
constexpr absl::Duration kSelfTestTime = absl::Minutes(5);
constexpr absl::Duration kCallTime = absl::Seconds(5);
constexpr absl::Duration kLookEvery = absl::Milliseconds(50);
constexpr absl::Duration kCoordinatorPatience = absl::Seconds(30);
// Without a coordinator a worker cannot report results; they are on its disk.
constexpr absl::Duration kLonelyWorkerPatience = absl::Seconds(5);
constexpr size_t kLogLines = 12;
constexpr char kPageAddress[] = "127.0.0.1:0";  // any free port: others may have pairs of their own

void Sleep() { std::this_thread::sleep_for(absl::ToChronoNanoseconds(kLookEvery)); }

Daemon::Files CoordinatorFiles(const LocalFolder& folder, const std::string& binary_folder) {
  return {binary_folder + "/ksearch-coordinator", folder.coordinator_state() + "/ksearch.db.lock",
          folder.coordinator_log(), folder.path()};
}

Daemon::Files WorkerFiles(const LocalFolder& folder, const std::string& binary_folder) {
  return {binary_folder + "/ksearch-worker", folder.worker_state() + "/lock", folder.worker_log(),
          folder.path()};
}

// The local worker, if it is connected to the coordinator.
std::optional<v1::WorkerStatus> FindWorker(Client* client) {
  const auto workers = client->ListWorkers(/*gone=*/false, kCallTime);
  if (!workers.ok()) return std::nullopt;
  for (const v1::WorkerStatus& worker : workers->workers()) {
    if (worker.name() == kLocalWorkerName && worker.connected()) return worker;
  }
  return std::nullopt;
}

bool IsReady(const v1::WorkerStatus& worker) {
  return worker.report().health().healthy() && !worker.report().draining();
}

int ActiveRuns(Client* client) {
  const auto runs = client->Call<v1::ListRunsRequest, v1::ListRunsReply>(
      &Stub::ListRuns, v1::ListRunsRequest(), kCallTime);
  if (!runs.ok()) return 0;
  return static_cast<int>(
      std::count_if(runs->runs().begin(), runs->runs().end(),
                    [](const v1::RunStatus& run) { return !HasEnded(run.state()); }));
}

bool HasJobs(Client* client) {
  const auto jobs = client->Call<v1::ListJobsRequest, v1::ListJobsReply>(
      &Stub::ListJobs, v1::ListJobsRequest(), kCallTime);
  return jobs.ok() && !jobs->jobs().empty();
}

LocalFinding OfDevice(const v1::DeviceCapability& device) {
  std::vector<std::string> languages;
  for (const int language : device.languages()) {
    languages.push_back(LanguageText(static_cast<v1::Language>(language)));
  }
  return {true,
          absl::StrCat(device.fingerprint().name(), " (", device.fingerprint().architecture(),
                       ") judges ", absl::StrJoin(languages, ", ")),
          ""};
}

// Adds each finding only once, whichever part of the machine reported it.
void AddNew(const std::vector<LocalFinding>& more, std::set<std::string>* said,
            std::vector<LocalFinding>* findings) {
  for (const LocalFinding& finding : more) {
    if (said->insert(finding.what).second) findings->push_back(finding);
  }
}

bool HasSinks(const v1::CoordinatorConfig& config, const std::vector<v1::SinkConfig>& sinks) {
  return std::equal(config.sinks().begin(), config.sinks().end(), sinks.begin(), sinks.end(),
                    google::protobuf::util::MessageDifferencer::Equals);
}

// Reports sinks whose folder cannot be written: the coordinator, which runs as the same user, says
// so only in its log.
void AddSinkFindings(const v1::CoordinatorConfig& config, const std::string& state_dir,
                     std::vector<LocalFinding>* findings) {
  for (const v1::SinkConfig& sink : config.sinks()) {
    const std::string& name = sink.name().empty() ? sink.kind() : sink.name();
    const std::filesystem::path path =
        std::filesystem::path(state_dir) /
        (sink.folder().empty() ? absl::StrCat("sinks/", name) : sink.folder());
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (!error && ::access(path.c_str(), W_OK | X_OK) != 0) {
      error = std::error_code(errno, std::generic_category());
    }
    if (!error) continue;
    findings->push_back(
        {false,
         absl::StrCat("sink ", name, ": ", path.string(), " cannot be written: ", error.message(),
                      "; runs continue, and the coordinator tries again"),
         absl::StrCat("ksearch up --sink ", sink.kind(), ":ANOTHER_FOLDER")});
  }
}

std::string FaultsText(const std::vector<LocalFinding>& findings) {
  return absl::StrJoin(findings, "\n", [](std::string* out, const LocalFinding& finding) {
    absl::StrAppend(out, "  ", finding.what, finding.fix.empty() ? "" : " -> ", finding.fix);
  });
}

}  // namespace

LocalPair::LocalPair(LocalFolder folder, Environment environment, std::string binary_folder)
    : folder_(std::move(folder)),
      environment_(std::move(environment)),
      binary_folder_(std::move(binary_folder)),
      sources_(FindModelSources(environment_)),
      client_(folder_.address()),
      coordinator_(CoordinatorFiles(folder_, binary_folder_)),
      worker_(WorkerFiles(folder_, binary_folder_)) {}

absl::StatusOr<LocalPair::State> LocalPair::Up(const UpOptions& options) {
  ASSIGN_OR_RETURN(const UniqueFd turn, folder_.Lock(kTurnWithin));
  State state;
  ASSIGN_OR_RETURN(state.coordinator, coordinator_.Running());
  if (state.coordinator.has_value()) {
    const absl::Status answers = AwaitAnswer();
    // The process may just be ending, for example after a kill.
    const bool ended = coordinator_.Ended().has_value();
    if (!answers.ok() && !ended) return answers;
    if (ended) {
      state.coordinator.reset();
    } else {
      RETURN_IF_ERROR(RetireOutdated(options, &state));
    }
  }
  if (!state.coordinator.has_value()) RETURN_IF_ERROR(StartCoordinator(options, &state));
  RETURN_IF_ERROR(AwaitAnswer());
  RETURN_IF_ERROR(folder_.ShareSocket());
  ASSIGN_OR_RETURN(state.coordinator, coordinator_.Running());

  absl::Status worker;
  ASSIGN_OR_RETURN(state.worker, worker_.Running());
  if (state.worker.has_value() && options.need_worker) {
    worker = AwaitReady();
    // The worker may just be ending, too.
    if (!worker.ok() && worker_.Ended().has_value()) state.worker.reset();
  }
  if (!state.worker.has_value()) worker = StartWorker(&state);
  if (worker.ok() && state.worker_started) worker = AwaitReady();
  if (!worker.ok()) {
    if (options.need_worker) return worker;
    state.findings.push_back({false, std::string(worker.message()), "ksearch up tries again"});
  }
  ASSIGN_OR_RETURN(state.worker, worker_.Running());
  Describe(&state);
  return state;
}

absl::StatusOr<LocalPair::State> LocalPair::Inspect() {
  ASSIGN_OR_RETURN(const UniqueFd turn, folder_.Lock(kTurnWithin));
  State state;
  ASSIGN_OR_RETURN(state.coordinator, coordinator_.Running());
  ASSIGN_OR_RETURN(state.worker, worker_.Running());
  if (state.coordinator.has_value()) Describe(&state);
  return state;
}

absl::StatusOr<LocalPair::DownReport> LocalPair::Down(absl::Duration patience) {
  ASSIGN_OR_RETURN(const UniqueFd turn, folder_.Lock(kTurnWithin));
  DownReport report;
  ASSIGN_OR_RETURN(const std::optional<pid_t> coordinator, coordinator_.Running());
  ASSIGN_OR_RETURN(const std::optional<pid_t> worker, worker_.Running());
  report.coordinator_ran = coordinator.has_value();
  report.worker_ran = worker.has_value();
  if (report.coordinator_ran) report.active_runs = ActiveRuns(&client_);
  if (report.worker_ran) {
    if (!report.coordinator_ran) patience = std::min(patience, kLonelyWorkerPatience);
    if (patience > absl::ZeroDuration() && HasJobs(&client_)) {
      std::fprintf(stderr,
                   "the worker finishes the evaluations it has (ksearch down --now does not "
                   "wait)\n");
    }
    ASSIGN_OR_RETURN(report.worker_finished, worker_.Stop(patience));
  }
  if (report.coordinator_ran) {
    ASSIGN_OR_RETURN(
        report.coordinator_finished,
        coordinator_.Stop(patience > absl::ZeroDuration() ? kCoordinatorPatience : patience));
  }
  return report;
}

v1::CoordinatorConfig LocalPair::LastConfig() const {
  v1::CoordinatorConfig config;
  if (!ReadTextproto(folder_.coordinator_config(), &config).ok()) config.Clear();
  return config;
}

absl::Status LocalPair::RetireOutdated(const UpOptions& options, State* state) {
  const v1::CoordinatorConfig running = LastConfig();
  const v1::CoordinatorConfig wanted = LocalCoordinatorConfig(folder_, sources_);
  std::vector<std::string> news;
  for (const std::string& name : NewProviders(running, wanted)) {
    if (options.providers.contains(name)) news.push_back(name);
  }
  const bool other_sinks = options.sinks.has_value() && !HasSinks(running, *options.sinks);
  if (news.empty() && !other_sinks) return absl::OkStatus();
  std::string why;
  if (const auto lost = LostProviders(running, wanted); !lost.empty()) {
    why = absl::StrCat("a restart would lose ", absl::StrJoin(lost, ", "),
                       ", whose key is not set here");
  } else if (ActiveRuns(&client_) > 0 || HasJobs(&client_)) {
    why = "it has work";
  }
  if (other_sinks && !why.empty()) {
    state->findings.push_back(
        {false, absl::StrCat("sinks: the coordinator is not restarted for them: ", why),
         "ksearch down, then ksearch up with --sink; active runs continue"});
  }
  if (why.empty()) {
    std::fprintf(stderr, "restarting the coordinator with %s\n",
                 news.empty() ? "these sinks"
                              : absl::StrCat("model provider ", absl::StrJoin(news, ", ")).c_str());
    RETURN_IF_ERROR(coordinator_.Stop(kCoordinatorPatience).status());
    state->coordinator.reset();
    return absl::OkStatus();
  }
  for (const std::string& name : news) {
    state->not_taken[name] = absl::StrCat(
        "the running coordinator does not have it, or has another address for it, and is not "
        "restarted for it: ",
        why, ". To restart it anyway: ksearch down, then ksearch up; active runs continue");
  }
  return absl::OkStatus();
}

absl::Status LocalPair::StartCoordinator(const UpOptions& options, State* state) {
  v1::CoordinatorConfig config = LocalCoordinatorConfig(folder_, sources_);
  *config.mutable_sinks() = LastConfig().sinks();
  if (options.sinks.has_value()) {
    config.mutable_sinks()->Assign(options.sinks->begin(), options.sinks->end());
  }
  RETURN_IF_ERROR(WriteFileAtomically(folder_.coordinator_config(), ConfigText(config), 0600));
  std::vector<std::string> keys;
  for (const ModelSource& source : sources_) {
    if (source.usable) {
      keys.insert(keys.end(), source.environment.begin(), source.environment.end());
    }
  }
  state->coordinator_started = true;
  return coordinator_.Start({"--config", folder_.coordinator_config(), "--dashboard", kPageAddress},
                            CoordinatorEnvironment(environment_, keys));
}

absl::Status LocalPair::AwaitAnswer() {
  const absl::Time give_up = Clock::Real().SteadyNow() + kAnswerWithin;
  while (true) {
    const auto facts = client_.Call<v1::GetServerFactsRequest, v1::ServerFacts>(
        &Stub::GetServerFacts, v1::GetServerFactsRequest(), kCallTime);
    if (facts.ok()) return absl::OkStatus();
    if (const auto ended = coordinator_.Ended(); ended.has_value()) {
      return WithLog(absl::FailedPreconditionError(*ended), coordinator_);
    }
    if (Clock::Real().SteadyNow() >= give_up) {
      return WithLog(
          absl::UnavailableError(absl::StrCat("the local coordinator runs, but does not answer at ",
                                              folder_.address(), "; ksearch down --now ends it")),
          coordinator_);
    }
    Sleep();
  }
}

absl::Status LocalPair::StartWorker(State* state) {
  if (folder_.as_root()) {
    const std::string closed = FolderClosedTo(kLocalWorkerAccount, binary_folder_);
    if (!closed.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "started by root the worker becomes uid ", kLocalWorkerAccount, ", which may not enter ",
          closed, " and so cannot start ", binary_folder_, "/ksearch-verifier: run `chmod o+x ",
          closed, "`, or use a copy of the programs elsewhere"));
    }
  }
  ASSIGN_OR_RETURN(const v1::WorkerConfig abilities, TryParts(state));
  const v1::WorkerConfig config = LocalWorkerConfig(folder_, abilities);
  RETURN_IF_ERROR(WriteFileAtomically(folder_.worker_config(), ConfigText(config), 0600));
  state->worker_started = true;
  return worker_.Start({"--config", folder_.worker_config()}, WorkerEnvironment(environment_));
}

absl::StatusOr<v1::WorkerConfig> LocalPair::TryParts(State* state) {
  std::fprintf(stderr, "looking at this machine: compilers, GPUs, sandbox ...\n");
  std::vector<MachinePart> usable;
  std::vector<LocalFinding> lacking;
  std::set<std::string> said;
  for (const MachinePart& part : PartsOf(ExamineMachine(environment_), binary_folder_)) {
    if (!part.missing.empty()) {
      lacking.push_back({false, part.missing, part.fix});
      continue;
    }
    ASSIGN_OR_RETURN(const SelfTestReport report, TryPart(part));
    if (report.machine_is_at_fault) {
      return absl::FailedPreconditionError(
          absl::StrCat("no worker can start on this machine:\n", FaultsText(report.lacking)));
    }
    if (report.usable) usable.push_back(part);
    if (report.usable) AddNew(report.found, &said, &state->findings);
    AddNew(report.lacking, &said, &lacking);
  }
  if (usable.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("this machine can judge no candidates:\n", FaultsText(lacking)));
  }
  state->findings.insert(state->findings.end(), lacking.begin(), lacking.end());
  return WorkerConfigFor(usable);
}

absl::StatusOr<SelfTestReport> LocalPair::TryPart(const MachinePart& part) {
  const v1::WorkerConfig config = LocalWorkerConfig(folder_, WorkerConfigFor({part}));
  const std::string path = folder_.path() + "/trial.textproto";
  RETURN_IF_ERROR(WriteFileAtomically(path, ConfigText(config), 0600));
  SubprocessOptions options;
  options.argv = {binary_folder_ + "/ksearch-worker", "--selftest", "--json", "--config", path};
  options.environment = WorkerEnvironment(environment_);
  options.working_directory = folder_.path();
  ASSIGN_OR_RETURN(const CommandOutput output, RunCommand(std::move(options), kSelfTestTime));
  if (output.timed_out) {
    return absl::UnavailableError(absl::StrCat("ksearch-worker --selftest --config ", path,
                                               " does not end within ",
                                               absl::FormatDuration(kSelfTestTime)));
  }
  const auto report = ParseSelfTest(output.out);
  if (report.ok()) return report;
  return absl::FailedPreconditionError(absl::StrCat(
      "ksearch-worker --selftest --config ", path, " ended with ",
      output.exit.signaled ? "signal " : "code ", output.exit.code, ":\n", output.err));
}

absl::Status LocalPair::AwaitReady() {
  const absl::Time give_up = Clock::Real().SteadyNow() + kReadyWithin;
  std::string last = "it does not reach the coordinator";
  while (true) {
    const auto worker = FindWorker(&client_);
    if (worker.has_value() && IsReady(*worker)) return absl::OkStatus();
    if (worker.has_value()) {
      last =
          worker->report().draining() ? "it is about to leave" : worker->report().health().reason();
    }
    if (const auto ended = worker_.Ended(); ended.has_value()) {
      return WithLog(absl::FailedPreconditionError(*ended), worker_);
    }
    if (Clock::Real().SteadyNow() >= give_up) {
      return WithLog(
          absl::UnavailableError(absl::StrCat("the local worker does not get ready: ", last)),
          worker_);
    }
    Sleep();
  }
}

void LocalPair::Describe(State* state) {
  const auto facts = client_.Call<v1::GetServerFactsRequest, v1::ServerFacts>(
      &Stub::GetServerFacts, v1::GetServerFactsRequest(), kCallTime);
  state->answers = facts.ok();
  if (!facts.ok()) {
    state->findings.push_back({false, std::string(facts.status().message()), ""});
    return;
  }
  state->active_runs = ActiveRuns(&client_);
  const auto worker = FindWorker(&client_);
  state->ready = worker.has_value() && IsReady(*worker);
  if (worker.has_value() && !state->worker_started) {
    for (const v1::DeviceCapability& device : worker->hello().devices()) {
      state->findings.push_back(OfDevice(device));
    }
    if (!state->ready) {
      state->findings.push_back(
          {false, absl::StrCat("the worker takes no jobs: ", worker->report().health().reason()),
           ""});
    }
    for (const MachinePart& part : PartsOf(ExamineMachine(environment_), binary_folder_)) {
      if (!part.missing.empty()) state->findings.push_back({false, part.missing, part.fix});
    }
  }
  for (const v1::ProviderFacts& provider : facts->provider_facts()) {
    state->providers.push_back(provider.name());
    if (!provider.unusable().empty()) {
      state->findings.push_back(
          {false, absl::StrCat("model provider ", provider.name(), ": ", provider.unusable()), ""});
    }
  }
  AddModelFindings(state);
  AddSinkFindings(LastConfig(), folder_.coordinator_state(), &state->findings);
}

void LocalPair::AddModelFindings(State* state) {
  for (const ModelSource& source : sources_) {
    const std::string name = absl::StrCat("model provider ", source.name, ": ");
    const bool known = std::find(state->providers.begin(), state->providers.end(), source.name) !=
                       state->providers.end();
    const auto not_taken = state->not_taken.find(source.name);
    if (not_taken != state->not_taken.end()) {
      state->findings.push_back({false, name + not_taken->second, ""});
    } else if (source.usable && known) {
      state->findings.push_back({true, name + source.found, ""});
    } else if (known) {
      state->findings.push_back({true, name + "the coordinator was started with it", ""});
    } else if (!source.usable) {
      state->findings.push_back({false, name + source.missing, ""});
    } else {
      state->findings.push_back(
          {false, absl::StrCat(name, source.found, ", but the coordinator was started without it"),
           "ksearch up takes it in"});
    }
  }
}

absl::Status LocalPair::WithLog(const absl::Status& status, const Daemon& daemon) const {
  const std::vector<std::string> lines = daemon.LastLines(kLogLines);
  std::string message(status.message());
  if (lines.empty()) {
    absl::StrAppend(&message, "; its log, ", daemon.log(), ", is empty");
  } else {
    absl::StrAppend(&message, "\nthe last lines of ", daemon.log(), ":");
    for (const std::string& line : lines) absl::StrAppend(&message, "\n  ", line);
  }
  return absl::Status(status.code(), message);
}

}  // namespace ksearch
