#include "coordinator/service/worker_gateway.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/task_fault.h"
#include "common/textproto.h"
#include "coordinator/scheduler/platform_choice.h"
#include "coordinator/service/access/worker_authority.h"
#include "coordinator/service/fleet_events.h"
#include "coordinator/service/request_check.h"

namespace ksearch {
namespace {

// How often to retry writing a WORKER_LOST ending that the store refused.
constexpr absl::Duration kRewriteEvery = absl::Seconds(1);

JobScheduler::Options WithEpoch(JobScheduler::Options options) {
  if (options.epoch.empty()) options.epoch = RandomHex(6);
  return options;
}

// Reports a difference that a person should know about; leases and certificates use durations, but
// the machine's records and logs use its clock.
std::string ClockText(absl::Duration ahead) {
  if (absl::AbsDuration(ahead) < absl::Minutes(1)) return "";
  return absl::StrCat("; its clock is ",
                      absl::FormatDuration(absl::Trunc(absl::AbsDuration(ahead), absl::Seconds(1))),
                      ahead > absl::ZeroDuration() ? " ahead" : " behind");
}

void LogFailedAttempt(const std::string& job_id, const absl::Status& status) {
  if (!status.ok()) {
    LOG(WARNING) << "msg=\"attempt not recorded\" job_id=" << job_id << " error=\"" << status
                 << "\"";
  }
}

}  // namespace

WorkerGateway::WorkerGateway(Options options, Store* store, const Clock* clock)
    : options_(std::move(options)),
      store_(store),
      clock_(clock),
      scheduler_(MakeJobScheduler(WithEpoch(options_.scheduler))),
      ticker_([this] { TickLoop(); }) {}

WorkerGateway::~WorkerGateway() { Shutdown(); }

void WorkerGateway::Restore(const std::vector<QueuedJob>& unfinished,
                            std::map<std::string, std::string> owners,
                            const std::vector<TaskFaultRow>& task_faults) {
  MutexLock lock(&mu_);
  for (const QueuedJob& job : unfinished) {
    open_jobs_[job.job_id] = {
        job.spec.task_sha256(), job.spec.platform(), job.worker_of_lease, {clock_->Now(), ""}};
  }
  earlier_owners_ = std::move(owners);
  for (const TaskFaultRow& fault : task_faults) {
    scheduler_->RememberResult(fault.spec, fault.result);
  }
}

void WorkerGateway::Submit(const std::string& job_id, const v1::JobSpec& spec, int attempts,
                           const std::string& run_id) {
  std::vector<GivenUp> given_up;
  {
    MutexLock lock(&mu_);
    if (shut_down_) return;
    if (scheduler_->State(job_id).phase != JobState::Phase::kDone) {
      const auto [job, fresh] = open_jobs_.try_emplace(job_id);
      job->second.task_sha256 = spec.task_sha256();
      job->second.platform = spec.platform();
      if (fresh) job->second.facts.since = clock_->Now();
    }
    if (scheduler_->State(job_id).phase == JobState::Phase::kUnknown) {
      v1::FleetEvent event;
      event.set_kind(v1::FleetEvent::JOB_QUEUED);
      event.set_job_id(job_id);
      event.set_job_kind(spec.kind());
      event.set_task(spec.task_name());
      Tell(std::move(event));
    }
    Apply(scheduler_->SubmitFor(run_id, job_id, spec, attempts, clock_->SteadyNow()), &given_up);
  }
  WriteWorkerLost(given_up);
}

void WorkerGateway::SetPriority(const std::string& run_id, int priority) {
  MutexLock lock(&mu_);
  scheduler_->SetPriority(run_id, priority);
}

void WorkerGateway::Cancel(const std::string& job_id) {
  std::vector<GivenUp> given_up;
  {
    MutexLock lock(&mu_);
    if (shut_down_) return;
    Apply(scheduler_->Cancel(job_id), &given_up);
  }
  WriteWorkerLost(given_up);
}

void WorkerGateway::End(const std::string& job_id, v1::Outcome outcome,
                        const std::string& message) {
  std::vector<GivenUp> given_up;
  {
    MutexLock lock(&mu_);
    if (shut_down_) return;
    Apply(scheduler_->Cancel(job_id), &given_up);
  }
  given_up.push_back({job_id, /*attempts=*/0, message, outcome});
  WriteWorkerLost(given_up);
}

void WorkerGateway::ForgetDone(const std::vector<std::string>& job_ids) {
  MutexLock lock(&mu_);
  for (const std::string& job_id : job_ids) scheduler_->ForgetDone(job_id);
}

JobState WorkerGateway::State(const std::string& job_id) const {
  MutexLock lock(&mu_);
  return scheduler_->State(job_id);
}

WorkerGateway::JobFacts WorkerGateway::FactsOf(const std::string& job_id) const {
  MutexLock lock(&mu_);
  const auto job = open_jobs_.find(job_id);
  return job == open_jobs_.end() ? JobFacts{clock_->Now(), ""} : job->second.facts;
}

bool WorkerGateway::CanPlace(const v1::JobSpec& spec) const {
  MutexLock lock(&mu_);
  return scheduler_->CanPlace(spec);
}

std::vector<v1::Platform> WorkerGateway::PlatformsFor(const v1::JobSpec& spec) const {
  std::vector<v1::WorkerHello> staying;
  MutexLock lock(&mu_);
  for (const auto& [id, worker] : workers_) {
    const v1::WorkerReport& report = worker.status.report();
    const bool unwell = report.has_health() && !report.health().healthy();
    if (worker.link == nullptr || unwell || report.draining()) continue;
    staying.push_back(worker.status.hello());
  }
  return ksearch::PlatformsFor(staying, spec);
}

void WorkerGateway::NoteWanted(const v1::JobSpec& spec, const std::string& caller) {
  MutexLock lock(&mu_);
  wanted_.Note(RequirementOf(spec), caller, clock_->SteadyNow());
}

v1::DemandReply WorkerGateway::Demand() {
  v1::DemandReply reply;
  std::vector<RequirementDemand> demands;
  std::map<Requirement, int> waiting;
  {
    MutexLock lock(&mu_);
    const absl::Time now = clock_->SteadyNow();
    waiting = wanted_.Waiting(now);
    std::vector<Requirement> also;
    for (const auto& [requirement, callers] : waiting) also.push_back(requirement);
    demands = scheduler_->Demand(also, now);
    reply.set_idle_slots(scheduler_->idle_slots());
  }
  for (const RequirementDemand& one : demands) {
    v1::Demand* demand = reply.add_demands();
    v1::WorkerRequirement* requirement = demand->mutable_requirement();
    requirement->set_device_class(one.requirement.device);
    requirement->set_device_model(one.requirement.device_model);
    requirement->set_architecture(one.requirement.architecture.empty()
                                      ? one.requirement.device_architecture
                                      : one.requirement.architecture);
    for (const int language : one.requirement.languages) {
      requirement->add_languages(static_cast<v1::Language>(language));
    }
    requirement->set_build_only(one.requirement.build_only);
    requirement->set_harness_version(one.requirement.harness_version);
    requirement->set_toolkit(one.requirement.toolkit);
    demand->set_queued(one.queued);
    *demand->mutable_oldest() = ToProto(one.oldest);
    demand->set_leased(one.leased);
    *demand->mutable_expected_time() = ToProto(one.expected_time);
    *demand->mutable_longest_job() = ToProto(one.longest_job);
    demand->set_waiting_callers(waiting[one.requirement]);
    demand->set_workers(one.workers);
    demand->set_free_slots(one.free_slots);
    demand->set_too_short(one.too_short);
    demand->set_busy_slots(one.busy_slots);
  }
  return reply;
}

int WorkerGateway::queued() const {
  MutexLock lock(&mu_);
  return scheduler_->queued();
}

int WorkerGateway::leased() const {
  MutexLock lock(&mu_);
  return scheduler_->leased();
}

void WorkerGateway::SetResultListener(ResultListener listener) { listener_ = std::move(listener); }

std::vector<v1::WorkerStatus> WorkerGateway::Workers() const {
  MutexLock lock(&mu_);
  std::vector<v1::WorkerStatus> workers;
  workers.reserve(workers_.size());
  for (const auto& [id, worker] : workers_) {
    workers.push_back(worker.status);
    workers.back().set_connected(worker.link != nullptr);
  }
  return workers;
}

absl::Status WorkerGateway::Drain(const std::string& worker_id,
                                  std::optional<absl::Duration> grace) {
  std::vector<GivenUp> given_up;
  {
    MutexLock lock(&mu_);
    if (!workers_.contains(worker_id)) {
      return absl::NotFoundError(
          absl::StrCat("no worker ", worker_id, "; `ksearch workers` lists those known"));
    }
    scheduler_->Drain(worker_id, grace);
    SchedulerEffects effects;
    effects.workers_to_wake.push_back(worker_id);
    Apply(std::move(effects), &given_up);
  }
  LOG(INFO) << "msg=\"worker asked to drain\" worker=" << worker_id;
  WriteWorkerLost(given_up);
  return absl::OkStatus();
}

void WorkerGateway::Shutdown() {
  {
    MutexLock lock(&mu_);
    shut_down_ = true;
    changed_.NotifyAll();
    for (auto& [id, worker] : workers_) {
      if (worker.link != nullptr) {
        worker.link->End(absl::UnavailableError("the coordinator is shutting down"));
        worker.link = nullptr;
      }
    }
    while (writes_ > 0) changed_.Wait(&mu_);
  }
  if (ticker_.joinable()) ticker_.join();
  blocking_.Stop();
}

absl::Status WorkerGateway::BeginSession(const v1::WorkerHello& said, WorkerLink* link,
                                         const WorkerIdentity& identity) {
  v1::WorkerHello hello = said;
  if (!identity.certified_name.empty()) hello.set_name(identity.certified_name);
  const absl::Status status = CheckHello(hello);
  if (!status.ok()) {
    LOG(WARNING) << "msg=\"worker refused\" worker=" << hello.worker_id().substr(0, 64)
                 << " reason=\"" << status.message() << "\"";
    MutexLock lock(&mu_);
    if (refusal_listener_) refusal_listener_(hello.name(), status);
    return status;
  }
  bool restarted = false;
  absl::Duration ahead;
  std::vector<GivenUp> given_up;
  {
    MutexLock lock(&mu_);
    if (shut_down_) return absl::UnavailableError("the coordinator is shutting down");
    if (const absl::Status known = CheckIdentity(hello, identity); !known.ok()) {
      if (refusal_listener_) refusal_listener_(hello.name(), known);
      return known;
    }
    earlier_owners_.erase(hello.worker_id());
    Worker& worker = workers_[hello.worker_id()];
    worker.identity = identity;
    worker.free_for_all = false;
    if (worker.link != nullptr) {
      worker.link->End(
          absl::AbortedError("a newer session of this worker_id took over; if two workers share a "
                             "state_dir, give each its own"));
    }
    restarted =
        worker.status.has_hello() && worker.status.hello().incarnation() != hello.incarnation();
    worker.link = link;
    worker.status.set_worker_id(hello.worker_id());
    worker.status.set_name(hello.name());
    *worker.status.mutable_hello() = hello;
    worker.status.clear_report();
    worker.status.clear_clock_ahead();
    if (hello.has_sent_at()) {
      ahead = FromProto(hello.sent_at()) - clock_->Now();
      *worker.status.mutable_clock_ahead() = ToProto(ahead);
    }
    worker.status.clear_join_token_id();
    worker.status.clear_certificate_ends();
    if (identity.joined.has_value()) {
      worker.status.set_join_token_id(identity.joined->token_id);
      *worker.status.mutable_certificate_ends() = ToProto(identity.joined->ends);
    }
    v1::FleetEvent event;
    event.set_kind(v1::FleetEvent::WORKER_JOINED);
    event.set_worker_id(hello.worker_id());
    event.set_text(absl::StrCat(hello.devices_size(), " kinds of devices, version ",
                                hello.version().substr(0, 64), ClockText(ahead)));
    Tell(std::move(event));
    Apply(scheduler_->Hello(hello, clock_->SteadyNow()), &given_up);
  }
  LOG(INFO) << "msg=\"worker joined\" worker=" << hello.worker_id()
            << " name=" << hello.name().substr(0, 64) << " restarted=" << restarted;
  if (!ClockText(ahead).empty()) {
    LOG(WARNING) << "msg=\"the worker's clock and this one differ\" worker=" << hello.worker_id()
                 << " ahead=" << ahead;
  }
  WriteWorkerLost(given_up);
  NoteSeen(hello, identity.Owner());
  return absl::OkStatus();
}

absl::Status WorkerGateway::Report(const std::string& worker_id, WorkerLink* link,
                                   const v1::WorkerReport& said) {
  const absl::Status status = CheckReport(said);
  if (!status.ok()) return status;
  v1::WorkerReport report = said;
  std::vector<GivenUp> given_up;
  {
    MutexLock lock(&mu_);
    const auto it = workers_.find(worker_id);
    if (it == workers_.end() || it->second.link != link) return absl::OkStatus();
    Worker& worker = it->second;
    if (!worker.identity.Owner().empty()) DisownForeignLeases(worker_id, &report);
    for (v1::FleetEvent& event : ReportedEvents(worker.status.report(), report)) {
      event.set_worker_id(worker_id);
      Tell(std::move(event));
    }
    *worker.status.mutable_report() = report;
    *worker.status.mutable_last_report_at() = ToProto(clock_->Now());
    v1::WorkerDown down;
    SchedulerEffects effects = scheduler_->Sync(worker_id, report, clock_->SteadyNow(), &down);
    if (down.directive_seq() > 0) link->Send(down);
    Apply(std::move(effects), &given_up);
  }
  WriteWorkerLost(given_up);
  return absl::OkStatus();
}

void WorkerGateway::EndSession(const std::string& worker_id, WorkerLink* link) {
  v1::WorkerHello hello;
  std::string owner;
  {
    MutexLock lock(&mu_);
    const auto it = workers_.find(worker_id);
    if (it == workers_.end() || it->second.link != link) return;
    it->second.link = nullptr;
    it->second.gone_since = clock_->SteadyNow();
    hello = it->second.status.hello();
    owner = it->second.identity.Owner();
    scheduler_->Disconnect(worker_id, hello.incarnation());
    v1::FleetEvent event;
    event.set_kind(v1::FleetEvent::WORKER_LEFT);
    event.set_worker_id(worker_id);
    Tell(std::move(event));
  }
  LOG(INFO) << "msg=\"worker left\" worker=" << worker_id;
  NoteSeen(hello, owner);
}

void WorkerGateway::EndSessionsOf(const std::string& token_id) {
  MutexLock lock(&mu_);
  std::erase_if(earlier_owners_, [owner = WorkerIdentity::OfToken(token_id)](const auto& entry) {
    return entry.second == owner;
  });
  for (auto& [id, worker] : workers_) {
    if (worker.identity.token_id != token_id) continue;
    worker.free_for_all = worker.identity.Owner() == WorkerIdentity::OfToken(token_id);
    CloseSession(&worker,
                 absl::UnauthenticatedError(absl::StrCat(
                     "token ", token_id, " is no longer good: it was revoked or has expired")));
  }
}

void WorkerGateway::EndSessionOfWorker(const std::string& worker_id) {
  MutexLock lock(&mu_);
  const auto it = workers_.find(worker_id);
  if (it == workers_.end() || !it->second.identity.joined.has_value()) return;
  CloseSession(&it->second,
               absl::PermissionDeniedError(absl::StrCat("worker ", worker_id, " was revoked")));
}

void WorkerGateway::EndOutlived() {
  const absl::Time now = clock_->Now();
  for (auto& [id, worker] : workers_) {
    if (worker.link == nullptr || !worker.identity.joined.has_value() ||
        worker.identity.joined->ends > now) {
      continue;
    }
    worker.link->End(absl::UnavailableError("the worker's certificate has ended; it may renew it"));
  }
}

absl::Status WorkerGateway::CheckIdentity(const v1::WorkerHello& hello,
                                          const WorkerIdentity& identity) const {
  RETURN_IF_ERROR(CheckPool(identity.token_id, identity.pool, hello.pool()));
  if (identity.joined.has_value() && identity.joined->worker_id != hello.worker_id()) {
    return absl::PermissionDeniedError(absl::StrCat("the certificate is of worker ",
                                                    identity.joined->worker_id, ", not of ",
                                                    hello.worker_id()));
  }
  const std::string owner = OwnerOf(hello.worker_id());
  if (owner.empty() || owner == identity.Owner()) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "worker_id ", hello.worker_id(),
      " belongs to a worker with other credentials: give each worker a state_dir of its own; if "
      "this is the same worker with a new token, revoke its old one first"));
}

