#include <algorithm>
#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "cli/budget_text.h"
#include "cli/call_text.h"
#include "cli/commands.h"
#include "cli/event_color.h"
#include "cli/gpu_text.h"
#include "cli/json_output.h"
#include "cli/pool_text.h"
#include "cli/run_watcher.h"
#include "cli/source_files.h"
#include "cli/text.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;

void Print(const std::string& text) { std::fputs(text.c_str(), stdout); }

// "draining (it got SIGUSR1)"
std::string LeavingText(const v1::WorkerReport& report) {
  return absl::StrCat("draining", report.leaving_because().empty()
                                      ? ""
                                      : absl::StrCat(" (", report.leaving_because(), ")"));
}

std::string Age(const google::protobuf::Timestamp& since) {
  return absl::StrFormat("%.0fs ago", absl::ToDoubleSeconds(absl::Now() - FromProto(since)));
}

// A warning if the worker's clock is more than a minute off, because times in its logs and results
// then differ from the coordinator's; else empty.
std::string ClockText(const v1::WorkerStatus& worker) {
  const absl::Duration ahead = FromProto(worker.clock_ahead());
  if (absl::AbsDuration(ahead) < absl::Minutes(1)) return "";
  return absl::StrCat(worker.name(), ": its clock is ",
                      absl::FormatDuration(absl::Trunc(absl::AbsDuration(ahead), absl::Seconds(1))),
                      ahead > absl::ZeroDuration() ? " ahead of" : " behind",
                      " the coordinator's\n");
}

std::string RefusalsText(const google::protobuf::RepeatedPtrField<v1::WorkerRefusal>& refusals) {
  std::string text;
  for (const v1::WorkerRefusal& refusal : refusals) {
    absl::StrAppend(
        &text, "refused: ", refusal.worker_name().empty() ? "(no name)" : refusal.worker_name(),
        ", ", Age(refusal.last_at()),
        refusal.times() > 1 ? absl::StrCat(", ", refusal.times(), " times") : "", ": ",
        refusal.reason(), "\n");
  }
  return text;
}

}  // namespace

int StatusCommand(Client* client, const Options& options) {
  if (!options.run_id.empty()) {
    v1::GetRunRequest request;
    request.set_run_id(options.run_id);
    const auto status = client->Call<v1::GetRunRequest, v1::RunStatus>(&Stub::GetRun, request);
    if (!status.ok()) return Fail(status.status());
    if (options.json) return PrintJson(*status);
    Print(absl::StrCat(status->run_id(), "  ", status->task(), "  ",
                       LanguageText(status->language()), "  ", status->strategy(), "  ",
                       status->provider(), "/", status->model(), "\n", StatusLine(*status), "\n"));
    if (status->nodes() > 0) {
      Print(
          absl::StrFormat("%d nodes, %d open actions; ", status->nodes(), status->open_actions()));
    }
    Print(absl::StrFormat("%s, %d passed; %s; %s in flight\n",
                          CountText(status->candidates(), "candidate"), status->passed(),
                          CountText(status->llm_calls(), "model call"),
                          CountText(status->jobs_in_flight(), "job")));
    Print(PlatformLine(*status));
    Print(DegenerateText(status->degenerate()));
    Print(LedgerText(status->ledger()));
    Print(TokensText(*status));
    if (!status->reason().empty()) Print(absl::StrCat("ended: ", status->reason(), "\n"));
    return kExitOk;
  }
  const auto runs =
      client->Call<v1::ListRunsRequest, v1::ListRunsReply>(&Stub::ListRuns, v1::ListRunsRequest());
  if (!runs.ok()) return Fail(runs.status());
  if (options.json) return PrintJson(*runs);
  std::vector<std::vector<std::string>> rows = {{"run", "task", "state", "rounds", "best"}};
  for (const v1::RunStatus& run : runs->runs()) {
    rows.push_back({run.run_id(), run.task(), StateText(run.state()),
                    absl::StrCat(run.rounds_done(), "/", run.rounds_total()),
                    run.has_best() ? BestText(run.best()) : "-"});
  }
  Print(Table(rows));
  return kExitOk;
}

int TreeCommand(Client* client, const Options& options) {
  v1::GetTreeRequest request;
  request.set_run_id(options.run_id);
  request.set_revision(options.revision);
  const auto tree = client->Call<v1::GetTreeRequest, v1::WorldModel>(&Stub::GetTree, request);
  if (!tree.ok()) return Fail(tree.status());
  if (options.json) return PrintJson(*tree);
  Print(TreeText(*tree));
  return kExitOk;
}

