// The scheduler with a few workers on a fake clock. A seed decides which messages are lost, doubled
// or overtaken, which processes crash, which links break and how the clock jumps. Then all faults
// end, and every job must have ended exactly once. Workers also leave with a grace period, as in an
// elastic fleet; if nothing else happens to them, no job may ever be given up and no attempt
// counted. After every step, no job has two live leases or is forgotten, no worker is offered more
// than it has slots for, and no job is tried too often.
// (Budgets of runs: tests/coordinator/search/order_property_test.cc.)
//
// Replay one seed:   KSEARCH_SIM_SEED=17 coordinator_scheduler_simulation_test
// More seeds:        KSEARCH_SIM_SEEDS=5000 coordinator_scheduler_simulation_test

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/rng.h"
#include "coordinator/scheduler/job_scheduler.h"
#include "gtest/gtest.h"
#include "tests/common/repetitions.h"

namespace ksearch {
namespace {

constexpr absl::Duration kStep = absl::Milliseconds(500);
constexpr absl::Duration kReportEvery = absl::Seconds(10);
constexpr int kStormSteps = 400;
constexpr int kCalmSteps = 6000;

// The state of one worker. Results survive a crash (they are on disk), running jobs do not.
struct SimLease {
  std::string job_id;
  int attempt = 0;
  v1::HeldLease::State state = v1::HeldLease::QUEUED;
  int steps_left = 0;
  bool leaving = false;  // why it is returned
};

struct SimWorker {
  std::string id;
  int slots = 1;
  int incarnation = 1;
  bool up = true;
  bool connected = false;
  bool partitioned = false;
  int down_for = 0;         // steps until restart
  int partitioned_for = 0;  // steps
  bool leaving = false;
  int grace = 0;  // steps, while leaving
  int64_t applied = 0;
  bool undisturbed = true;  // no message of the session was lost, doubled, overtaken or late
  bool changed = true;
  absl::Time last_report = absl::InfinitePast();
  std::map<std::string, SimLease> leases;
  std::deque<v1::WorkerReport> to_coordinator;
  std::deque<v1::WorkerDown> to_worker;
};

class Simulation {
 public:
  // `only_leaving`: there are no other faults.
  explicit Simulation(uint64_t seed, bool only_leaving = false)
      : rng_(seed), only_leaving_(only_leaving) {
    Restart();
    const int workers = 1 + static_cast<int>(rng_.NextBelow(5));
    for (int i = 0; i < workers; ++i) {
      SimWorker worker;
      worker.id = absl::StrCat("w", i);
      worker.slots = 1 + static_cast<int>(rng_.NextBelow(3));
      workers_.push_back(worker);
    }
    jobs_ = 5 + static_cast<int>(rng_.NextBelow(30));
  }

  // Empty if all went well.
  std::string Run() {
    for (int step = 0; step < kStormSteps && fault_.empty(); ++step) {
      if (submitted_ < jobs_ && Chance(0.2)) SubmitNext();
      Storm();
      Step();
    }
    storm_ = false;
    while (submitted_ < jobs_) SubmitNext();
    for (SimWorker& worker : workers_) worker.partitioned = false;
    for (int step = 0; step < kCalmSteps && fault_.empty() && !AllEnded(); ++step) Step();
    if (fault_.empty() && !AllEnded()) {
      Fault(absl::StrCat("starved: ", endings_.size(), " of ", submitted_, " jobs ended; queued ",
                         scheduler_->queued(), ", leased ", scheduler_->leased()));
    }
    return fault_;
  }

 private:
  bool Chance(double p) { return rng_.NextDouble() < p; }
  void Fault(const std::string& what) {
    if (fault_.empty()) fault_ = what;
  }
  bool AllEnded() const { return static_cast<int>(endings_.size()) == jobs_; }

  void Restart() {
    JobScheduler::Options options;
    options.epoch = absl::StrCat("e", ++epoch_);
    options.seed = epoch_;
    scheduler_ = MakeJobScheduler(options);
    live_.clear();
    for (SimWorker& worker : workers_) Break(&worker);
    // In the order in which the store lists them.
    for (int i = 0; i < submitted_; ++i) {
      const std::string job = absl::StrCat("job", i);
      if (!endings_.contains(job)) Apply(scheduler_->Submit(job, Spec(), attempts_[job], now_));
    }
  }
  static v1::JobSpec Spec() {
    v1::JobSpec spec;
    spec.set_device(v1::DEVICE_CLASS_CPU);
    spec.mutable_candidate()->set_language(v1::LANGUAGE_CPP);
    return spec;
  }
  // Lost and returned attempts are counted separately; every coordinator restart grants one more.
  int MostAttempts() const {
    const JobScheduler::Options defaults;
    return defaults.max_attempts * (1 + JobScheduler::kReturnsPerAttempt) +
           static_cast<int>(epoch_) + left_;
  }
  void SubmitNext() {
    Apply(scheduler_->Submit(absl::StrCat("job", submitted_++), Spec(), 0, now_));
  }