void WorkerGateway::NoteRefused(const std::string& worker_name, const absl::Status& why) {
  MutexLock lock(&mu_);
  if (refusal_listener_) refusal_listener_(worker_name, why);
}

void WorkerGateway::CloseSession(Worker* worker, const absl::Status& why) {
  if (worker->link == nullptr) return;
  worker->link->End(why);
  if (refusal_listener_) refusal_listener_(worker->status.name(), why);
}

std::string WorkerGateway::OwnerOf(const std::string& worker_id) const {
  if (const auto it = workers_.find(worker_id); it != workers_.end()) {
    return it->second.free_for_all ? "" : it->second.identity.Owner();
  }
  const auto it = earlier_owners_.find(worker_id);
  return it == earlier_owners_.end() ? "" : it->second;
}

void WorkerGateway::DisownForeignLeases(const std::string& worker_id,
                                        v1::WorkerReport* report) const {
  for (v1::HeldLease& held : *report->mutable_leases()) {
    const auto job = open_jobs_.find(held.job_id());
    if (job == open_jobs_.end()) continue;
    const auto lease = job->second.worker_of_lease.find(held.lease_id());
    if (lease == job->second.worker_of_lease.end() || lease->second != worker_id) {
      held.clear_job_id();
    }
  }
}

void WorkerGateway::Apply(SchedulerEffects effects, std::vector<GivenUp>* given_up) {
  std::vector<std::string> to_wake;
  while (true) {
    WriteAttempts(effects);
    for (GivenUp& job : effects.worker_lost_jobs) given_up->push_back(std::move(job));
    for (GivenUp& job : effects.faulty_task_jobs) given_up->push_back(std::move(job));
    for (std::string& id : effects.workers_to_wake) to_wake.push_back(std::move(id));
    effects = {};
    bool sent = false;
    while (!sent && !to_wake.empty()) {
      const std::string worker_id = std::move(to_wake.back());
      to_wake.pop_back();
      const auto it = workers_.find(worker_id);
      if (it == workers_.end() || it->second.link == nullptr) continue;
      v1::WorkerDown down;
      sent = scheduler_->Poll(worker_id, clock_->SteadyNow(), &down, &effects);
      if (sent) it->second.link->Send(down);
    }
    // A worker that gets no message may still have left jobs to idler ones.
    if (!sent && effects.workers_to_wake.empty()) return;
  }
}