int BestCommand(Client* client, const Options& options) {
  v1::GetBestRequest request;
  request.set_run_id(options.run_id);
  const auto best = client->Call<v1::GetBestRequest, v1::BestReply>(&Stub::GetBest, request);
  if (!best.ok()) {
    const int code = Fail(best.status());
    if (!absl::IsNotFound(best.status())) return code;
    // The run exists: only the candidate is missing.
    v1::GetRunRequest run;
    run.set_run_id(options.run_id);
    return client->Call<v1::GetRunRequest, v1::RunStatus>(&Stub::GetRun, run).ok()
               ? kExitNoCandidate
               : code;
  }
  if (!options.out.empty()) {
    const absl::Status written = WriteSourceFiles(best->sources(), options.out);
    if (!written.ok()) return Fail(written);
    const int files = best->sources().files_size();
    std::fprintf(stderr, "%d %s in %s\n", files, files == 1 ? "file" : "files",
                 options.out.c_str());
  }
  if (options.json) return PrintJson(*best);
  if (!options.source) {
    Print(absl::StrCat(best->best().candidate_id(), "  ", best->best().node_id(), "  round ",
                       best->best().round(), "\n", BestText(best->best()), " over the baseline of ",
                       best->task(), "\n", MeansText(best->confirmation(), options.by),
                       ResultText(best->confirmation()), SuiteScoresText(best->suite_scores()),
                       DegenerateText(best->degenerate())));
    return kExitOk;
  }
  Print(SourcesText(best->sources()));
  return kExitOk;
}

int ShowCommand(Client* client, const Options& options) {
  v1::GetCandidateRequest request;
  request.set_run_id(options.run_id);
  request.set_candidate_id(options.candidate_id);
  const auto reply =
      client->Call<v1::GetCandidateRequest, v1::CandidateReply>(&Stub::GetCandidate, request);
  if (!reply.ok()) return Fail(reply.status());
  if (options.json) return PrintJson(*reply);
  if (!options.source) {
    Print(absl::StrFormat("%s  node %s  cycle %d  round %d  attempt %d\n", reply->candidate_id(),
                          reply->node_id(), reply->cycle(), reply->round(), reply->attempt()));
    if (!reply->parent_candidate_id().empty()) {
      Print(absl::StrCat("built on ", reply->parent_candidate_id(), "\n"));
    }
    if (!reply->call().call_id().empty()) {
      Print(absl::StrCat("from call ", CallLine(reply->call())));
    }
    for (v1::JobResult result : reply->results()) {
      // The packet contains them, too.
      if (!reply->packet().empty()) result.mutable_build()->clear_kernels();
      Print(absl::StrCat("\njob ", ShortId(result.job_id()), ": ", ResultText(result)));
    }
    Print(SuiteScoresText(reply->suite_scores()));
    if (!reply->packet().empty()) Print(absl::StrCat("\n", reply->packet()));
    Print("\n");
  }
  if (options.source) {
    Print(SourcesText(reply->sources()));
    return kExitOk;
  }
  for (const v1::SourceFile& file : reply->sources().files()) {
    Print(absl::StrCat("---- ", file.path(), "\n", EndedLine(file.content())));
  }
  if (!reply->call().call_id().empty()) Print(CallText(reply->call(), options.calls));
  if (reply->world_model_calls_size() > 0) {
    Print(
        absl::StrCat("\nplanned by these calls", options.calls ? "" : " (whole: --calls)", ":\n"));
  }
  for (const v1::LlmCallSummary& call : reply->world_model_calls()) {
    Print(options.calls ? CallText(call, /*with_reply=*/true) : CallLine(call));
  }
  return kExitOk;
}

