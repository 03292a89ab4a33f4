#ifndef KSEARCH_TESTS_COORDINATOR_SCHEDULER_LEASING_SCHEDULER_FIXTURE_H_
#define KSEARCH_TESTS_COORDINATOR_SCHEDULER_LEASING_SCHEDULER_FIXTURE_H_

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/scheduler/job_scheduler.h"
#include "gtest/gtest.h"

namespace ksearch {

// A worker's report on one lease.
struct Held {
  std::string lease_id;
  std::string job_id;
  v1::HeldLease::State state = v1::HeldLease::RUNNING;
  std::string returned = {};
  int attempt = 1;
};

inline v1::WorkerReport Report(int64_t applied, int free_slots,
                               std::initializer_list<Held> leases = {}) {
  v1::WorkerReport report;
  report.set_applied_directive_seq(applied);
  report.set_free_slots(free_slots);
  for (const Held& held : leases) {
    v1::HeldLease* lease = report.add_leases();
    lease->set_lease_id(held.lease_id);
    lease->set_job_id(held.job_id);
    lease->set_state(held.state);
    lease->set_returned(held.returned);
    lease->set_attempt(held.attempt);
  }
  return report;
}

inline v1::JobSpec Spec(v1::Language language = v1::LANGUAGE_CPP) {
  v1::JobSpec spec;
  spec.set_device(v1::DEVICE_CLASS_CPU);
  spec.mutable_candidate()->set_language(language);
  return spec;
}

// A scheduler, its simulated clock, and the effects that it requested.
class LeasingSchedulerFixture : public ::testing::Test {
 protected:
  using Phase = JobState::Phase;

  LeasingSchedulerFixture() { Restart("e1"); }

  void Restart(const std::string& epoch) {
    JobScheduler::Options options;
    options.epoch = epoch;
    scheduler_ = MakeJobScheduler(options);
  }
  void Hello(const std::string& worker, const std::string& incarnation = "i1",
             const std::string& device_id = "") {
    v1::WorkerHello hello;
    hello.set_worker_id(worker);
    hello.set_incarnation(incarnation);
    v1::DeviceCapability* device = hello.add_devices();
    device->set_device_class(v1::DEVICE_CLASS_CPU);
    device->mutable_fingerprint()->set_device_id(device_id);
    device->add_languages(v1::LANGUAGE_CPP);
    Keep(scheduler_->Hello(hello, now_));
  }
  v1::WorkerDown Sync(const std::string& worker, const v1::WorkerReport& report) {
    v1::WorkerDown down;
    Keep(scheduler_->Sync(worker, report, now_, &down));
    return down;
  }
  // Joins with an empty first report.
  v1::WorkerDown Join(const std::string& worker, int slots) {
    Hello(worker);
    return Sync(worker, Report(0, slots));
  }
  v1::WorkerDown Poll(const std::string& worker) {
    v1::WorkerDown down;
    SchedulerEffects effects;
    if (!scheduler_->Poll(worker, now_, &down, &effects)) down.Clear();
    Keep(std::move(effects));
    return down;
  }
  void Submit(const std::string& job, int attempts = 0) {
    Keep(scheduler_->Submit(job, Spec(), attempts, now_));
  }
  void Tick() { Keep(scheduler_->Tick(now_)); }
  void Keep(SchedulerEffects effects) {
    for (auto& ended : effects.ended)
      ended_.push_back(absl::StrCat(ended.job_id, " ", ended.ended));
    for (auto& job : effects.worker_lost_jobs) given_up_.push_back(job);
    started_ += static_cast<int>(effects.started.size());
    woken_ = effects.workers_to_wake;
  }
  Phase PhaseOf(const std::string& job) { return scheduler_->State(job).phase; }

  std::unique_ptr<JobScheduler> scheduler_;
  absl::Time now_ = absl::UnixEpoch();
  std::vector<std::string> ended_;
  std::vector<GivenUp> given_up_;
  std::vector<std::string> woken_;
  int started_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_COORDINATOR_SCHEDULER_LEASING_SCHEDULER_FIXTURE_H_