// The rows are posted under the lock so that they reach the store in the order of events. Posting
// does not block and the callbacks take no lock.
void WorkerGateway::WriteAttempts(const SchedulerEffects& effects) {
  for (const AttemptStarted& started : effects.started) {
    AttemptRow row;
    row.job_id = started.job_id;
    row.attempt = started.attempt;
    row.worker_id = started.worker_id;
    row.lease_id = started.lease_id;
    if (const auto job = open_jobs_.find(started.job_id); job != open_jobs_.end()) {
      job->second.worker_of_lease[started.lease_id] = started.worker_id;
    }
    v1::FleetEvent event;
    event.set_kind(v1::FleetEvent::LEASE_STARTED);
    event.set_job_id(started.job_id);
    event.set_lease_id(started.lease_id);
    event.set_worker_id(started.worker_id);
    event.set_attempt(started.attempt);
    Tell(std::move(event));
    store_->RecordAttempt(row, [job_id = row.job_id](const absl::Status& status) {
      LogFailedAttempt(job_id, status);
    });
  }
  for (const AttemptEnded& ended : effects.ended) {
    if (const auto job = open_jobs_.find(ended.job_id); job != open_jobs_.end()) {
      job->second.facts.last_trouble =
          absl::StrCat(ended.ended, " by ", ended.worker_id, ": ", ended.note);
    }
    v1::FleetEvent event;
    event.set_kind(v1::FleetEvent::LEASE_ENDED);
    event.set_job_id(ended.job_id);
    event.set_lease_id(ended.lease_id);
    event.set_worker_id(ended.worker_id);
    event.set_attempt(ended.attempt);
    event.set_text(absl::StrCat(ended.ended, ended.note.empty() ? "" : ": ", ended.note));
    Tell(std::move(event));
    AttemptRow row;
    row.job_id = ended.job_id;
    row.attempt = ended.attempt;
    row.worker_id = ended.worker_id;
    row.lease_id = ended.lease_id;
    row.ended = ended.ended;
    row.note = ended.note;
    store_->RecordAttempt(row, [job_id = row.job_id](const absl::Status& status) {
      LogFailedAttempt(job_id, status);
    });
    LOG(INFO) << "msg=\"attempt ended\" how=" << ended.ended << " job_id=" << ended.job_id
              << " attempt=" << ended.attempt << " worker=" << ended.worker_id << " note=\""
              << ended.note << "\"";
  }
}