  void Storm() {
    for (SimWorker& worker : workers_) {
      if (worker.up && !worker.leaving && Chance(only_leaving_ ? 0.05 : 0.01)) Leave(&worker);
    }
    if (only_leaving_) return;
    if (Chance(0.005)) Restart();
    if (Chance(0.01)) {
      now_ += absl::Seconds(1) * static_cast<int64_t>(rng_.NextBelow(90));
      for (SimWorker& worker : workers_) worker.undisturbed = false;
    }
    for (SimWorker& worker : workers_) {
      if (worker.up && Chance(0.01)) Crash(&worker);
      if (worker.connected && Chance(0.02)) Break(&worker);
      if (!worker.partitioned && Chance(0.01)) {
        worker.partitioned = true;
        worker.undisturbed = false;
        worker.partitioned_for = 1 + static_cast<int>(rng_.NextBelow(120));
      }
      if (Chance(0.5)) continue;
      if (Disturb(&worker.to_coordinator)) worker.undisturbed = false;
      if (Disturb(&worker.to_worker)) worker.undisturbed = false;
    }
  }
  // Streams neither lose nor reorder, but the state machine has to tolerate it nevertheless.
  template <typename Message>
  bool Disturb(std::deque<Message>* messages) {
    if (messages->empty() || !Chance(0.1)) return false;
    switch (rng_.NextBelow(3)) {
      case 0:
        messages->pop_front();
        return true;
      case 1:
        messages->push_back(messages->front());
        return true;
      default:
        std::swap(messages->front(), messages->back());
        return true;
    }
  }
  void Leave(SimWorker* worker) {
    ++left_;
    worker->leaving = true;
    worker->changed = true;
    worker->grace = static_cast<int>(rng_.NextBelow(30));
    for (auto& [id, lease] : worker->leases) {
      if (lease.state == v1::HeldLease::QUEUED) GiveBack(&lease);
    }
  }
  static void GiveBack(SimLease* lease) {
    lease->state = v1::HeldLease::RETURNED;
    lease->leaving = true;
  }
  // Lets running jobs end within the grace period, then returns them; the worker is gone once it
  // has none, or sometimes without notice.
  void GoOnLeaving(SimWorker* worker) {
    if (--worker->grace == 0) {
      for (auto& [id, lease] : worker->leases) {
        if (IsBusy(lease)) GiveBack(&lease);
      }
      worker->changed = true;
    }
    const bool told = worker->connected && !worker->changed && worker->to_coordinator.empty();
    if (!told || (!worker->leases.empty() && !Chance(0.02))) return;
    Crash(worker);
  }
  void Crash(SimWorker* worker) {
    Break(worker);
    worker->up = false;
    worker->leaving = false;
    worker->down_for = 1 + static_cast<int>(rng_.NextBelow(60));
    std::erase_if(worker->leases,
                  [](const auto& lease) { return lease.second.state != v1::HeldLease::FINISHED; });
  }
  void Break(SimWorker* worker) {
    worker->to_coordinator.clear();
    worker->to_worker.clear();
    if (worker->connected && Chance(0.5)) {
      scheduler_->Disconnect(worker->id, absl::StrCat(worker->incarnation));
    }
    worker->connected = false;
  }

  void Step() {
    now_ += kStep;
    for (SimWorker& worker : workers_) WorkerStep(&worker);
    Apply(scheduler_->Tick(now_));
    Check();
  }

