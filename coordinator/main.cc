// ksearch-coordinator: builds the object graph from the config and runs it until a signal.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/arguments.h"
#include "common/blob_folder.h"
#include "common/digest.h"
#include "common/grpc_channel.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/recorded_inputs.h"
#include "common/run_facts.h"
#include "common/shutdown.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/coordinator_config.h"
#include "coordinator/dashboard/dashboard.h"
#include "coordinator/dashboard/metrics/feed_counts.h"
#include "coordinator/dashboard/metrics/metrics_text.h"
#include "coordinator/dashboard/report.h"
#include "coordinator/engine/model_caller.h"
#include "coordinator/engine/model_providers.h"
#include "coordinator/engine/run_registry.h"
#include "coordinator/engine/run_settings.h"
#include "coordinator/engine/run_waker.h"
#include "coordinator/engine/waiting_watch.h"
#include "coordinator/events/event_feed.h"
#include "coordinator/events/sinks/event_sink.h"
#include "coordinator/service/access/grpc_server.h"
#include "coordinator/service/archive_room.h"
#include "coordinator/service/gateway_sink.h"
#include "coordinator/service/json_calls.h"
#include "coordinator/service/refusal_board.h"
#include "coordinator/service/result_watch.h"
#include "coordinator/service/search_service.h"
#include "coordinator/service/store_descriptions.h"
#include "coordinator/service/worker_gateway.h"
#include "coordinator/service/worker_service.h"
#include "coordinator/store/run_removal.h"
#include "coordinator/store/store.h"
#include "coordinator/suites/recorded_blobs.h"
#include "coordinator/suites/suite_table.h"