void WorkerGateway::WriteWorkerLost(const std::vector<GivenUp>& given_up) {
  for (const GivenUp& job : given_up) {
    v1::JobResult result;
    result.set_job_id(job.job_id);
    result.set_attempt(job.attempts);
    result.set_outcome(job.outcome);
    result.set_message(job.outcome == v1::OUTCOME_WORKER_LOST
                           ? absl::StrCat("given up after ", job.attempts, " attempts; ", job.note)
                           : job.note);
    if (job.outcome == v1::OUTCOME_TASK_ERROR) result.set_at_fault(std::string(kTaskAtFault));
    *result.mutable_finished_at() = ToProto(clock_->Now());
    if (!BeginWrite()) return;  // the job is unfinished in the store and starts over
    store_->RecordResult(
        result, /*lease_id=*/"",
        [this, job, result](const absl::StatusOr<v1::RecordResultReply::Disposition>& written) {
          if (written.ok()) {
            OnRecorded(result, "", *written);
          } else {
            LOG(WARNING) << "msg=\"ending not recorded, trying again\" job_id=" << job.job_id
                         << " error=\"" << written.status() << "\"";
            MutexLock lock(&mu_);
            unwritten_.push_back(job);
          }
          EndWrite();
        });
  }
}

void WorkerGateway::OnRecorded(const v1::JobResult& result, const std::string& lease_id,
                               v1::RecordResultReply::Disposition disposition) {
  std::vector<GivenUp> given_up;
  {
    MutexLock lock(&mu_);
    open_jobs_.erase(result.job_id());
    Apply(scheduler_->NoteResult(result.job_id(), result), &given_up);
    Apply(scheduler_->MarkDone(result.job_id(), lease_id), &given_up);
    if (disposition == v1::RecordResultReply::RECORDED) {
      const auto it = workers_.find(result.worker_id());
      if (it != workers_.end()) it->second.status.set_jobs_done(it->second.status.jobs_done() + 1);
      v1::FleetEvent event;
      event.set_kind(v1::FleetEvent::JOB_ENDED);
      event.set_job_id(result.job_id());
      event.set_lease_id(lease_id);
      event.set_worker_id(result.worker_id());
      event.set_attempt(result.attempt());
      event.set_outcome(result.outcome());
      if (result.stage_times().has_device_held()) {
        *event.mutable_device_time() = result.stage_times().device_held();
      }
      Tell(std::move(event));
    }
  }
  WriteWorkerLost(given_up);
  if (disposition == v1::RecordResultReply::RECORDED && listener_) listener_(result);
}

