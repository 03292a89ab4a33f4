#include "coordinator/scheduler/leasing_scheduler.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// Done jobs remembered, so that a late Submit does not run them again (about 100 bytes each).
constexpr size_t kDoneRemembered = 100'000;

// A worker gone this long, with no lease left, is forgotten.
constexpr absl::Duration kForgetWorkerAfter = absl::Hours(1);

constexpr int kMaxNoteBytes = 512;

bool SaysItLeaves(const v1::HeldLease& held) {
  return held.return_reason() == v1::HeldLease::LEAVING;
}

// Returns true if the worker has no other device. "": no device is named.
bool HasOnly(const v1::WorkerHello& hello, const std::string& device_id) {
  return !device_id.empty() &&
         std::all_of(hello.devices().begin(), hello.devices().end(), [&](const auto& device) {
           return device.fingerprint().device_id() == device_id;
         });
}

}  // namespace

std::unique_ptr<JobScheduler> MakeJobScheduler(JobScheduler::Options options) {
  return std::make_unique<LeasingScheduler>(std::move(options));
}

LeasingScheduler::LeasingScheduler(Options options)
    : options_(std::move(options)), jitter_(options_.seed), times_(options_.default_job_time) {}

SchedulerEffects LeasingScheduler::SubmitFor(const std::string& run_id, const std::string& job_id,
                                             const v1::JobSpec& spec, int attempts,
                                             absl::Time now) {
  SchedulerEffects effects;
  now_ = std::max(now_, now);
  if (jobs_.contains(job_id) || done_.contains(job_id)) return effects;
  if (const std::string* fault = tasks_.FaultFor(spec); fault != nullptr) {
    EndAsFaulty(job_id, attempts, *fault, &effects);
    return effects;
  }
  if (queue_.size() == 0) turns_.Restart();
  Job& job = jobs_[job_id];
  job.spec = spec;
  job.requirement = RequirementOf(spec);
  const bool confirms = spec.kind() == v1::JOB_KIND_CONFIRM;
  job.turn =
      turns_.Next(run_id, confirms ? FairTurns::Line::kConfirmations : FairTurns::Line::kUsual,
                  times_.Expected(spec));
  job.since = now_;
  job.attempts = attempts;
  // Some of them may have been returned rather than lost, so one more try is always fair.
  job.earlier_losses = std::clamp(attempts, 0, options_.max_attempts - 1);
  if (attempts > 0) job.not_before = now_ + options_.adoption_grace;
  if (!spec.avoid_device_id().empty()) {
    for (const auto& [worker_id, worker] : workers_) {
      if (HasOnly(worker.hello(), spec.avoid_device_id())) job.avoided[worker_id].since = now_;
    }
  }
  Enqueue(job_id, job);
  WakeFor(job, now_, &effects);
  return effects;
}

SchedulerEffects LeasingScheduler::Cancel(const std::string& job_id) {
  SchedulerEffects effects;
  const auto it = jobs_.find(job_id);
  if (it == jobs_.end()) return effects;
  CancelLease(it->second, "the job was cancelled", &effects);
  Forget(job_id, /*done=*/false);
  return effects;
}

SchedulerEffects LeasingScheduler::MarkDone(const std::string& job_id,
                                            const std::string& lease_id) {
  SchedulerEffects effects;
  if (const Lease* lease = leases_.Find(lease_id); lease != nullptr && lease->job_id == job_id) {
    if (const auto worker = workers_.find(lease->worker_id); worker != workers_.end()) {
      worker->second.CountResult();
    }
    const std::string worker_id = lease->worker_id;
    leases_.Remove(lease_id);
    Reindex(worker_id);
  }
  if (const auto it = jobs_.find(job_id); it != jobs_.end() && it->second.lease_id != lease_id) {
    CancelLease(it->second, "another attempt's result came first", &effects);
  }
  Forget(job_id, /*done=*/true);
  return effects;
}

