#include "coordinator/engine/run_registry.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/kernel_header.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/engine/run_settings.h"
#include "coordinator/search/strategy_factory.h"

namespace ksearch {
namespace {

bool HasLanguage(const v1::Task& task, v1::Language language) {
  const auto in = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const v1::Sources& sources) { return sources.language() == language; });
  };
  return in(task.references()) && in(task.baselines());
}

}  // namespace

RunRegistry::RunRegistry(Parts parts) : parts_(std::move(parts)) {}

RunRegistry::~RunRegistry() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(&mu_);
    closing_ = true;
    for (auto& [id, active] : active_) threads.push_back(std::move(active->thread));
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads) {
    if (thread.joinable()) thread.join();
  }
}

absl::Status RunRegistry::ResumeInterrupted() {
  ASSIGN_OR_RETURN(const auto runs, parts_.store->ListRuns());
  for (const v1::RunStatus& run : runs) {
    if (run.state() != v1::RUN_STATE_RUNNING && run.state() != v1::RUN_STATE_STOPPING) continue;
    const absl::Status status = Launch(run.run_id(), 0);
    LOG(INFO) << "run=" << run.run_id() << " taken up: " << status.ToString();
    // Left RUNNING without a thread it could neither be stopped nor end.
    if (!status.ok()) RecordFailure(run.run_id(), status);
  }
  return absl::OkStatus();
}

absl::StatusOr<SearchContext> RunRegistry::LoadContext(const RunRow& row, int rounds) const {
  const v1::RunConfig& config = row.config;
  SearchContext context;
  context.config = config;
  v1::RunEngineState state;
  if (!state.ParseFromString(row.state)) {
    return absl::DataLossError(absl::StrCat("state of run ", row.run_id, " is unreadable"));
  }
  if (rounds == 0) rounds = state.rounds();
  if (rounds > 0) context.config.set_rounds(rounds);
  if (!state.task_sha256().empty()) {
    // The task as it was when the run began, whatever its files say now.
    ASSIGN_OR_RETURN(const std::string bytes, parts_.store->ReadBlob(state.task_sha256()));
    if (!context.task.ParseFromString(bytes)) return absl::DataLossError("task blob unreadable");
  } else {
    ASSIGN_OR_RETURN(context.task, parts_.tasks->Load(config.task()));
  }
  if (!HasLanguage(context.task, config.language())) {
    return absl::FailedPreconditionError(absl::StrCat("task ", context.task.name(),
                                                      " has no reference and baseline in ",
                                                      v1::Language_Name(config.language())));
  }
  ASSIGN_OR_RETURN(context.kernel_header,
                   KernelHeader(context.task.definition(), context.task.device()));
  context.target_hardware = config.target_hardware();
  return context;
}

absl::StatusOr<std::string> RunRegistry::Start(const std::string& request_id,
                                               const v1::RunConfig& request) {
  if (request_id.empty() || request_id.size() > 128) {
    return absl::InvalidArgumentError("request_id must have 1 to 128 characters");
  }
  ASSIGN_OR_RETURN(v1::RunConfig config, CompleteRunConfig(request, parts_.defaults));
  ASSIGN_OR_RETURN(const std::string model, parts_.models->DefaultModel(config.provider()));
  if (config.model().empty()) config.set_model(model);
  if (config.model().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("model is missing: give --model, or default_model of provider '",
                     config.provider(), "' in the coordinator's config"));
  }
  if (config.target_hardware().empty()) config.set_target_hardware(parts_.target_hardware());
  if (!config.replay_order_of().empty()) {
    ASSIGN_OR_RETURN(*config.mutable_replay_order_of(),
                     parts_.store->ResolveRun(config.replay_order_of()));
  }
  RunRow row;
  row.config = config;
  ASSIGN_OR_RETURN(const SearchContext context, LoadContext(row, 0));
  RETURN_IF_ERROR(MakeStrategy(context).status());

  row.run_id = absl::StrCat(config.task(), "-", RandomHex(3));
  row.request_id = request_id;
  row.status.set_run_id(row.run_id);
  row.status.set_state(v1::RUN_STATE_RUNNING);
  row.status.set_task(config.task());
  row.status.set_language(config.language());
  row.status.set_strategy(config.strategy());
  row.status.set_provider(config.provider());
  row.status.set_model(config.model());
  row.status.set_rounds_total(config.rounds());
  *row.status.mutable_started_at() = ToProto(parts_.clock->Now());
  ASSIGN_OR_RETURN(const std::string run_id, parts_.store->CreateRun(row));
  if (run_id != row.run_id) return run_id;
  const absl::Status launched = Launch(run_id, 0);
  if (launched.ok()) return run_id;
  RecordFailure(run_id, launched);
  return launched;
}

