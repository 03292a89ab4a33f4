#include "coordinator/scheduler/leasing_scheduler.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// A worker that failed a job is passed over in favor of others for this long at most, so that a
// healthy but fully loaded one cannot keep the job waiting.
constexpr absl::Duration kLongestAvoidance = absl::Minutes(2);

// Done jobs remembered, so that a late Submit does not run them again (about 100 bytes each).
constexpr size_t kDoneRemembered = 100'000;

// A worker gone this long, with no lease left, is forgotten.
constexpr absl::Duration kForgetWorkerAfter = absl::Hours(1);

constexpr int kMaxNoteBytes = 512;

// Jobs passed over for fairness in one look at the queue; bounds the time of a look.
constexpr int kMaxPassedOver = 10'000;

void AddWake(const std::string& worker_id, SchedulerEffects* effects) {
  auto& wakes = effects->workers_to_wake;
  if (std::find(wakes.begin(), wakes.end(), worker_id) == wakes.end()) wakes.push_back(worker_id);
}

bool SaysItLeaves(const v1::HeldLease& held) {
  return held.return_reason() == v1::HeldLease::LEAVING;
}

// Whether the worker has no other device. "": none is meant.
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
  job.turn = turns_.Next(run_id, spec.kind(), times_.Expected(spec));
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
    // One that is with a worker finds out itself.
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
  worker.Fold(report, now_);
  Reindex(worker_id);
  const bool leaving = was_leaving || worker.IsLeaving(now_);

  absl::flat_hash_set<std::string> listed;
  for (const v1::HeldLease& held : report.leases()) {
    if (listed.insert(held.lease_id()).second) FoldHeld(worker_id, held, now_, down, &effects);
  }
  const int64_t applied = worker.AppliedSeq(report);
  const std::set<std::string> known = leases_.IdsOf(worker_id);
  for (const std::string& lease_id : known) {
    const Lease* lease = leases_.Find(lease_id);
    // An offer the report could not know of is not missing from it.
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
    if (worker.MayTakeAt(now_) && queue_.HasAny(accepts)) AddWake(it->first, &effects);
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

bool LeasingScheduler::CanPlace(const v1::JobSpec& spec) const {
  const Requirement requirement = RequirementOf(spec);
  return std::any_of(workers_.begin(), workers_.end(), [&](const auto& entry) {
    return entry.second.willing() && CanRun(entry.second.hello(), requirement) &&
           HasTimeFor(entry.second, spec, now_);
  });
}

std::vector<RequirementDemand> LeasingScheduler::Demand(const std::vector<Requirement>& also,
                                                        absl::Time now) const {
  std::map<Requirement, RequirementDemand> demands;
  for (const Requirement& requirement : also) demands[requirement];
  for (const auto& [id, job] : jobs_) demands[job.requirement];
  std::map<Requirement, absl::Time> longest_stay;  // of a worker that meets it
  for (auto& [requirement, demand] : demands) {
    demand.requirement = requirement;
    absl::Time& stay = longest_stay.emplace(requirement, absl::InfinitePast()).first->second;
    for (const auto& [id, worker] : workers_) {
      if (!worker.willing() || !CanRun(worker.hello(), requirement)) continue;
      ++demand.workers;
      demand.free_slots += worker.free_slots();
      demand.busy_slots += worker.busy();
      stay = std::max(stay, worker.leaves_at());
    }
  }
  for (const auto& [id, job] : jobs_) {
    RequirementDemand& demand = demands.at(job.requirement);
    if (!job.lease_id.empty()) {
      ++demand.leased;
      continue;
    }
    const absl::Duration expected = times_.Expected(job.spec);
    ++demand.queued;
    demand.oldest = std::max(demand.oldest, now - job.since);
    demand.expected_time += expected;
    demand.longest_job = std::max(demand.longest_job, expected);
    if (demand.workers > 0 && now + expected > longest_stay.at(job.requirement)) {
      ++demand.too_short;
    }
  }
  std::vector<RequirementDemand> listed;
  for (auto& [requirement, demand] : demands) listed.push_back(std::move(demand));
  return listed;
}

int LeasingScheduler::idle_slots() const {
  int slots = 0;
  for (const auto& [id, worker] : workers_) slots += worker.free_slots();
  return slots;
}

void LeasingScheduler::FoldHeld(const std::string& worker_id, const v1::HeldLease& held,
                                absl::Time now, v1::WorkerDown* down, SchedulerEffects* effects) {
  Lease* lease = leases_.Find(held.lease_id());
  if (lease == nullptr || lease->worker_id != worker_id) {
    FoldUnknown(worker_id, held, now, down, effects);
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
    // A finished one goes when its result is acknowledged.
    if (held.state() == v1::HeldLease::FINISHED) return;
    lease->cancel_sent = true;
    down->add_cancel_lease_ids(held.lease_id());
  }
}

void LeasingScheduler::FoldUnknown(const std::string& worker_id, const v1::HeldLease& held,
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
      // Returned before a restart of the coordinator, which did not hear of it.
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
  // Its result, if finished, is as true as any: only work still to be done is stopped.
  if (held.state() != v1::HeldLease::FINISHED) down->add_cancel_lease_ids(held.lease_id());
}

void LeasingScheduler::Adopt(const std::string& worker_id, const v1::HeldLease& held,
                             absl::Time now, SchedulerEffects* effects) {
  Job& job = jobs_.at(held.job_id());
  Dequeue(job);
  // What was counted as lost, before or after a restart, was not.
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
    // Should it stay after all, it does not get the same job again at once.
    avoided.not_before = now + ReturnDelay(1);
  } else if (ending == Ending::kReturned) {
    ++job.returns;
    avoided.not_before = now + ReturnDelay(++avoided.returns);
    // A task that has never worked anywhere may itself be why, and no worker rests for that.
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
  AddWake(lease->worker_id, effects);
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

void LeasingScheduler::Choose(const std::string& worker_id, const KnownWorker& worker, int credits,
                              bool fair, absl::Time now, std::vector<std::string>* chosen,
                              SchedulerEffects* effects) {
  int load = LoadOf(worker_id) + static_cast<int>(chosen->size());
  int passed_over = 0;
  int in_their_line = 0;  // queued jobs of the tasks that were passed over
  absl::flat_hash_set<std::string> passed_tasks;
  std::map<std::string, int> planned;
  queue_.Visit([&](const Requirement& r) { return CanRun(worker.hello(), r); },
               [&](const std::string& job_id) {
                 const Job& job = jobs_.at(job_id);
                 if (!MayTry(job, worker_id, now)) return true;
                 if (std::find(chosen->begin(), chosen->end(), job_id) != chosen->end()) {
                   return true;
                 }
                 if (fair && !tasks_.IsProven(job.spec) && IsOut(job.spec, *chosen)) {
                   if (passed_tasks.insert(job.spec.task_sha256()).second) {
                     in_their_line += queued_of_task_.at(job.spec.task_sha256());
                   }
                   // Nothing but such jobs waits, as while a new task is the only one.
                   return in_their_line < queue_.size() && ++passed_over < kMaxPassedOver;
                 }
                 const std::string idler = IdlerWorker(job, worker_id, load, now, planned);
                 if (!idler.empty()) {
                   ++planned[idler];
                   AddWake(idler, effects);
                   return true;
                 }
                 chosen->push_back(job_id);
                 ++load;
                 return static_cast<int>(chosen->size()) < credits;
               });
}

bool LeasingScheduler::IsOut(const v1::JobSpec& spec,
                             const std::vector<std::string>& chosen) const {
  if (leases_.CountOfTask(spec.task_sha256()) > 0) return true;
  return std::any_of(chosen.begin(), chosen.end(), [&](const std::string& job_id) {
    return jobs_.at(job_id).spec.task_sha256() == spec.task_sha256();
  });
}

void LeasingScheduler::Offer(const std::string& worker_id, KnownWorker* worker, absl::Time now,
                             v1::WorkerDown* down, SchedulerEffects* effects) {
  if (!worker->MayTakeAt(now)) return;
  const int credits = worker->credits();
  std::vector<std::string> chosen;
  Choose(worker_id, *worker, credits, /*fair=*/true, now, &chosen, effects);
  // No slot stays free for fairness.
  if (static_cast<int>(chosen.size()) < credits) {
    Choose(worker_id, *worker, credits, /*fair=*/false, now, &chosen, effects);
  }
  if (chosen.empty()) return;
  const int64_t seq = worker->NextDirectiveSeq();
  down->set_directive_seq(seq);
  worker->CountOffers(seq, static_cast<int>(chosen.size()));
  for (const std::string& job_id : chosen) {
    Job& job = jobs_.at(job_id);
    Dequeue(job);
    turns_.Reached(job.turn);
    Lease lease;
    lease.lease_id = absl::StrCat(options_.epoch, "-", next_lease_++);
    lease.job_id = job_id;
    lease.worker_id = worker_id;
    lease.task_sha256 = job.spec.task_sha256();
    lease.attempt = ++job.attempts;
    lease.expiry = now + options_.lease_ttl;
    lease.offer_seq = seq;
    job.lease_id = lease.lease_id;
    v1::JobOffer* offer = down->add_offers();
    offer->set_lease_id(lease.lease_id);
    offer->set_job_id(job_id);
    offer->set_attempt(lease.attempt);
    *offer->mutable_spec() = job.spec;
    *offer->mutable_ttl() = ToProto(options_.lease_ttl);
    *offer->mutable_expected_time() = ToProto(times_.Expected(job.spec));
    effects->started.push_back({job_id, lease.attempt, worker_id, lease.lease_id});
    leases_.Add(std::move(lease));
  }
  Reindex(worker_id);
}

bool LeasingScheduler::MayTry(const Job& job, const std::string& worker_id, absl::Time now) const {
  if (now < job.not_before) return false;
  const auto worker = workers_.find(worker_id);
  if (worker != workers_.end() && !HasTimeFor(worker->second, job.spec, now)) return false;
  const auto avoided = job.avoided.find(worker_id);
  if (avoided == job.avoided.end()) return true;
  if (now < avoided->second.not_before) return false;
  if (now - avoided->second.since >= kLongestAvoidance) return true;
  return std::none_of(workers_.begin(), workers_.end(), [&](const auto& entry) {
    return entry.second.willing() && !job.avoided.contains(entry.first) &&
           CanRun(entry.second.hello(), job.requirement) && HasTimeFor(entry.second, job.spec, now);
  });
}

bool LeasingScheduler::HasTimeFor(const KnownWorker& worker, const v1::JobSpec& spec,
                                  absl::Time now) const {
  return worker.leaves_at() == absl::InfiniteFuture() ||
         now + times_.Expected(spec) <= worker.leaves_at();
}

bool LeasingScheduler::IsLeaving(const std::string& worker_id, absl::Time now) const {
  const auto it = workers_.find(worker_id);
  return it != workers_.end() && it->second.IsLeaving(now);
}

std::string LeasingScheduler::IdlerWorker(const Job& job, const std::string& than, int load,
                                          absl::Time now,
                                          const std::map<std::string, int>& planned) const {
  if (load == 0) return "";
  std::string best;
  int best_load = load;
  for (const auto& [its_load, id] : open_.order()) {
    if (its_load >= best_load) break;
    const KnownWorker& worker = workers_.at(id);
    if (id == than || !worker.MayTakeAt(now)) continue;
    const auto plan = planned.find(id);
    const int more = plan == planned.end() ? 0 : plan->second;
    if (worker.credits() <= more || its_load + more >= best_load) continue;
    if (!CanRun(worker.hello(), job.requirement) || !MayTry(job, id, now)) continue;
    best = id;
    best_load = its_load + more;
  }
  return best;
}

void LeasingScheduler::WakeFor(const Job& job, absl::Time now, SchedulerEffects* effects) const {
  for (const auto& [load, id] : open_.order()) {
    const KnownWorker& worker = workers_.at(id);
    if (!worker.MayTakeAt(now) || !CanRun(worker.hello(), job.requirement)) continue;
    if (!MayTry(job, id, now)) continue;
    AddWake(id, effects);
    return;
  }
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