SchedulerEffects LeasingScheduler::NoteResult(const std::string& job_id,
                                              const v1::JobResult& result) {
  SchedulerEffects effects;
  const auto it = jobs_.find(job_id);
  if (it == jobs_.end()) return effects;
  times_.Note(it->second.spec, result);
  if (!tasks_.Note(it->second.spec, result)) return effects;
  std::vector<std::string> faulty;
  for (const auto& [id, job] : jobs_) {
    // A job that a worker has will find the fault itself.
    if (id == job_id || !job.lease_id.empty() || tasks_.FaultFor(job.spec) == nullptr) continue;
    faulty.push_back(id);
  }
  std::sort(faulty.begin(), faulty.end());
  for (const std::string& id : faulty) {
    const Job& job = jobs_.at(id);
    EndAsFaulty(id, job.attempts, *tasks_.FaultFor(job.spec), &effects);
  }
  return effects;
}

void LeasingScheduler::EndAsFaulty(const std::string& job_id, int attempts,
                                   const std::string& fault, SchedulerEffects* effects) {
  effects->faulty_task_jobs.push_back(
      {job_id, attempts,
       absl::StrCat(fault,
                    " (found by an earlier job of this task; it is tried again once the task "
                    "changes, or by `ksearch eval --repeat`)"),
       v1::OUTCOME_TASK_ERROR});
  Forget(job_id, /*done=*/true);
}

SchedulerEffects LeasingScheduler::Hello(const v1::WorkerHello& hello, absl::Time now) {
  now_ = std::max(now_, now);
  workers_[hello.worker_id()].BeginSession(hello, now_);
  // Whatever was offered before has arrived or never will: the first report tells.
  for (const std::string& lease_id : leases_.IdsOf(hello.worker_id())) {
    Lease* lease = leases_.Find(lease_id);
    lease->offer_seq = 0;
    lease->cancel_sent = false;
  }
  Reindex(hello.worker_id());
  return {};
}

SchedulerEffects LeasingScheduler::Sync(const std::string& worker_id,
                                        const v1::WorkerReport& report, absl::Time now,
                                        v1::WorkerDown* down) {
  SchedulerEffects effects;
  down->Clear();
  now_ = std::max(now_, now);
  const auto it = workers_.find(worker_id);
  if (it == workers_.end() || !it->second.connected()) return effects;
  KnownWorker& worker = it->second;
  if (!worker.IsCurrent(report)) return effects;
  const bool first = !worker.reported();
  const bool was_leaving = worker.IsLeaving(now_);
  worker.Apply(report, now_);
  Reindex(worker_id);
  const bool leaving = was_leaving || worker.IsLeaving(now_);

  absl::flat_hash_set<std::string> listed;
  for (const v1::HeldLease& held : report.leases()) {
    if (listed.insert(held.lease_id()).second) ApplyHeld(worker_id, held, now_, down, &effects);
  }
  const int64_t applied = worker.AppliedSeq(report);
  const std::set<std::string> known = leases_.IdsOf(worker_id);
  for (const std::string& lease_id : known) {
    const Lease* lease = leases_.Find(lease_id);
    // The report may be older than the offer: then the lease is not missing.
    if (listed.contains(lease_id) || lease->offer_seq > applied) continue;
    if (lease->cancelled) {
      leases_.Remove(lease_id);
      Reindex(worker_id);
    } else {
      EndLease(lease_id, Ending::kLost, leaving, "the worker no longer has it", now_, &effects);
    }
  }
  Offer(worker_id, &worker, now_, down, &effects);
  Seal(&worker, /*always=*/first, down);
  return effects;
}

bool LeasingScheduler::Poll(const std::string& worker_id, absl::Time now, v1::WorkerDown* down,
                            SchedulerEffects* effects) {
  down->Clear();
  now_ = std::max(now_, now);
  const auto it = workers_.find(worker_id);
  // Before the first report nothing is known of what it holds.
  if (it == workers_.end() || !it->second.connected() || !it->second.reported()) return false;
  for (const std::string& lease_id : leases_.IdsOf(worker_id)) {
    Lease* lease = leases_.Find(lease_id);
    if (!lease->cancelled || lease->cancel_sent) continue;
    lease->cancel_sent = true;
    down->add_cancel_lease_ids(lease_id);
  }
  Offer(worker_id, &it->second, now_, down, effects);
  return Seal(&it->second, /*always=*/false, down);
}

