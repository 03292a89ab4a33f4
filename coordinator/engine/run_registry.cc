#include "coordinator/engine/run_registry.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/kernel_header.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/trusted_programs.h"
#include "coordinator/engine/event_detail.h"
#include "coordinator/engine/feedback_workloads.h"
#include "coordinator/engine/job_specs.h"
#include "coordinator/engine/run_estimate.h"
#include "coordinator/engine/run_settings.h"
#include "coordinator/engine/stored_programs.h"
#include "coordinator/engine/trial.h"
#include "coordinator/search/strategy_factory.h"

namespace ksearch {
namespace {

// Time that a resume waits for the run's first step.
constexpr absl::Duration kLongestBegin = absl::Seconds(5);

// Interval at which a run whose evaluations wait for the first worker looks for one.
constexpr absl::Duration kLookForWorkers = absl::Milliseconds(200);

// Returns true if the store's failure may pass: the disk is full, or another process holds the
// file. What could not be written has had no effect.
bool MayPass(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsUnavailable(status);
}

}  // namespace

RunRegistry::RunRegistry(Parts parts)
    : parts_(std::move(parts)),
      config_({parts_.store, parts_.models, parts_.tasks, parts_.clock, parts_.defaults,
               parts_.target_hardware, parts_.prices, parts_.platforms}) {}

RunRegistry::~RunRegistry() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(&mu_);
    closing_ = true;
    for (auto& [id, active] : active_) threads.push_back(std::move(active->thread));
    for (auto& [id, changed] : changed_) changed.NotifyAll();
  }
  for (std::thread& thread : threads) {
    if (thread.joinable()) thread.join();
  }
}

absl::Status RunRegistry::ResumeInterrupted() {
  ASSIGN_OR_RETURN(const auto runs, parts_.store->ListRuns());
  for (const v1::RunStatus& run : runs) {
    if (run.state() != v1::RUN_STATE_RUNNING && run.state() != v1::RUN_STATE_STOPPING) continue;
    const absl::Status status = Launch(run.run_id(), Limits());
    LOG(INFO) << "run=" << run.run_id() << " taken up: " << status.ToString();
    // A run left RUNNING without a thread could neither be stopped nor end.
    if (!status.ok()) RecordFailure(run.run_id(), status);
  }
  return absl::OkStatus();
}

absl::StatusOr<SearchContext> RunRegistry::LoadContext(const RunRow& row,
                                                       const Limits& limits) const {
  const v1::RunConfig& config = row.config;
  SearchContext context;
  context.config = config;
  v1::RunEngineState state;
  if (!state.ParseFromString(row.state)) {
    return absl::DataLossError(absl::StrCat("state of run ", row.run_id, " is unreadable"));
  }
  const int rounds = limits.rounds > 0 ? limits.rounds : state.rounds();
  if (rounds > 0) context.config.set_rounds(rounds);
  *context.config.mutable_budget() =
      MergedBudget(state.has_budget() ? state.budget() : config.budget(), limits.budget);
  if (!state.task_sha256().empty()) {
    // The task as it was when the run began, whatever its files say now.
    ASSIGN_OR_RETURN(const std::string bytes, parts_.store->ReadBlob(state.task_sha256()));
    if (!context.task.ParseFromString(bytes)) return absl::DataLossError("task blob unreadable");
  } else {
    ASSIGN_OR_RETURN(context.task, parts_.tasks->Load(config.task()));
    RETURN_IF_ERROR(ChooseFeedbackWorkloads(config, &context.task));
  }
  const absl::Status runs = CheckRunsTask("language", context.task, config.language());
  if (!runs.ok()) return absl::FailedPreconditionError(runs.message());
  if (context.task.baselines().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("task ", context.task.name(), " has no baseline to compare with"));
  }
  ASSIGN_OR_RETURN(context.kernel_header,
                   KernelHeader(context.task.definition(), context.task.device()));
  context.target_hardware = config.target_hardware();
  return context;
}

absl::StatusOr<v1::RunEstimate> RunRegistry::Estimate(const v1::RunConfig& request) const {
  RunRow row;
  ASSIGN_OR_RETURN(row.config, config_.Complete(request));
  ASSIGN_OR_RETURN(SearchContext context, LoadContext(row, Limits()));
  // The estimate starts with the first question.
  SetTimeBaselineFirst(false, &context.config);
  ASSIGN_OR_RETURN(const std::unique_ptr<SearchStrategy> strategy, MakeStrategy(context));
  return EstimateRun(row.config, strategy->Start());
}