namespace ksearch {
namespace {

constexpr char kDatabaseName[] = "/ksearch.db";
// Recorded inputs of tasks that are too large to travel with them.
constexpr char kInputsFolder[] = "/inputs";
// Copies of the database that are being sent away.
constexpr char kTransferFolder[] = "/transfer";
constexpr int64_t kMostInputBytes = int64_t{64} << 30;
constexpr char kPageAddressName[] = "/page_url";
constexpr absl::Duration kWaitingLookInterval = absl::Milliseconds(200);
constexpr absl::Duration kDrainTime = absl::Seconds(2);

// "AMD EPYC, 2 cores, x86-64-v3, 32 MiB last-level cache", of the first connected worker with such
// a device, of `model` unless that is empty.
std::string TargetHardware(const WorkerGateway& gateway, v1::DeviceClass device_class,
                           const std::string& model) {
  for (const v1::WorkerStatus& worker : gateway.Workers()) {
    if (!worker.connected()) continue;
    for (const v1::DeviceCapability& device : worker.hello().devices()) {
      if (device.build_only() || device.device_class() != device_class) continue;
      const v1::DeviceFingerprint& facts = device.fingerprint();
      if (!model.empty() && facts.name() != model) continue;
      return absl::StrCat(facts.name(), ", ", facts.cores(), " cores, ", facts.architecture(), ", ",
                          facts.last_level_cache_bytes() >> 20, " MiB last-level cache");
    }
  }
  return device_class == v1::DEVICE_CLASS_CUDA ? "NVIDIA GPU" : "x86-64 CPU";
}

absl::StatusOr<std::set<std::string>> ActiveRuns(Store* store) {
  ASSIGN_OR_RETURN(const auto runs, store->ListRuns());
  std::set<std::string> active;
  for (const v1::RunStatus& run : runs) {
    if (!HasEnded(run.state())) active.insert(run.run_id());
  }
  return active;
}

// Returns true if these credentials are still valid. Without tokens in use, jobs have no owner.
bool IsGoodOwner(const AccessControl* access, absl::string_view owner) {
  if (access == nullptr) return false;
  return !absl::ConsumePrefix(&owner, "token/") || access->CheckStillGood(std::string(owner)).ok();
}

WorkerGateway::Options GatewayOptions(const v1::SchedulerSettings& settings) {
  WorkerGateway::Options options;
  if (settings.has_lease_ttl()) options.scheduler.lease_ttl = FromProto(settings.lease_ttl());
  if (settings.has_report_interval()) {
    options.scheduler.report_interval = FromProto(settings.report_interval());
  }
  if (settings.max_attempts() > 0) options.scheduler.max_attempts = settings.max_attempts();
  if (settings.has_default_job_time()) {
    options.scheduler.default_job_time = FromProto(settings.default_job_time());
  }
  if (settings.has_retire_after()) options.retire_after = FromProto(settings.retire_after());
  return options;
}

// Restores the jobs of an earlier process, before a worker that runs one of them can reconnect.
absl::Status RestoreJobs(Store* store, const AccessControl* access, WorkerGateway* gateway,
                         size_t* unfinished_jobs) {
  ASSIGN_OR_RETURN(const std::vector<QueuedJob> unfinished, store->ReadUnfinishedJobs());
  ASSIGN_OR_RETURN(const std::set<std::string> active, ActiveRuns(store));
  ASSIGN_OR_RETURN(auto owners, store->ReadWorkerOwners());
  std::erase_if(owners, [&](const auto& entry) { return !IsGoodOwner(access, entry.second); });
  ASSIGN_OR_RETURN(const auto task_faults, store->ReadTaskFaults());
  gateway->Restore(unfinished, std::move(owners), task_faults);
  for (const std::string& run_id : active) {
    ASSIGN_OR_RETURN(const RunRow run, store->ReadRun(run_id));
    if (run.config.has_priority()) gateway->SetPriority(run_id, run.config.priority());
  }
  for (const QueuedJob& job : unfinished) {
    // Jobs that only ended runs asked for wait until one of these runs is resumed.
    const auto run = std::find_if(job.run_ids.begin(), job.run_ids.end(),
                                  [&](const std::string& id) { return active.contains(id); });
    if (!job.run_ids.empty() && run == job.run_ids.end()) continue;
    gateway->Submit(job.job_id, job.spec, job.attempts, job.run_ids.empty() ? "" : *run);
  }
  *unfinished_jobs = unfinished.size();
  return absl::OkStatus();
}

v1::ServerFacts FactsOf(const v1::CoordinatorConfig& config, const Store& store,
                        const ModelCaller& models, const Clock& clock) {
  v1::ServerFacts facts;
  facts.set_version(KSEARCH_VERSION);
  facts.set_state_dir(config.state_dir());
  facts.set_schema_version(store.schema_version());
  for (const std::string& name : models.ProviderNames()) facts.add_providers(name);
  *facts.mutable_started_at() = ToProto(clock.Now());
  return facts;
}

absl::StatusOr<std::string> ScrapeText(SearchService* service, const dashboard::FeedCounts& counts,
                                       int open_pages) {
  dashboard::MetricsInput input;
  RETURN_IF_ERROR(FromGrpc(service->ListRuns(nullptr, nullptr, &input.runs)));
  v1::ListWorkersRequest staying;
  do {
    v1::ListWorkersReply page;
    RETURN_IF_ERROR(FromGrpc(service->ListWorkers(nullptr, &staying, &page)));
    staying.set_page_token(page.next_page_token());
    input.workers.MergeFrom(page);
  } while (!staying.page_token().empty());
  RETURN_IF_ERROR(FromGrpc(service->GetDemand(nullptr, nullptr, &input.demand)));
  const v1::ListJobsRequest all;
  RETURN_IF_ERROR(FromGrpc(service->ListJobs(nullptr, &all, &input.jobs)));
  RETURN_IF_ERROR(FromGrpc(service->GetServerFacts(nullptr, nullptr, &input.facts)));
  input.counts = counts.totals();
  input.open_pages = open_pages;
  return dashboard::MetricsText(input);
}

// Starts each sink on its own thread.
std::vector<std::unique_ptr<sinks::EventSink>> StartSinks(const v1::CoordinatorConfig& config,
                                                          Store* store, EventFeed* feed,
                                                          const Clock& clock) {
  sinks::EventReader reader;
  reader.feed = [store](int64_t after, int limit) { return store->ReadAllEvents(after, limit); };
  reader.newest_cursor = [store] { return store->ReadNewestCursor(); };
  reader.events = [store](const std::string& run_id) { return store->ReadEvents(run_id, 0, 0); };
  reader.config = [store](const std::string& run_id) -> absl::StatusOr<v1::RunConfig> {
    ASSIGN_OR_RETURN(RunRow run, store->ReadRun(run_id));
    return std::move(run.config);
  };
  reader.sources = [store](const std::string& run_id,
                           const std::string& candidate_id) -> absl::StatusOr<v1::Sources> {
    ASSIGN_OR_RETURN(CandidateRow row, store->ReadCandidate(run_id, candidate_id));
    return std::move(row.sources);
  };
  reader.world_model = [store](const std::string& run_id) {
    return store->ReadWorldModel(run_id, 0);
  };
  std::vector<std::unique_ptr<sinks::EventSink>> started;
  for (const v1::SinkConfig& sink : config.sinks()) {
    sinks::EventSink::Options options;
    options.config = sink;
    options.cursor_path = absl::StrCat(config.state_dir(), "/sinks/", sink.name(), ".cursor");
    started.push_back(std::make_unique<sinks::EventSink>(options, feed, reader, clock));
  }
  return started;
}

// Admits callers that show the secret drawn at this start.
std::function<absl::StatusOr<std::string>(absl::string_view, absl::string_view)> OnlyWith(
    const std::string& secret) {
  // Comparing digests reveals nothing about the secret through its timing.
  return [digest = Sha256Hex("Bearer " + secret)](
             absl::string_view authorization, absl::string_view) -> absl::StatusOr<std::string> {
    if (Sha256Hex(authorization) == digest) return std::string();
    return absl::UnauthenticatedError(
        "this page needs its own token: open the whole address that `ksearch up --status` prints");
  };
}

// null if no page is configured. Its address is written beside that of the gRPC server.
absl::StatusOr<std::unique_ptr<dashboard::Dashboard>> StartDashboard(
    const v1::CoordinatorConfig& config, const CommandLineActions& actions, Store* store,
    EventFeed* feed, SearchService* service, const JsonCalls& calls,
    const dashboard::FeedCounts& counts, const AccessControl* access) {
  const std::string file = config.state_dir() + kPageAddressName;
  (void)::unlink(file.c_str());  // left by an earlier process
  if (actions.dashboard.empty()) return std::unique_ptr<dashboard::Dashboard>();
  dashboard::Dashboard::Parts parts;
  parts.feed = feed;
  parts.read_events = [store](int64_t after, int limit) {
    return store->ReadAllEvents(after, limit);
  };
  parts.newest_cursor = [store] { return store->ReadNewestCursor(); };
  parts.call = [&calls](absl::string_view method, absl::string_view json) {
    return calls.Call(method, json);
  };
  parts.metrics = [service, &counts](int open_pages) {
    return ScrapeText(service, counts, open_pages);
  };
  std::string secret;
  if (access != nullptr) {
    parts.access.authorize = [access](absl::string_view authorization,
                                      absl::string_view path) -> absl::StatusOr<std::string> {
      ASSIGN_OR_RETURN(const AccessControl::Caller caller, access->Authorize(authorization, path));
      return caller.token_id;
    };
    parts.access.still_good = [access](const std::string& token_id) {
      return access->CheckStillGood(token_id);
    };
  } else if (absl::StartsWith(config.listen_address(), "unix:")) {
    // Only this account can use the socket, but any account of the machine can reach a port.
    secret = RandomHex(16);
    parts.access.authorize = OnlyWith(secret);
  }
  ASSIGN_OR_RETURN(auto page, dashboard::Dashboard::Start(
                                  {actions.dashboard, actions.dashboard_hosts}, std::move(parts)));
  const std::string token = secret.empty() ? "" : "#token=" + secret;
  RETURN_IF_ERROR(WriteFileAtomically(file, absl::StrCat(page->url(), token, "\n"), 0600));
  LOG(INFO) << "msg=\"the page is served\" url=" << page->url();
  return page;
}

// Returns when a signal has come; with `watch`, also once every run waits, with what they wait for.
std::optional<std::string> WaitForEnd(ShutdownSignals* signals, const WaitingWatch* watch) {
  struct Stop {
    Mutex mu;
    CondVar changed;
    bool wanted ABSL_GUARDED_BY(mu) = false;
  };
  const auto stop = std::make_shared<Stop>();  // the listening thread outlives this function
  signals->Listen([stop] {
    MutexLock lock(&stop->mu);
    stop->wanted = true;
    stop->changed.NotifyAll();
  });
  std::optional<std::string> waits;
  MutexLock lock(&stop->mu);
  while (!stop->wanted && !waits.has_value()) {
    if (watch == nullptr) {
      stop->changed.Wait(&stop->mu);
      continue;
    }
    stop->changed.WaitFor(&stop->mu, kWaitingLookInterval);
    waits = watch->Check();
  }
  return waits;
}

// Removes the least recently used recorded inputs; those of unfinished jobs stay.
absl::Status CollectInputs(Store& store, const BlobFolder& inputs) {
  std::set<std::string> kept;
  ASSIGN_OR_RETURN(const std::vector<QueuedJob> unfinished, store.ReadUnfinishedJobs());
  std::set<std::string> tasks;
  for (const QueuedJob& job : unfinished) tasks.insert(job.spec.task_sha256());
  for (const std::string& name : tasks) {
    v1::Task task;
    const auto bytes = store.ReadBlob(name);
    if (!bytes.ok() || !task.ParseFromString(*bytes)) continue;
    kept.merge(RecordedInputsOf(task));
  }
  return inputs.Collect(kMostInputBytes, kept);
}

// Checks what can be checked without starting anything, beyond LoadCoordinatorConfig.
absl::Status CheckConfig(const v1::CoordinatorConfig& config) {
  std::vector<std::string> provider_names;
  for (const v1::ModelProvider& provider : config.providers()) {
    provider_names.push_back(provider.name());
  }
  RETURN_IF_ERROR(CheckRunDefaults(config.run_defaults(), provider_names));
  return PriceBook::Load({config.price_dirs().begin(), config.price_dirs().end()},
                         {config.providers().begin(), config.providers().end()})
      .status();
}

absl::Status Run(const v1::CoordinatorConfig& config, const CommandLineActions& actions,
                 ShutdownSignals* signals) {
  const Clock& clock = Clock::Real();
  std::vector<std::string> provider_names;
  for (const v1::ModelProvider& provider : config.providers()) {
    provider_names.push_back(provider.name());
  }
  RETURN_IF_ERROR(CheckRunDefaults(config.run_defaults(), provider_names));
  ASSIGN_OR_RETURN(const std::unique_ptr<AccessControl> access, MakeAccessControl(config));
  if (::mkdir(config.state_dir().c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, absl::StrCat("create state_dir ", config.state_dir()));
  }
  EventFeed feed;
  dashboard::FeedCounts counts;
  feed.SetListener([&counts](const v1::FeedEntry& entry) { counts.Count(entry); });
  RunWaker waker;
  Store::Options store_options;
  store_options.path = config.state_dir() + kDatabaseName;
  ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, Store::Open(store_options, clock));
  const StoreDescriptions descriptions(store.get());
  ASSIGN_OR_RETURN(const std::unique_ptr<BlobFolder> inputs,
                   BlobFolder::Open(config.state_dir() + kInputsFolder));
  RETURN_IF_ERROR(CollectInputs(*store, *inputs));
  RecordedBlobs recorded(inputs.get());
  ASSIGN_OR_RETURN(const std::unique_ptr<TaskSuite> tasks,
                   MakeTaskSuites({config.task_dirs().begin(), config.task_dirs().end()},
                                  config.suites(), &descriptions, &recorded));
  store->SetArrivalListener([&waker](const std::string& run_id) { waker.Wake(run_id); });
  store->SetEventListener(
      [&feed](const std::vector<v1::FeedEntry>& entries) { feed.Publish(entries); });
  const auto publish = [&feed](v1::FleetEvent event) { feed.Publish(std::move(event)); };
  const auto sinks = StartSinks(config, store.get(), &feed, clock);
  ResultWatch results;
  WorkerGateway::Options gateway_options = GatewayOptions(config.scheduler());
  gateway_options.inputs = inputs.get();
  WorkerGateway gateway(gateway_options, store.get(), &clock);
  gateway.SetResultListener([&results](const v1::JobResult&) { results.Notify(); });
  gateway.SetFleetListener(publish);
  GatewaySink queue(&gateway);
  ModelCaller::Options model_options;
  if (config.max_llm_calls_in_flight() > 0) {
    model_options.max_in_flight = config.max_llm_calls_in_flight();
  }
  std::vector<std::string> mailboxes;
  ModelCaller models(store.get(), clock, MakeProviders(config, store.get(), clock, &mailboxes),
                     model_options);
  models.SetCallListener(publish);
  ASSIGN_OR_RETURN(const PriceBook prices,
                   PriceBook::Load({config.price_dirs().begin(), config.price_dirs().end()},
                                   {config.providers().begin(), config.providers().end()}));
  TaskAdmission admission({store.get(), &queue,
                           [&gateway](const v1::JobSpec& spec) { return gateway.CanPlace(spec); }});
  RunRegistry::Parts run_parts = {store.get(),
                                  &queue,
                                  &models,
                                  tasks.get(),
                                  &clock,
                                  config.run_defaults(),
                                  [&gateway](v1::DeviceClass device, const std::string& model) {
                                    return TargetHardware(gateway, device, model);
                                  },
                                  &prices};
  run_parts.admission = &admission;
  run_parts.platforms = [&gateway](const v1::JobSpec& spec) {
    std::vector<v1::Platform> platforms = gateway.PlatformsFor(spec);
    // The run's evaluations wait, and are not jobs yet.
    if (platforms.empty()) gateway.NoteWanted(spec, absl::StrCat("run ", JobId(spec)));
    return platforms;
  };
  RunRegistry runs(std::move(run_parts));
  waker.Attach(&runs);
  const auto detach = absl::MakeCleanup([&waker] { waker.Attach(nullptr); });