void LeasingScheduler::Disconnect(const std::string& worker_id, const std::string& incarnation) {
  const auto it = workers_.find(worker_id);
  if (it == workers_.end() || it->second.hello().incarnation() != incarnation) return;
  it->second.EndSession(now_);
  Reindex(worker_id);
}

void LeasingScheduler::Drain(const std::string& worker_id, std::optional<absl::Duration> grace) {
  const auto it = workers_.find(worker_id);
  if (it == workers_.end()) return;
  KnownWorker& worker = it->second;
  if (worker.drain_grace != grace) worker.drain_sent = false;
  worker.drain = true;
  worker.drain_grace = grace;
  Reindex(worker_id);
}

SchedulerEffects LeasingScheduler::Tick(absl::Time now) {
  SchedulerEffects effects;
  now_ = std::max(now_, now);
  for (const std::string& lease_id : leases_.Expired(now_)) {
    const Lease lease = *leases_.Find(lease_id);
    if (const auto worker = workers_.find(lease.worker_id); worker != workers_.end()) {
      worker->second.ForgetOffer(lease.offer_seq);
      worker->second.MarkSilent();
    }
    if (lease.cancelled) {
      leases_.Remove(lease_id);
    } else {
      EndLease(lease_id, Ending::kLost, IsLeaving(lease.worker_id, now_),
               "no report for the length of the lease", now_, &effects);
    }
    Reindex(lease.worker_id);
  }
  for (auto it = workers_.begin(); it != workers_.end();) {
    const KnownWorker& worker = it->second;
    if (!worker.connected() && now_ - worker.last_seen() > kForgetWorkerAfter &&
        leases_.IdsOf(it->first).empty()) {
      open_.Remove(it->first);
      it = workers_.erase(it);
      continue;
    }
    const auto accepts = [&](const Requirement& r) { return CanRun(worker.hello(), r); };
    if (worker.MayTakeAt(now_) && queue_.HasAny(accepts)) effects.Wake(it->first);
    ++it;
  }
  return effects;
}

JobState LeasingScheduler::State(const std::string& job_id) const {
  JobState state;
  const auto it = jobs_.find(job_id);
  if (it == jobs_.end()) {
    if (done_.contains(job_id)) state.phase = JobState::Phase::kDone;
    return state;
  }
  state.phase = JobState::Phase::kQueued;
  if (const Lease* lease = leases_.Find(it->second.lease_id); lease != nullptr) {
    state.phase = JobState::Phase::kLeased;
    state.worker_id = lease->worker_id;
    state.lease_state = lease->state;
  }
  return state;
}

void LeasingScheduler::ApplyHeld(const std::string& worker_id, const v1::HeldLease& held,
                                 absl::Time now, v1::WorkerDown* down, SchedulerEffects* effects) {
  Lease* lease = leases_.Find(held.lease_id());
  if (lease == nullptr || lease->worker_id != worker_id) {
    ApplyUnknown(worker_id, held, now, down, effects);
    return;
  }
  lease->expiry = now + options_.lease_ttl;
  lease->state = held.state();
  lease->offer_seq = 0;
  if (held.state() == v1::HeldLease::RETURNED) {
    down->add_settled_lease_ids(held.lease_id());
    if (lease->cancelled) {
      leases_.Remove(held.lease_id());
      Reindex(worker_id);
    } else {
      EndLease(held.lease_id(), Ending::kReturned, SaysItLeaves(held), held.returned(), now,
               effects);
    }
  } else if (lease->cancelled) {
    // A finished lease is released when its result is acknowledged.
    if (held.state() == v1::HeldLease::FINISHED) return;
    lease->cancel_sent = true;
    down->add_cancel_lease_ids(held.lease_id());
  }
}