absl::StatusOr<std::optional<v1::JobSpec>> RunRegistry::ScreeningJob(
    const v1::RunConfig& request) const {
  RunRow row;
  ASSIGN_OR_RETURN(row.config, config_.Complete(request));
  ASSIGN_OR_RETURN(const SearchContext context, LoadContext(row, Limits()));
  RETURN_IF_ERROR(MakeStrategy(context).status());
  if (!parts_.models->RecordedOrder(row.config.provider()).empty()) return std::nullopt;
  v1::Sources sources;
  sources.set_language(row.config.language());
  v1::JobSpec spec =
      JobSpecs(context.task, row.config.measure(), row.config.limits()).Screen(sources);
  // If no platform is required, any worker will do.
  v1::Platform asked = parts_.defaults.platform();
  asked.MergeFrom(request.platform());
  SetPlatform(asked, &spec);
  return spec;
}

bool RunRegistry::CanTimeBaseline(const SearchContext& context) const {
  const v1::RunConfig& config = context.config;
  const bool recorded =
      !config.replay_order_of().empty() || !parts_.models->RecordedOrder(config.provider()).empty();
  if (recorded) return true;  // its results are in the store
  v1::Sources sources;
  sources.set_language(config.language());
  v1::JobSpec spec = JobSpecs(context.task, config.measure(), config.limits()).Baseline(sources);
  SetPlatform(config.platform(), &spec);
  return parts_.admission != nullptr && parts_.admission->CanPlace(spec);
}

absl::StatusOr<std::string> RunRegistry::Start(const std::string& request_id,
                                               const v1::RunConfig& request) {
  if (request_id.empty() || request_id.size() > 128) {
    return absl::InvalidArgumentError("request_id must have 1 to 128 characters");
  }
  ASSIGN_OR_RETURN(const v1::RunConfig config, config_.Complete(request));
  RunRow row;
  row.config = config;
  ASSIGN_OR_RETURN(const SearchContext context, LoadContext(row, Limits()));
  RETURN_IF_ERROR(MakeStrategy(context).status());
  // Without a worker the run asks the model at once instead of waiting for one.
  if (!HasTimeBaselineFirst(request) && !CanTimeBaseline(context)) {
    SetTimeBaselineFirst(false, &row.config);
  }
  row.run_id = NewRunId(config, request_id);
  row.request_id = request_id;
  row.status.set_run_id(row.run_id);
  row.status.set_state(v1::RUN_STATE_RUNNING);
  row.status.set_task(config.task());
  row.status.set_language(config.language());
  row.status.set_strategy(config.strategy());
  row.status.set_provider(config.provider());
  row.status.set_model(config.model());
  row.status.set_rounds_total(config.rounds());
  if (config.has_trial()) *row.status.mutable_trial() = config.trial();
  *row.status.mutable_started_at() = ToProto(parts_.clock->Now());
  ASSIGN_OR_RETURN(const std::string run_id, parts_.store->CreateRun(row));
  if (run_id != row.run_id) return run_id;
  const absl::Status launched = Launch(run_id, Limits());
  if (launched.ok()) return run_id;
  RecordFailure(run_id, launched);
  return launched;
}

absl::StatusOr<std::unique_ptr<SearchRun>> RunRegistry::LoadRun(const std::string& run_id,
                                                                const Limits& limits) const {
  ASSIGN_OR_RETURN(const RunRow row, parts_.store->ReadRun(run_id));
  ASSIGN_OR_RETURN(SearchContext context, LoadContext(row, limits));
  context.programs = std::make_shared<StoredPrograms>(parts_.store, run_id);
  ASSIGN_OR_RETURN(std::unique_ptr<SearchStrategy> strategy, MakeStrategy(context));
  std::vector<std::string> order = parts_.models->RecordedOrder(row.config.provider());
  SearchRun::Parts parts = {parts_.store, parts_.jobs, parts_.models, parts_.clock};
  // A recording is repeated as it is, whichever workers are connected.
  if (order.empty()) parts.platforms = parts_.platforms;
  if (!row.config.replay_order_of().empty()) {
    ASSIGN_OR_RETURN(order, RecordedOrder(parts_.store, row.config.replay_order_of()));
  }
  return SearchRun::Create(parts, row, std::move(context), std::move(strategy), std::move(order));
}