  void WorkerStep(SimWorker* worker) {
    if (!worker->up) {
      if (--worker->down_for > 0) return;
      worker->up = true;
      ++worker->incarnation;
    }
    if (worker->partitioned && --worker->partitioned_for <= 0) worker->partitioned = false;
    Work(worker);
    if (worker->leaving) GoOnLeaving(worker);
    if (!worker->up || worker->partitioned) return;
    if (!worker->connected && Chance(0.5)) Connect(worker);
    if (!worker->connected) return;
    while (!worker->to_worker.empty() && Chance(0.8)) {
      const v1::WorkerDown down = worker->to_worker.front();
      worker->to_worker.pop_front();
      ApplyMessage(worker, down);
    }
    SendResults(worker);
    if (worker->changed || now_ - worker->last_report >= kReportEvery) PostReport(worker);
    while (!worker->to_coordinator.empty() && Chance(0.8)) {
      const v1::WorkerReport report = worker->to_coordinator.front();
      worker->to_coordinator.pop_front();
      v1::WorkerDown down;
      SchedulerEffects effects = scheduler_->Sync(worker->id, report, now_, &down);
      if (down.directive_seq() > 0) worker->to_worker.push_back(down);
      Apply(std::move(effects));
    }
  }
  void Connect(SimWorker* worker) {
    v1::WorkerHello hello;
    hello.set_worker_id(worker->id);
    hello.set_incarnation(absl::StrCat(worker->incarnation));
    v1::DeviceCapability* device = hello.add_devices();
    device->set_device_class(v1::DEVICE_CLASS_CPU);
    device->add_languages(v1::LANGUAGE_CPP);
    Apply(scheduler_->Hello(hello, now_));
    worker->connected = true;
    worker->applied = 0;
    worker->undisturbed = true;
    worker->changed = true;
  }
  void Work(SimWorker* worker) {
    for (auto& [id, lease] : worker->leases) {
      if (lease.state == v1::HeldLease::QUEUED) {
        lease.state = v1::HeldLease::RUNNING;
        lease.steps_left = 1 + static_cast<int>(rng_.NextBelow(40));
        worker->changed = true;
      } else if (lease.state == v1::HeldLease::RUNNING && --lease.steps_left <= 0) {
        lease.state = storm_ && !only_leaving_ && Chance(0.1) ? v1::HeldLease::RETURNED
                                                              : v1::HeldLease::FINISHED;
        worker->changed = true;
      }
    }
  }
  void ApplyMessage(SimWorker* worker, const v1::WorkerDown& down) {
    if (down.directive_seq() <= worker->applied) return;
    worker->applied = down.directive_seq();
    for (const v1::JobOffer& offer : down.offers()) {
      const auto [it, added] =
          worker->leases.emplace(offer.lease_id(), SimLease{offer.job_id(), offer.attempt()});
      if (worker->leaving && added) GiveBack(&it->second);
      int busy = 0;
      for (const auto& [id, lease] : worker->leases) busy += IsBusy(lease);
      // A disturbed stream may overbook: an offer that is not seen in time no longer counts.
      if (worker->undisturbed && busy > worker->slots) Fault(worker->id + " is overbooked");
      worker->changed = true;
    }
    for (const std::string& id : down.cancel_lease_ids()) {
      const auto it = worker->leases.find(id);
      if (it == worker->leases.end() || it->second.state == v1::HeldLease::FINISHED) continue;
      worker->leases.erase(it);
      worker->changed = true;
    }
    for (const std::string& id : down.settled_lease_ids()) {
      worker->changed |= worker->leases.erase(id) > 0;
    }
  }
  static bool IsBusy(const SimLease& lease) {
    return lease.state == v1::HeldLease::QUEUED || lease.state == v1::HeldLease::RUNNING;
  }
  void SendResults(SimWorker* worker) {
    for (auto it = worker->leases.begin(); it != worker->leases.end();) {
      if (it->second.state != v1::HeldLease::FINISHED || (storm_ && Chance(0.3))) {
        ++it;
        continue;
      }
      // The store: the first result wins.
      if (endings_.emplace(it->second.job_id, it->first).second) ++ends_[it->second.job_id];
      live_.erase(it->second.job_id);
      Apply(scheduler_->MarkDone(it->second.job_id, it->first));
      if (storm_ && Chance(0.2)) {
        ++it;  // the acknowledgment was lost
        continue;
      }
      it = worker->leases.erase(it);
      worker->changed = true;
    }
  }
  void PostReport(SimWorker* worker) {
    v1::WorkerReport report;
    report.set_applied_directive_seq(worker->applied);
    int busy = 0;
    for (const auto& [id, lease] : worker->leases) {
      busy += IsBusy(lease);
      v1::HeldLease* held = report.add_leases();
      held->set_lease_id(id);
      held->set_job_id(lease.job_id);
      held->set_state(lease.state);
      held->set_attempt(lease.attempt);
      if (lease.leaving) held->set_return_reason(v1::HeldLease::LEAVING);
    }
    report.set_free_slots(worker->leaving ? 0 : std::max(0, worker->slots - busy));
    report.set_draining(worker->leaving);
    worker->to_coordinator.push_back(report);
    worker->changed = false;
    worker->last_report = now_;
  }