void LeasingScheduler::ApplyUnknown(const std::string& worker_id, const v1::HeldLease& held,
                                    absl::Time now, v1::WorkerDown* down,
                                    SchedulerEffects* effects) {
  const auto it = jobs_.find(held.job_id());
  Job* job = it == jobs_.end() ? nullptr : &it->second;
  const Ended* ended = nullptr;
  if (job != nullptr) {
    const auto found = job->ended_leases.find(held.lease_id());
    if (found != job->ended_leases.end()) ended = &found->second;
  }
  const bool waits = job != nullptr && job->lease_id.empty();

  if (held.state() == v1::HeldLease::RETURNED) {
    down->add_settled_lease_ids(held.lease_id());
    if (waits && ended == nullptr) {
      // The worker returned it while the coordinator restarted.
      Adopt(worker_id, held, now, effects);
      EndLease(held.lease_id(), Ending::kReturned, SaysItLeaves(held), held.returned(), now,
               effects);
    }
    return;
  }
  if (waits && (ended == nullptr || ended->ending == Ending::kLost)) {
    Adopt(worker_id, held, now, effects);
    return;
  }
  // A finished result is as valid as any: only unfinished work is canceled.
  if (held.state() != v1::HeldLease::FINISHED) down->add_cancel_lease_ids(held.lease_id());
}

void LeasingScheduler::Adopt(const std::string& worker_id, const v1::HeldLease& held,
                             absl::Time now, SchedulerEffects* effects) {
  Job& job = jobs_.at(held.job_id());
  Dequeue(job);
  // The lease was counted as lost, before or after a restart, but it was not.
  if (const auto ended = job.ended_leases.find(held.lease_id()); ended != job.ended_leases.end()) {
    if (ended->second.counted) --job.losses;
    job.ended_leases.erase(ended);
  } else if (job.earlier_losses > 0) {
    --job.earlier_losses;
  }
  job.attempts = std::max(job.attempts, held.attempt());
  job.lease_id = held.lease_id();
  Lease lease;
  lease.lease_id = held.lease_id();
  lease.job_id = held.job_id();
  lease.worker_id = worker_id;
  lease.task_sha256 = job.spec.task_sha256();
  lease.attempt = held.attempt();
  lease.state = held.state();
  lease.expiry = now + options_.lease_ttl;
  leases_.Add(std::move(lease));
  Reindex(worker_id);
  effects->started.push_back({held.job_id(), held.attempt(), worker_id, held.lease_id()});
}

void LeasingScheduler::EndLease(const std::string& lease_id, Ending ending, bool leaving,
                                absl::string_view note, absl::Time now, SchedulerEffects* effects) {
  const Lease lease = *leases_.Find(lease_id);
  leases_.Remove(lease_id);
  Reindex(lease.worker_id);
  effects->ended.push_back({lease.job_id, lease.attempt, lease.worker_id, lease_id,
                            ending == Ending::kLost ? "lost" : "returned",
                            std::string(note.substr(0, kMaxNoteBytes))});
  Job& job = jobs_.at(lease.job_id);
  job.lease_id.clear();
  job.ended_leases.emplace(lease_id, Ended{ending, /*counted=*/!leaving});
  Requeue(lease.job_id, lease.worker_id, ending, leaving, note, now, effects);
}