  size_t unfinished_jobs = 0;
  RETURN_IF_ERROR(RestoreJobs(store.get(), access.get(), &gateway, &unfinished_jobs));

  PoolBoard pools(clock);
  const DiskWatch disk(config.state_dir(), config.least_free_bytes());
  RefusalBoard refusals(clock);
  const auto refused = [&refusals, publish](const std::string& name, const absl::Status& why) {
    if (auto event = refusals.Note(name, why.message()); event.has_value()) publish(*event);
  };
  gateway.SetRefusalListener(refused);
  gateway.SetPoolPrice([&pools](const std::string& pool) { return pools.NanoUsdPerHour(pool); });
  ASSIGN_OR_RETURN(const std::unique_ptr<WorkerAuthority> authority,
                   MakeWorkerAuthority(config, access.get()));
  ASSIGN_OR_RETURN(
      const std::unique_ptr<ArchiveRoom> archives,
      ArchiveRoom::Open({config.state_dir() + kDatabaseName, config.state_dir() + kTransferFolder,
                         store.get(), &gateway, &disk}));
  SearchService::Parts parts = {
      store.get(),  &runs,     &gateway, tasks.get(), &results, &models,   &feed, {},
      access.get(), mailboxes, &pools,   {},          {},       &refusals, &disk, archives.get()};
  parts.facts = FactsOf(config, *store, models, clock);
  parts.sinks = [&sinks] {
    std::vector<v1::SinkFacts> facts;
    for (const auto& sink : sinks) facts.push_back(sink->Facts());
    return facts;
  };
  // Set before any call can come.
  const JsonCalls* report_calls = nullptr;
  parts.report = [&report_calls, &clock](const std::string& run_id, int64_t most_bytes) {
    return dashboard::MakeReport(
        [&report_calls](absl::string_view method, absl::string_view json) {
          return report_calls->Call(method, json);
        },
        run_id, most_bytes, clock.Now());
  };
  SearchService search_service(parts);
  WorkerService worker_service(&gateway, access.get(), authority.get());
  if (access != nullptr) {
    access->SetEndedListener(
        [&gateway](const std::string& token_id) { gateway.EndSessionsOf(token_id); },
        [&gateway](const std::string& worker_id) { gateway.EndSessionOfWorker(worker_id); });
  }
  const auto no_listener = absl::MakeCleanup([&access] {
    if (access != nullptr) access->SetEndedListener(nullptr);
  });