void RunRegistry::RecordFailure(const std::string& run_id, const absl::Status& why) {
  const auto now = ToProto(parts_.clock->Now());
  absl::StatusOr<RunRow> row = parts_.store->ReadRun(run_id);
  absl::Status status = row.status();
  if (status.ok()) {
    StepCommit step;
    step.run_id = run_id;
    step.cursor = row->cursor;
    step.state = row->state;
    step.status = row->status;
    step.status.set_state(v1::RUN_STATE_FAILED);
    step.status.set_reason(absl::StrCat("cannot be continued: ", std::string(why.message())));
    *step.status.mutable_ended_at() = now;
    v1::RunEvent& event = step.events.emplace_back();
    event.set_kind(v1::RunEvent::RUN_ENDED);
    event.set_text(absl::StrCat("failed: ", step.status.reason()));
    *event.mutable_at() = now;
    const StepCause cause;
    FillEventDetail(parts_.store, {&cause, &step.candidates, nullptr, &step.status}, &event);
    status = parts_.store->CommitStep(step);
  }
  if (!status.ok()) LOG(ERROR) << "run=" << run_id << " end not recorded: " << status.ToString();
}

absl::Status RunRegistry::Launch(const std::string& run_id, const Limits& limits) {
  // One at a time: what LoadRun read stays true until the thread uses it.
  MutexLock launching(&launch_mu_);
  {
    MutexLock lock(&mu_);
    const auto it = active_.find(run_id);
    if (it != active_.end() && !it->second->ended) return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(std::unique_ptr<SearchRun> run, LoadRun(run_id, limits));
  std::thread old;
  {
    MutexLock lock(&mu_);
    if (closing_) return absl::UnavailableError("the coordinator is shutting down");
    std::unique_ptr<ActiveRun>& slot = active_[run_id];
    const int64_t steps = slot == nullptr ? 0 : slot->steps;
    if (slot != nullptr) old = std::move(slot->thread);
    slot = std::make_unique<ActiveRun>();
    slot->steps = steps;
    slot->changed = &changed_[run_id];
    ActiveRun* active = slot.get();
    slot->thread = std::thread([this, run_id, limits, active, owned = std::move(run)]() mutable {
      Loop(run_id, limits, active, std::move(owned));
    });
  }
  if (old.joinable()) old.join();
  return absl::OkStatus();
}

absl::StatusOr<bool> RunRegistry::Drive(ActiveRun* active, SearchRun* run) {
  if (parts_.admission != nullptr && run->unproven()) {
    bool stopping = false;
    RETURN_IF_ERROR(parts_.admission->Admit(run->context().task, run->context().config,
                                            run->platform(), [&](absl::Duration longest) {
                                              MutexLock lock(&mu_);
                                              if (!active->stop && !closing_)
                                                active->changed->WaitFor(&mu_, longest);
                                              stopping = active->stop || closing_;
                                              return !stopping;
                                            }));
    if (stopping) return false;
  }
  absl::Status status = run->Begin();
  bool ended = false;
  {
    MutexLock lock(&mu_);
    active->begun = true;
    active->changed->NotifyAll();
  }
  while (status.ok() && !ended) {
    status = TakeChanges(active, run);
    if (!status.ok()) break;
    const absl::StatusOr<SearchRun::Progress> progress = run->ApplyNext();
    status = progress.status();
    if (!status.ok()) break;
    ended = *progress == SearchRun::Progress::kEnded;
    MutexLock lock(&mu_);
    ++active->steps;
    active->changed->NotifyAll();
    if (*progress == SearchRun::Progress::kWaiting) {
      active->awaited = run->awaited();
      active->waiting = true;
      while (!active->wake && !active->stop && !closing_ && active->changes.empty()) {
        if (!run->awaits_platform()) {
          active->changed->Wait(&mu_);
          continue;
        }
        active->changed->WaitFor(&mu_, kLookForWorkers);
        break;
      }
      active->waiting = false;
      active->wake = false;
    }
    if (closing_ || active->stop) break;
  }
  if (!status.ok()) return status;
  return ended;
}

absl::Status RunRegistry::TakeChanges(ActiveRun* active, SearchRun* run) {
  while (true) {
    std::shared_ptr<Change> change;
    {
      MutexLock lock(&mu_);
      if (active->changes.empty()) return absl::OkStatus();
      change = active->changes.front();
      active->changes.pop_front();
    }
    absl::Status refusal;
    const absl::Status committed = run->Steer(change->request, &refusal);
    MutexLock lock(&mu_);
    change->outcome = committed.ok() ? refusal : committed;
    ++active->steps;
    active->changed->NotifyAll();
    if (!committed.ok()) return committed;
  }
}

void RunRegistry::Loop(const std::string& run_id, const Limits& limits, ActiveRun* active,
                       std::unique_ptr<SearchRun> run) {
  absl::StatusOr<bool> ended = Drive(active, run.get());
  // Only committed changes have happened: the run continues as after a restart.
  while (MayPass(ended.status()) && Rest(*active, /*stop_matters=*/true)) {
    LOG(WARNING) << "run=" << run_id << " msg=\"tried again after a failed write\" error=\""
                 << ended.status().message() << "\"";
    auto loaded = LoadRun(run_id, limits);
    if (loaded.ok()) {
      run = *std::move(loaded);
      ended = Drive(active, run.get());
    } else {
      ended = loaded.status();
    }
  }
  bool stop = false;
  bool closing = false;
  {
    MutexLock lock(&mu_);
    stop = active->stop;
    closing = closing_;
  }
  absl::Status status;
  if (!ended.ok() && !MayPass(ended.status())) {
    LOG(ERROR) << "run=" << run_id << " failed: " << ended.status().ToString();
    status = End(*active, run.get(), v1::RUN_STATE_FAILED, std::string(ended.status().message()));
  } else if (stop && !(ended.ok() && *ended)) {
    status = End(*active, run.get(), v1::RUN_STATE_STOPPED, "by request");
    if (status.ok()) status = run->CancelWaiting();
  } else if (!ended.ok() && closing) {
    LOG(WARNING) << "run=" << run_id << " left for the next start: " << ended.status().ToString();
  }
  if (!status.ok()) LOG(ERROR) << "run=" << run_id << " end not recorded: " << status.ToString();
  MutexLock lock(&mu_);
  active->ended = true;
  active->changes.clear();
  ++active->steps;
  active->changed->NotifyAll();
}

absl::Status RunRegistry::End(const ActiveRun& active, SearchRun* run, v1::RunState state,
                              const std::string& reason) {
  absl::Status status = run->End(state, reason);
  while (MayPass(status) && Rest(active, /*stop_matters=*/false)) status = run->End(state, reason);
  return status;
}

bool RunRegistry::Rest(const ActiveRun& active, bool stop_matters) {
  const absl::Time until = parts_.clock->SteadyNow() + parts_.store_retry;
  MutexLock lock(&mu_);
  while (!closing_ && !(stop_matters && active.stop)) {
    const absl::Duration left = until - parts_.clock->SteadyNow();
    if (left <= absl::ZeroDuration()) return true;
    active.changed->WaitFor(&mu_, left);
  }
  return false;
}

absl::Status RunRegistry::Stop(const std::string& run_id) {
  MutexLock lock(&mu_);
  const auto it = active_.find(run_id);
  if (it == active_.end()) return absl::OkStatus();
  it->second->stop = true;
  CondVar& changed = changed_[run_id];
  changed.NotifyAll();
  while (!active_[run_id]->ended && !closing_) changed.Wait(&mu_);
  return absl::OkStatus();
}

absl::Status RunRegistry::Steer(const std::string& run_id, const v1::SteerRunRequest& request,
                                absl::Duration patience) {
  const auto change = std::make_shared<Change>();
  change->request = request;
  const absl::Time give_up = parts_.clock->SteadyNow() + patience;
  MutexLock lock(&mu_);
  auto it = active_.find(run_id);
  if (it == active_.end() || it->second->ended) {
    return absl::FailedPreconditionError(
        absl::StrCat("run ", run_id, " has ended; resume it first (ksearch resume)"));
  }
  ActiveRun* const active = it->second.get();
  active->changes.push_back(change);
  CondVar& changed = changed_[run_id];
  changed.NotifyAll();
  while (!change->outcome.has_value() && !closing_) {
    // The run ended, or was even resumed, before the change was made.
    it = active_.find(run_id);
    if (it->second.get() != active || active->ended) {
      return absl::FailedPreconditionError(absl::StrCat("run ", run_id, " has just ended"));
    }
    const absl::Duration left = give_up - parts_.clock->SteadyNow();
    if (left <= absl::ZeroDuration()) {
      auto& waiting = active->changes;
      waiting.erase(std::remove(waiting.begin(), waiting.end(), change), waiting.end());
      return absl::UnavailableError(absl::StrCat("run ", run_id, " is busy (",
                                                 active->begun ? "in a step" : "it has not begun",
                                                 "): send the same request again"));
    }
    changed.WaitFor(&mu_, left);
  }
  if (change->outcome.has_value()) return *change->outcome;
  return absl::UnavailableError("the coordinator is shutting down");
}

absl::Status RunRegistry::Resume(const std::string& run_id, int rounds, const v1::Budget& budget) {
  ASSIGN_OR_RETURN(const RunRow row, parts_.store->ReadRun(run_id));
  if (rounds > kMaxRounds) {
    return absl::InvalidArgumentError(
        absl::StrCat("rounds is ", rounds, ", must be at most ", kMaxRounds));
  }
  if (rounds < 0 || (rounds > 0 && rounds < row.status.rounds_done())) {
    return absl::InvalidArgumentError(absl::StrCat("rounds is ", rounds, ", but ",
                                                   row.status.rounds_done(), " are done already"));
  }
  if (row.status.state() == v1::RUN_STATE_FINISHED && rounds <= row.status.rounds_total()) {
    return absl::FailedPreconditionError(
        absl::StrCat("run ", run_id, " is finished (", row.status.reason(),
                     "); give a budget above ", row.status.rounds_total(), " rounds to continue"));
  }
  // A call to a missing provider would end the run as failed.
  for (const v1::ModelUse& use : AllUses(row.config)) {
    if (const auto model = parts_.models->DefaultModel(use.provider()); !model.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("run ", run_id, " cannot continue: ", std::string(model.status().message()),
                       "; fix the coordinator's configuration, restart it, then resume the run"));
    }
  }
  ASSIGN_OR_RETURN(const RunCaps caps, ReadCaps(budget));
  if (row.status.state() == v1::RUN_STATE_OUT_OF_BUDGET && budget.ByteSizeLong() == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("run ", run_id, " is out of budget (", row.status.reason(),
                     "); give a larger cap to continue, e.g. --budget-usd"));
  }
  if (caps.caps_money()) {
    for (const v1::ResolvedPrice& price : row.config.resolved_prices().prices()) {
      if (price.basis() != "unknown") continue;
      return absl::FailedPreconditionError(
          absl::StrCat("run ", run_id, " was started without a known price of model '",
                       price.model(), "' of provider '", price.provider(),
                       "', so a money cap cannot hold; cap its calls or "
                       "tokens, or start a new run with --price"));
    }
    if (row.config.resolved_prices().prices_size() == 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          "run ", run_id, " was started by a version without prices; cap its calls or tokens"));
    }
  }
  RETURN_IF_ERROR(Launch(run_id, {rounds, budget}));
  // Waits until the run counts as running for later requests.
  const absl::Time give_up = parts_.clock->SteadyNow() + kLongestBegin;
  MutexLock lock(&mu_);
  while (!closing_) {
    const ActiveRun& active = *active_[run_id];  // another call may have resumed it meanwhile
    if (active.begun || active.ended) break;
    const absl::Duration left = give_up - parts_.clock->SteadyNow();
    if (left <= absl::ZeroDuration()) break;
    active.changed->WaitFor(&mu_, left);
  }
  return absl::OkStatus();
}