void LeasingScheduler::Requeue(const std::string& job_id, const std::string& worker_id,
                               Ending ending, bool leaving, absl::string_view note, absl::Time now,
                               SchedulerEffects* effects) {
  Job& job = jobs_.at(job_id);
  Avoided& avoided = job.avoided[worker_id];
  avoided.since = now;
  if (leaving) {
    // If the worker stays after all, it does not get the same job again at once.
    avoided.not_before = now + ReturnDelay(1);
  } else if (ending == Ending::kReturned) {
    ++job.returns;
    avoided.not_before = now + ReturnDelay(++avoided.returns);
    // A task that has never worked may be the cause itself: do not count it against the worker.
    const auto it = workers_.find(worker_id);
    if (it != workers_.end() && tasks_.IsProven(job.spec)) it->second.CountReturn(job_id, now);
  } else {
    ++job.losses;
  }
  if (job.earlier_losses + job.losses >= options_.max_attempts ||
      job.returns >= kReturnsPerAttempt * options_.max_attempts) {
    effects->worker_lost_jobs.push_back(
        {job_id, job.attempts,
         absl::StrCat(ending == Ending::kLost ? "lost by " : "returned by ", worker_id, ": ",
                      note.substr(0, kMaxNoteBytes))});
    Forget(job_id, /*done=*/true);
    return;
  }
  Enqueue(job_id, job);
  WakeFor(job, now, effects);
}

void LeasingScheduler::Enqueue(const std::string& job_id, const Job& job) {
  queue_.Push(job.requirement, job.turn, job_id);
  ++queued_of_task_[job.spec.task_sha256()];
}

void LeasingScheduler::Dequeue(const Job& job) {
  const int before = queue_.size();
  queue_.Remove(job.requirement, job.turn);
  if (queue_.size() == before) return;  // it does not wait
  const auto count = queued_of_task_.find(job.spec.task_sha256());
  if (--count->second == 0) queued_of_task_.erase(count);
}

void LeasingScheduler::Reindex(const std::string& worker_id) {
  const auto worker = workers_.find(worker_id);
  if (worker == workers_.end() || !worker->second.willing() || worker->second.credits() == 0) {
    open_.Remove(worker_id);
  } else {
    open_.Put(worker_id, LoadOf(worker_id));
  }
}

void LeasingScheduler::CancelLease(const Job& job, absl::string_view note,
                                   SchedulerEffects* effects) {
  Lease* lease = leases_.Find(job.lease_id);
  if (lease == nullptr) return;
  lease->cancelled = true;
  effects->ended.push_back({lease->job_id, lease->attempt, lease->worker_id, lease->lease_id,
                            "cancelled", std::string(note)});
  effects->Wake(lease->worker_id);
}

void LeasingScheduler::Forget(const std::string& job_id, bool done) {
  if (const auto it = jobs_.find(job_id); it != jobs_.end()) {
    Dequeue(it->second);
    jobs_.erase(it);
  }
  if (!done || !done_.insert(job_id).second) return;
  done_order_.push_back(job_id);
  if (done_order_.size() > kDoneRemembered) {
    done_.erase(done_order_.front());
    done_order_.pop_front();
  }
}

bool LeasingScheduler::IsLeaving(const std::string& worker_id, absl::Time now) const {
  const auto it = workers_.find(worker_id);
  return it != workers_.end() && it->second.IsLeaving(now);
}

int LeasingScheduler::LoadOf(const std::string& worker_id) const {
  return static_cast<int>(leases_.IdsOf(worker_id).size());
}

bool LeasingScheduler::Seal(KnownWorker* worker, bool always, v1::WorkerDown* down) {
  const bool tell_drain = worker->drain && !worker->drain_sent;
  if (!always && down->offers_size() == 0 && down->cancel_lease_ids_size() == 0 &&
      down->settled_lease_ids_size() == 0 && !tell_drain) {
    return false;
  }
  if (down->directive_seq() == 0) down->set_directive_seq(worker->NextDirectiveSeq());
  down->set_drain(worker->drain);
  if (worker->drain && worker->drain_grace.has_value()) {
    *down->mutable_drain_grace() = ToProto(*worker->drain_grace);
  }
  worker->drain_sent = worker->drain;
  // Up to a fifth early, so that workers started together do not keep reporting together.
  *down->mutable_report_within() =
      ToProto(options_.report_interval * (0.8 + 0.2 * jitter_.NextDouble()));
  return true;
}

}  // namespace ksearch