void WorkerGateway::NoteSeen(const v1::WorkerHello& hello, const std::string& owner) {
  blocking_.Post([this, hello, owner, seen = clock_->Now()] {
    const absl::Status status = store_->UpsertWorker(hello, owner, seen);
    if (!status.ok()) {
      LOG(WARNING) << "msg=\"worker not recorded\" worker=" << hello.worker_id() << " error=\""
                   << status << "\"";
    }
  });
}

void WorkerGateway::TickLoop() {
  absl::Time last_rewrite = clock_->SteadyNow();
  while (true) {
    std::vector<GivenUp> given_up;
    {
      MutexLock lock(&mu_);
      if (!shut_down_) changed_.WaitFor(&mu_, options_.tick);
      if (shut_down_) return;
      const absl::Time now = clock_->SteadyNow();
      Apply(scheduler_->Tick(now), &given_up);
      if (now - last_rewrite >= kRewriteEvery) {
        last_rewrite = now;
        given_up.insert(given_up.end(), unwritten_.begin(), unwritten_.end());
        unwritten_.clear();
        ForgetRetired();
        EndOutlived();
      }
    }
    WriteWorkerLost(given_up);
  }
}

// In an elastic fleet, records of workers that have left would fill the memory.
void WorkerGateway::ForgetRetired() {
  const absl::Time now = clock_->SteadyNow();
  for (auto it = workers_.begin(); it != workers_.end();) {
    const Worker& worker = it->second;
    if (worker.link != nullptr || now - worker.gone_since <= options_.retire_after) {
      ++it;
      continue;
    }
    const std::string owner = OwnerOf(it->first);
    if (!owner.empty()) earlier_owners_[it->first] = owner;
    it = workers_.erase(it);
  }
}

bool WorkerGateway::BeginWrite() {
  MutexLock lock(&mu_);
  if (shut_down_) return false;
  ++writes_;
  return true;
}

void WorkerGateway::EndWrite() {
  MutexLock lock(&mu_);
  if (--writes_ == 0) changed_.NotifyAll();
}

}  // namespace ksearch