  void Apply(SchedulerEffects effects) {
    std::vector<std::string> to_wake = effects.workers_to_wake;
    Note(effects);
    for (int guard = 0; !to_wake.empty(); ++guard) {
      if (guard > 10'000) {
        Fault("workers wake each other for ever");
        return;
      }
      const std::string id = to_wake.back();
      to_wake.pop_back();
      for (SimWorker& worker : workers_) {
        if (worker.id != id || !worker.connected) continue;
        v1::WorkerDown down;
        SchedulerEffects more;
        if (scheduler_->Poll(id, now_, &down, &more)) worker.to_worker.push_back(down);
        to_wake.insert(to_wake.end(), more.workers_to_wake.begin(), more.workers_to_wake.end());
        Note(more);
      }
    }
  }
  void Note(const SchedulerEffects& effects) {
    for (const AttemptStarted& started : effects.started) {
      int& attempts = attempts_[started.job_id];
      attempts = std::max(attempts, started.attempt);
      if (endings_.contains(started.job_id) &&
          scheduler_->State(started.job_id).phase == JobState::Phase::kDone) {
        Fault(started.job_id + " was offered after its end");
      }
      if (started.attempt < 1) Fault(started.job_id + " has a bad attempt number");
      if (started.attempt > MostAttempts()) {
        Fault(absl::StrCat(started.job_id, " is tried for the ", started.attempt, "th time"));
      }
      const auto [it, added] =
          lease_of_.emplace(std::make_pair(started.job_id, started.attempt), started.lease_id);
      if (!added && it->second != started.lease_id) {
        Fault(absl::StrCat(started.job_id, " attempt ", started.attempt, " has two leases"));
      }
      live_[started.job_id].insert(started.lease_id);
    }
    for (const AttemptEnded& ended : effects.ended) live_[ended.job_id].erase(ended.lease_id);
    for (const auto& [job, leases] : live_) {
      if (leases.size() > 1) Fault(job + " has two live leases");
    }
    for (const GivenUp& job : effects.worker_lost_jobs) {
      if (only_leaving_) Fault(job.job_id + " was given up though workers only left");
      if (endings_.emplace(job.job_id, "given up").second) {
        ++ends_[job.job_id];
      }
      Apply(scheduler_->MarkDone(job.job_id, ""));
    }
  }

  void Check() {
    for (const auto& [job, ends] : ends_) {
      if (ends != 1) Fault(absl::StrCat(job, " ended ", ends, " times"));
    }
    int queued = 0;
    int leased = 0;
    for (int i = 0; i < submitted_; ++i) {
      const std::string job = absl::StrCat("job", i);
      const JobState state = scheduler_->State(job);
      queued += state.phase == JobState::Phase::kQueued;
      leased += state.phase == JobState::Phase::kLeased;
      if (endings_.contains(job)) {
        if (state.phase == JobState::Phase::kQueued || state.phase == JobState::Phase::kLeased) {
          Fault(job + " has ended but is still at work");
        }
      } else if (state.phase != JobState::Phase::kQueued &&
                 state.phase != JobState::Phase::kLeased) {
        Fault(job + " was forgotten");
      }
    }
    if (queued != scheduler_->queued() || leased != scheduler_->leased()) {
      Fault("counts of queued and leased jobs are wrong");
    }
  }

  Rng rng_;
  const bool only_leaving_;
  int left_ = 0;  // how often a worker began to leave
  absl::Time now_ = absl::UnixEpoch();
  bool storm_ = true;
  uint64_t epoch_ = 0;
  std::unique_ptr<JobScheduler> scheduler_;
  std::vector<SimWorker> workers_;
  int jobs_ = 0;
  int submitted_ = 0;
  std::map<std::string, std::string> endings_;  // job -> lease that brought the result
  std::map<std::string, int> ends_;
  std::map<std::string, int> attempts_;
  std::map<std::pair<std::string, int>, std::string> lease_of_;
  std::map<std::string, std::set<std::string>> live_;  // leases by job, of this coordinator's life
  std::string fault_;
};

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  uint64_t value = otherwise;
  if (text != nullptr && !absl::SimpleAtoi(text, &value)) return otherwise;
  return value;
}

constexpr uint64_t kSeeds = Repetitions<uint64_t>(500, 60);

TEST(SchedulerSimulationTest, EveryJobEndsExactlyOnceWhateverHappens) {
  const uint64_t one = FromEnvironment("KSEARCH_SIM_SEED", 0);
  const uint64_t first = one > 0 ? one : 1;
  const uint64_t last = one > 0 ? one : FromEnvironment("KSEARCH_SIM_SEEDS", kSeeds);
  for (uint64_t seed = first; seed <= last; ++seed) {
    const std::string fault = Simulation(seed).Run();
    ASSERT_EQ(fault, "") << "replay: KSEARCH_SIM_SEED=" << seed
                         << " build/dev/tests/coordinator_scheduler_simulation_test";
  }
}

TEST(SchedulerSimulationTest, WorkersThatOnlyLeaveNeverCostAJob) {
  const uint64_t seeds = FromEnvironment("KSEARCH_SIM_SEEDS", kSeeds);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    ASSERT_EQ(Simulation(seed, /*only_leaving=*/true).Run(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace ksearch