  const JsonCalls calls(&search_service);
  report_calls = &calls;
  ASSIGN_OR_RETURN(std::unique_ptr<dashboard::Dashboard> page,
                   StartDashboard(config, actions, store.get(), &feed, &search_service, calls,
                                  counts, access.get()));
  ASSIGN_OR_RETURN(const std::unique_ptr<GrpcServer> server,
                   GrpcServer::Start(config, access.get(), {&search_service, &worker_service},
                                     authority.get(), refused));
  const std::string& address = server->address();
  RETURN_IF_ERROR(WriteFileAtomically(config.state_dir() + "/address", address + "\n"));

  RETURN_IF_ERROR(runs.ResumeInterrupted());
  LOG(INFO) << "listening address=" << address << " state_dir=" << config.state_dir()
            << " unfinished_jobs=" << unfinished_jobs << " tls=" << config.has_tls()
            << " tokens=" << (access != nullptr);

  const WaitingWatch watch(&runs, &models,
                           [&gateway] { return gateway.queued() + gateway.leased(); });
  const std::optional<std::string> waits =
      WaitForEnd(signals, actions.exit_when_waiting ? &watch : nullptr);
  LOG(INFO) << "shutting down";
  search_service.Shutdown();
  page.reset();
  gateway.Shutdown();
  server->Shutdown(kDrainTime);
  if (waits.has_value()) std::printf("ksearch-coordinator: %s\n", waits->c_str());
  return absl::OkStatus();
}

absl::Status RemoveOldRuns(const v1::CoordinatorConfig& config, const CommandLineActions& actions) {
  const RunChoice choice = {actions.remove_runs, actions.remove_runs_before};
  ASSIGN_OR_RETURN(const RemovedRuns removed,
                   RemoveRuns(config.state_dir() + kDatabaseName, choice, actions.archive));
  if (removed.run_ids.empty()) {
    std::printf("no run is to be removed\n");
    return absl::OkStatus();
  }
  for (const std::string& run_id : removed.run_ids) std::printf("removed %s\n", run_id.c_str());
  std::printf("%zu runs with %lld results and %lld model calls are gone; %s has them\n",
              removed.run_ids.size(), static_cast<long long>(removed.results),
              static_cast<long long>(removed.calls), actions.archive.c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  // A core dump would hold the providers' keys.
  const rlimit none = {0, 0};
  (void)::setrlimit(RLIMIT_CORE, &none);
  ksearch::ShutdownSignals signals;
  ksearch::SetLogName("ksearch-coordinator");
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args == std::vector<std::string>{"--version"}) {
    std::printf("ksearch-coordinator %s\n", KSEARCH_VERSION);
    return 0;
  }
  if (args == std::vector<std::string>{"--help"}) {
    std::printf(
        "usage: ksearch-coordinator [--config FILE] [--listen HOST:PORT] [--state-dir DIR]\n"
        "                           [--task-dir DIR]... [--suite [NAME=]KIND:PATH]...\n"
        "                           [--sink [NAME=]KIND[:FOLDER]]...\n"
        "                           [--dashboard IP:PORT] [--dashboard-host NAME]...\n"
        "                           [--exit-when-waiting] [--backup COPY] [--check-config]\n"
        "       ksearch-coordinator [--config FILE] [--state-dir DIR] --archive COPY\n"
        "                           [--remove-run RUN]... [--remove-runs-before YYYY-MM-DD]\n"
        "       ksearch-coordinator --version\n"
        "FILE is a CoordinatorConfig as textproto, .yaml or .json; arguments take precedence.\n"
        "--check-config only checks it. --suite adds tasks in the formats of other projects\n"
        "(docs/suites/README.md). --sink writes what happens in runs in the formats of W&B,\n"
        "TensorBoard and others (docs/integrations.md). --dashboard serves a live page and "
        "metrics\n"
        "(docs/dashboard.md). --backup copies the database of the state folder to COPY, even if\n"
        "a coordinator is using it, and exits.\n"
        "--archive does the same with a database that no coordinator uses, and then removes runs\n"
        "(docs/operations.md).\n"
        "--exit-when-waiting ends the coordinator once every run waits for prompts in a mailbox\n"
        "(docs/mailbox.md); the next start continues from there.\n");
    return 0;
  }
  ksearch::CommandLineActions actions;
  const auto config = ksearch::LoadCoordinatorConfig(args, &actions);
  absl::Status status = config.status();
  if (status.ok() && actions.check_config) {
    status = ksearch::CheckConfig(*config);
  } else if (status.ok() && actions.removes_runs()) {
    status = ksearch::RemoveOldRuns(*config, actions);
  } else if (status.ok()) {
    status = actions.backup.empty()
                 ? ksearch::Run(*config, actions, &signals)
                 : ksearch::Store::BackupFile(config->state_dir() + ksearch::kDatabaseName,
                                              actions.backup);
  }
  if (status.ok()) return 0;
  std::fprintf(stderr, "ksearch-coordinator: %s\n", std::string(status.message()).c_str());
  return ksearch::ExitCodeOfBadStart(status);
}
