#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "cli/budget_text.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/run_watcher.h"
#include "cli/seed_programs.h"
#include "cli/source_files.h"
#include "cli/text.h"
#include "common/config_file.h"
#include "common/digest.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

// Long enough to find workers that were started just before the run, short enough to notice soon
// that a cluster has none.
constexpr absl::Duration kWaitForWorkers = absl::Seconds(10);

int ExitCodeOf(const v1::RunStatus& status) {
  if (status.state() == v1::RUN_STATE_FAILED) {
    const ExitCode code =
        ExitCodeFor(absl::Status(static_cast<absl::StatusCode>(status.failure_code()), ""));
    return code == kExitConfig || code == kExitAuth ? code : kExitUnavailable;
  }
  if (status.state() == v1::RUN_STATE_OUT_OF_BUDGET) return kExitBudget;
  return status.has_best() ? kExitOk : kExitNoCandidate;
}

int PrintStatus(const absl::StatusOr<v1::RunStatus>& status, bool json) {
  if (!status.ok()) return Fail(status.status());
  if (json) return PrintJson(*status);
  std::printf("%s  %s\n", status->run_id().c_str(), StatusLine(*status).c_str());
  return kExitOk;
}

// Watches the run to its end, then prints a summary.
int Follow(Client* client, const std::string& run_id, const Options& options) {
  const auto status = WatchRun(client, run_id, options);
  if (!status.ok()) return Fail(status.status());
  if (options.json) {
    v1::WatchRunReply last;
    *last.mutable_status() = *status;
    PrintJsonLine(last);
    return ExitCodeOf(*status);
  }
  v1::ListEventsReply all;
  v1::ListEventsRequest request;
  request.set_run_id(status->run_id());  // "last" may mean another run by now
  while (true) {
    const auto page =
        client->Call<v1::ListEventsRequest, v1::ListEventsReply>(&Stub::ListEvents, request);
    if (!page.ok()) return Fail(page.status());
    if (page->events_size() == 0) break;
    request.set_after_seq(page->events(page->events_size() - 1).seq());
    all.MergeFrom(*page);
  }
  std::printf("\n%s", FinalTable(*status, all).c_str());
  if (status->state() == v1::RUN_STATE_FAILED) {
    std::fprintf(stderr, "ksearch: run %s failed: %s\n", status->run_id().c_str(),
                 status->reason().c_str());
  }
  if (status->state() == v1::RUN_STATE_OUT_OF_BUDGET) {
    std::fprintf(
        stderr,
        "ksearch: run %s is at a cap (%s); continue with: ksearch resume %s and a larger one\n",
        status->run_id().c_str(), status->reason().c_str(), status->run_id().c_str());
  }
  return ExitCodeOf(*status);
}

int PrintEstimate(Client* client, const v1::StartRunRequest& request, bool json) {
  const auto estimate =
      client->Call<v1::StartRunRequest, v1::RunEstimate>(&Stub::EstimateRun, request);
  if (!estimate.ok()) return Fail(estimate.status());
  if (json) return PrintJson(*estimate);
  std::printf("%s", EstimateText(*estimate).c_str());
  return kExitOk;
}

}  // namespace

int RunCommand(Client* client, const Options& options) {
  v1::StartRunRequest request;
  if (!options.cassette.empty()) {
    const auto recorded = RecordedConfig(options.cassette);
    if (!recorded.ok()) return Fail(recorded.status());
    *request.mutable_config() = *recorded;
    // Recorded before there were profiles.
    if (recorded->profile() == v1::PROFILE_POLICY_UNSPECIFIED) {
      request.mutable_config()->set_profile(v1::PROFILE_POLICY_NEVER);
    }
    // The platform is that of the recording; a new measurement has another.
    request.mutable_config()->clear_platform();
    // One provider now replays the replies of every model that the run asked.
    for (v1::ModelUse& use : *request.mutable_config()->mutable_models()) {
      if (!options.run.provider().empty()) use.set_provider(options.run.provider());
    }
  }
  if (!options.config_file.empty()) {
    const absl::Status status = ReadConfigFile(options.config_file, request.mutable_config());
    if (!status.ok()) return Fail(absl::InvalidArgumentError(status.message()));
  }
  request.mutable_config()->MergeFrom(options.run);
  std::vector<std::string> seed_files = options.seed_files;
  if (!options.continue_from_solution.empty()) {
    if (::access(options.continue_from_solution.c_str(), F_OK) == 0) {
      seed_files = {options.continue_from_solution};
    } else {
      request.mutable_config()->set_continue_from_solution(options.continue_from_solution);
    }
  }
  if (!seed_files.empty()) {
    const auto seeds =
        ReadSeedPrograms(seed_files, request.config().task(), [&](const std::string& run_id) {
          v1::GetBestRequest best;
          best.set_run_id(run_id);
          return client->Call<v1::GetBestRequest, v1::BestReply>(&Stub::GetBest, best);
        });
    if (!seeds.ok()) return Fail(seeds.status());
    // Programs given here replace those of a configuration file.
    SetSeedPrograms(*seeds, request.mutable_config());
  }
  request.set_seed_solution_name(options.seed_solution);
  if (options.dry_run) return PrintEstimate(client, request, options.json);
  request.set_request_id(RandomHex(16));
  request.set_without_workers(options.without_workers);
  const absl::Duration wait = options.wait_for_workers.value_or(kWaitForWorkers);
  *request.mutable_wait_for_workers() = ToProto(wait);
  if (options.wait_for_workers.has_value()) {
    std::fprintf(stderr, "waiting up to %s for a worker that can judge the candidates\n",
                 absl::FormatDuration(wait).c_str());
  }
  const auto started = client->Call<v1::StartRunRequest, v1::StartRunReply>(
      &Stub::StartRun, request, wait + absl::Seconds(30));
  if (!started.ok()) {
    const int code = Fail(WithLocalAdvice(started.status(), options));
    const bool no_task = request.config().task().empty();  // and the coordinator knew none either
    return no_task && absl::IsInvalidArgument(started.status()) ? kExitUsage : code;
  }
  if (options.detach) {
    if (options.json) return PrintJson(*started);
    std::printf("%s\n", started->run_id().c_str());
    return kExitOk;
  }
  if (!options.json) {
    std::printf("run %s (leaving this view does not stop it: ksearch stop %s)\n",
                started->run_id().c_str(), started->run_id().c_str());
  }
  return Follow(client, started->run_id(), options);
}

int WatchCommand(Client* client, const Options& options) {
  return Follow(client, options.run_id, options);
}

int StopCommand(Client* client, const Options& options) {
  v1::StopRunRequest request;
  request.set_run_id(options.run_id);
  const auto status = client->Call<v1::StopRunRequest, v1::RunStatus>(&Stub::StopRun, request);
  return PrintStatus(status, options.json);
}

int ResumeCommand(Client* client, const Options& options) {
  v1::ResumeRunRequest request;
  request.set_run_id(options.run_id);
  request.set_rounds(options.rounds);
  *request.mutable_budget() = options.budget;
  const auto status = client->Call<v1::ResumeRunRequest, v1::RunStatus>(&Stub::ResumeRun, request);
  return PrintStatus(status, options.json);
}

}  // namespace ksearch