RunRegistry::Standing RunRegistry::standing() {
  Standing standing;
  MutexLock lock(&mu_);
  for (const auto& [id, active] : active_) {
    standing.any_yet = true;
    if (active->ended) continue;
    ++standing.active;
    standing.all_wait = standing.all_wait && active->waiting && !active->wake && !active->stop;
    const SearchRun::Awaited& awaited = active->awaited;
    standing.awaited.calls.insert(standing.awaited.calls.end(), awaited.calls.begin(),
                                  awaited.calls.end());
    standing.awaited.evaluations += awaited.evaluations;
  }
  return standing;
}

void RunRegistry::Wake(const std::string& run_id) {
  MutexLock lock(&mu_);
  const auto it = active_.find(run_id);
  if (it == active_.end()) return;
  it->second->wake = true;
  it->second->changed->NotifyAll();
}

int64_t RunRegistry::WaitForStep(const std::string& run_id, int64_t seen, absl::Duration timeout) {
  const absl::Time deadline = parts_.clock->SteadyNow() + timeout;
  MutexLock lock(&mu_);
  CondVar& changed = changed_[run_id];
  while (true) {
    // A run without a thread takes no step, but may be resumed meanwhile.
    const auto it = active_.find(run_id);
    const int64_t steps = it == active_.end() ? seen : it->second->steps;
    const absl::Duration left = deadline - parts_.clock->SteadyNow();
    if (steps > seen || closing_ || left <= absl::ZeroDuration()) return steps;
    changed.WaitFor(&mu_, left);
  }
}

}  // namespace ksearch
