// Which jobs a worker with free slots is offered, which workers could take a waiting job, and what
// waits for workers.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "common/textproto.h"
#include "coordinator/scheduler/leasing_scheduler.h"

namespace ksearch {
namespace {

// A worker that failed a job is passed over in favor of others for this long at most, so that a
// healthy but fully loaded one cannot keep the job waiting.
constexpr absl::Duration kLongestAvoidance = absl::Minutes(2);

// Jobs passed over for fairness in one pass over the queue; bounds the time of a pass.
constexpr int kMaxPassedOver = 10'000;

}  // namespace

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
                   // Stops if only such jobs wait, for example while a new task is the only one.
                   return in_their_line < queue_.size() && ++passed_over < kMaxPassedOver;
                 }
                 const std::string idler = IdlerWorker(job, worker_id, load, now, planned);
                 if (!idler.empty()) {
                   ++planned[idler];
                   effects->Wake(idler);
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
    effects->Wake(id);
    return;
  }
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

}  // namespace ksearch