absl::StatusOr<std::unique_ptr<SearchRun>> RunRegistry::LoadRun(const std::string& run_id,
                                                                int rounds) const {
  ASSIGN_OR_RETURN(const RunRow row, parts_.store->ReadRun(run_id));
  ASSIGN_OR_RETURN(SearchContext context, LoadContext(row, rounds));
  ASSIGN_OR_RETURN(std::unique_ptr<SearchStrategy> strategy, MakeStrategy(context));
  std::vector<std::string> order;
  if (!row.config.replay_order_of().empty()) {
    ASSIGN_OR_RETURN(order, RecordedOrder(parts_.store, row.config.replay_order_of()));
  }
  return SearchRun::Create({parts_.store, parts_.jobs, parts_.models, parts_.clock}, row,
                           std::move(context), std::move(strategy), std::move(order));
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
    step.status.set_reason(absl::StrCat("cannot be taken up: ", std::string(why.message())));
    *step.status.mutable_ended_at() = now;
    v1::RunEvent& event = step.events.emplace_back();
    event.set_kind(v1::RunEvent::RUN_ENDED);
    event.set_text(absl::StrCat("failed: ", step.status.reason()));
    *event.mutable_at() = now;
    status = parts_.store->CommitStep(step);
  }
  if (!status.ok()) LOG(ERROR) << "run=" << run_id << " end not recorded: " << status.ToString();
}

absl::Status RunRegistry::Launch(const std::string& run_id, int rounds) {
  // One at a time: what LoadRun read stays true until the thread has it.
  MutexLock launching(&launch_mu_);
  {
    MutexLock lock(&mu_);
    const auto it = active_.find(run_id);
    if (it != active_.end() && !it->second->ended) return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(std::unique_ptr<SearchRun> run, LoadRun(run_id, rounds));
  std::thread old;
  {
    MutexLock lock(&mu_);
    if (closing_) return absl::UnavailableError("the coordinator is shutting down");
    std::unique_ptr<ActiveRun>& slot = active_[run_id];
    const int64_t steps = slot == nullptr ? 0 : slot->steps;
    if (slot != nullptr) old = std::move(slot->thread);
    slot = std::make_unique<ActiveRun>();
    slot->steps = steps;
    ActiveRun* active = slot.get();
    slot->thread = std::thread([this, run_id, active, owned = std::move(run)]() mutable {
      Loop(run_id, active, std::move(owned));
    });
  }
  if (old.joinable()) old.join();
  return absl::OkStatus();
}

void RunRegistry::Loop(const std::string& run_id, ActiveRun* active,
                       std::unique_ptr<SearchRun> run) {
  absl::Status status = run->Begin();
  bool ended = false;
  while (status.ok() && !ended) {
    const absl::StatusOr<SearchRun::Progress> progress = run->FoldNext();
    status = progress.status();
    if (!status.ok()) break;
    ended = *progress == SearchRun::Progress::kEnded;
    MutexLock lock(&mu_);
    ++active->steps;
    changed_.NotifyAll();
    if (*progress == SearchRun::Progress::kWaiting) {
      while (!active->wake && !active->stop && !closing_) changed_.Wait(&mu_);
      active->wake = false;
    }
    if (closing_ || active->stop) break;
  }
  bool stop = false;
  {
    MutexLock lock(&mu_);
    stop = active->stop;
  }
  if (!status.ok()) {
    LOG(ERROR) << "run=" << run_id << " failed: " << status.ToString();
    status = run->End(v1::RUN_STATE_FAILED, status.ToString());
  } else if (stop && !ended) {
    status = run->End(v1::RUN_STATE_STOPPED, "by request");
  }
  if (!status.ok()) LOG(ERROR) << "run=" << run_id << " end not recorded: " << status.ToString();
  MutexLock lock(&mu_);
  active->ended = true;
  ++active->steps;
  changed_.NotifyAll();
}

absl::Status RunRegistry::Stop(const std::string& run_id) {
  MutexLock lock(&mu_);
  const auto it = active_.find(run_id);
  if (it == active_.end()) return absl::OkStatus();
  it->second->stop = true;
  changed_.NotifyAll();
  while (!active_[run_id]->ended && !closing_) changed_.Wait(&mu_);
  return absl::OkStatus();
}

absl::Status RunRegistry::Resume(const std::string& run_id, int rounds) {
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
                     "); give a budget above ", row.status.rounds_total(), " rounds to go on"));
  }
  return Launch(run_id, rounds);
}

void RunRegistry::Wake(const std::string& run_id) {
  MutexLock lock(&mu_);
  const auto it = active_.find(run_id);
  if (it == active_.end()) return;
  it->second->wake = true;
  changed_.NotifyAll();
}

int64_t RunRegistry::WaitForStep(const std::string& run_id, int64_t seen, absl::Duration timeout) {
  const absl::Time deadline = parts_.clock->SteadyNow() + timeout;
  MutexLock lock(&mu_);
  while (true) {
    // A run without a thread takes no step, but may be taken up meanwhile.
    const auto it = active_.find(run_id);
    const int64_t steps = it == active_.end() ? seen : it->second->steps;
    const absl::Duration left = deadline - parts_.clock->SteadyNow();
    if (steps > seen || closing_ || left <= absl::ZeroDuration()) return steps;
    changed_.WaitFor(&mu_, left);
  }
}

}  // namespace ksearch