int LogCommand(Client* client, const Options& options) {
  v1::ListEventsRequest request;
  request.set_run_id(options.run_id);
  std::vector<v1::RunEvent> events;
  while (true) {
    const auto page =
        client->Call<v1::ListEventsRequest, v1::ListEventsReply>(&Stub::ListEvents, request);
    if (!page.ok()) return Fail(page.status());
    if (page->events_size() == 0) break;
    request.set_after_seq(page->events(page->events_size() - 1).seq());
    events.insert(events.end(), page->events().begin(), page->events().end());
  }
  const auto print = [&](const v1::RunEvent& event) {
    if (options.json) return PrintJsonLine(event);
    Print(absl::StrCat(absl::FormatTime("%H:%M:%E3S", FromProto(event.at()), absl::UTCTimeZone()),
                       "  ", InColor(event, EventText(event), ShowsColors()), "\n"));
    std::fflush(stdout);
  };
  const size_t limit = static_cast<size_t>(options.limit);
  const size_t first = events.size() > limit ? events.size() - limit : 0;
  if (first > 0) {
    std::fprintf(stderr, "ksearch: %zu earlier lines are left out; all of them: --limit %zu\n",
                 first, events.size());
  }
  for (size_t i = first; i < events.size(); ++i) print(events[i]);
  if (!options.follow) return kExitOk;
  const absl::Status followed = FollowRun(client, options.run_id, request.after_seq(), print);
  return followed.ok() ? kExitOk : Fail(followed);
}

int WorkersCommand(Client* client, const Options& options) {
  if (!options.drain_worker.empty()) {
    v1::DrainWorkerRequest request;
    request.set_worker_id(options.drain_worker);
    if (options.drain_grace.has_value()) *request.mutable_grace() = ToProto(*options.drain_grace);
    const auto reply =
        client->Call<v1::DrainWorkerRequest, v1::DrainWorkerReply>(&Stub::DrainWorker, request);
    if (!reply.ok()) return Fail(reply.status());
    if (options.json)
      return PrintJson({{"worker_id", options.drain_worker}, {"state", "draining"}});
    Print(absl::StrCat("asked ", options.drain_worker, " to finish and leave\n"));
    return kExitOk;
  }
  auto reply = client->ListWorkers(options.gone_workers);
  if (!reply.ok()) return Fail(reply.status());
  if (options.json) return PrintJson(*reply);
  std::stable_partition(reply->mutable_workers()->pointer_begin(),
                        reply->mutable_workers()->pointer_end(),
                        [](const v1::WorkerStatus* worker) { return worker->connected(); });
  std::string notes;
  std::vector<std::vector<std::string>> rows = {
      {"worker", "name", "state", "device", "cores", "leases", "done", "isolation", "last report"}};
  for (const v1::WorkerStatus& worker : reply->workers()) {
    std::vector<std::string> devices;
    int cores = 0;
    for (const v1::DeviceCapability& device : worker.hello().devices()) {
      devices.push_back(
          absl::StrCat(device.fingerprint().name(), device.build_only() ? " (builds only)" : ""));
      cores += device.fingerprint().cores();
    }
    const v1::IsolationLevel& isolation = worker.hello().isolation();
    rows.push_back({worker.worker_id(), worker.name(),
                    worker.retired()                      ? "retired"
                    : !worker.connected()                 ? "gone"
                    : worker.report().draining()          ? LeavingText(worker.report())
                    : !worker.report().health().healthy() ? worker.report().health().reason()
                                                          : "ready",
                    absl::StrJoin(devices, ", "), absl::StrCat(cores),
                    absl::StrCat(worker.report().leases_size()), absl::StrCat(worker.jobs_done()),
                    absl::StrCat(isolation.backend(), isolation.seccomp() ? "+seccomp" : "",
                                 "+cgroup-", isolation.cgroup()),
                    worker.has_last_report_at() ? Age(worker.last_report_at()) : "-"});
    if (!worker.connected()) continue;
    absl::StrAppend(&notes, ClockText(worker));
    if (const v1::DeviceHealth& health = worker.report().health();
        health.healthy() && !health.reason().empty()) {
      absl::StrAppend(&notes, worker.name(), ": ", health.reason(), "\n");
    }
    for (const v1::SickDevice& device : worker.report().health().sick_devices()) {
      absl::StrAppend(&notes, worker.name(), ": ", device.device_id(),
                      " takes no jobs: ", device.reason(), "\n");
    }
  }
  Print(Table(rows));
  if (options.wide) Print(absl::StrCat("\n", GpusText(reply->workers()), "\n"));
  Print(notes);
  Print(RefusalsText(reply->refusals()));
  const std::string pools = PoolsText(reply->pools(), absl::Now());
  if (!pools.empty()) Print(absl::StrCat("\n", pools));
  return kExitOk;
}

}  // namespace ksearch
