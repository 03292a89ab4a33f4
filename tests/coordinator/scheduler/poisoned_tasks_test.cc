// Tasks whose own programs are at fault, beside healthy ones, on a simulated worker and clock.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/scheduler/job_scheduler.h"
#include "coordinator/scheduler/task_standing.h"
#include "tests/coordinator/scheduler/leasing_scheduler_fixture.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

constexpr int kSlots = 2;
constexpr absl::Duration kHealthyTime = absl::Seconds(10);
constexpr absl::Duration kLongestJob = absl::Seconds(18);

v1::JobSpec SpecOf(const std::string& task) {
  v1::JobSpec spec = Spec();
  spec.set_task_sha256(task);
  return spec;
}

v1::JobResult ResultOf(v1::Outcome outcome, const std::string& message = "") {
  v1::JobResult result;
  result.set_outcome(outcome);
  result.set_message(message);
  return result;
}

struct SimJob {
  std::string id;
  std::string task;
  absl::Duration time;  // on a worker
  v1::Outcome outcome = v1::OUTCOME_PASSED;
};

struct SimEnding {
  absl::Time at;
  absl::Duration after_turn;  // since a worker got the job; 0: no worker did
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
  std::string message;
};

// Submits all jobs at once, in order, to one worker of kSlots slots, and lets them end.
std::map<std::string, SimEnding> Simulate(const std::vector<SimJob>& jobs) {
  struct Running {
    std::string lease_id;
    absl::Time since;
  };
  JobScheduler::Options options;
  options.epoch = "e1";
  const std::unique_ptr<JobScheduler> scheduler = MakeJobScheduler(options);
  std::map<std::string, SimJob> by_id;
  std::map<std::string, Running> running;
  std::map<std::string, SimEnding> endings;
  absl::Time now = absl::UnixEpoch();
  int64_t applied = 0;
  const auto take = [&](const SchedulerEffects& effects) {
    EXPECT_TRUE(effects.worker_lost_jobs.empty());
    for (const GivenUp& job : effects.faulty_task_jobs) {
      endings[job.job_id] = {now, absl::ZeroDuration(), job.outcome, job.note};
    }
  };

  v1::WorkerHello hello;
  hello.set_worker_id("w");
  v1::DeviceCapability* device = hello.add_devices();
  device->set_device_class(v1::DEVICE_CLASS_CPU);
  device->add_languages(v1::LANGUAGE_CPP);
  take(scheduler->Hello(hello, now));
  for (const SimJob& job : jobs) {
    by_id[job.id] = job;
    take(scheduler->Submit(job.id, SpecOf(job.task), 0, now));
  }
  for (int step = 0; step < 10'000 && endings.size() < jobs.size(); ++step) {
    for (auto it = running.begin(); it != running.end();) {
      const SimJob& job = by_id[it->first];
      if (now - it->second.since < job.time) {
        ++it;
        continue;
      }
      const v1::JobResult result = ResultOf(job.outcome, absl::StrCat("as ", job.task));
      endings[job.id] = {now, now - it->second.since, result.outcome(), result.message()};
      take(scheduler->NoteResult(job.id, result));
      take(scheduler->MarkDone(job.id, it->second.lease_id));
      it = running.erase(it);
    }
    v1::WorkerReport report;
    report.set_applied_directive_seq(applied);
    report.set_free_slots(kSlots - static_cast<int>(running.size()));
    for (const auto& [job_id, lease] : running) {
      v1::HeldLease* held = report.add_leases();
      held->set_lease_id(lease.lease_id);
      held->set_job_id(job_id);
      held->set_state(v1::HeldLease::RUNNING);
      held->set_attempt(1);
    }
    v1::WorkerDown down;
    take(scheduler->Sync("w", report, now, &down));
    if (down.directive_seq() > 0) applied = down.directive_seq();
    for (const v1::JobOffer& offer : down.offers()) {
      running[offer.job_id()] = {offer.lease_id(), now};
    }
    take(scheduler->Tick(now));
    now += absl::Milliseconds(500);
  }
  return endings;
}

std::vector<SimJob> Healthy() {
  std::vector<SimJob> jobs;
  for (int i = 0; i < 20; ++i) {
    jobs.push_back({absl::StrCat("healthy", i), "healthy", kHealthyTime, v1::OUTCOME_PASSED});
  }
  return jobs;
}

std::vector<SimJob> Poisoned() {
  std::vector<SimJob> jobs;
  for (int i = 0; i < 20; ++i) {
    const auto add = [&](const std::string& task, absl::Duration time) {
      jobs.push_back({absl::StrCat(task, i), task, time, v1::OUTCOME_TASK_ERROR});
    };
    add("does not build", absl::Seconds(2));
    add("crashes", absl::Seconds(3));
    add("gives NaN", absl::Seconds(3));
    add("hangs", kLongestJob);
    add("disagrees with itself", absl::Seconds(3));
  }
  return jobs;
}

// Healthy jobs end as they would alone, delayed by at most one job's time.
void ExpectUndisturbed(const std::vector<SimJob>& all) {
  const auto alone = Simulate(Healthy());
  const auto together = Simulate(all);
  ASSERT_EQ(together.size(), all.size()) << "some jobs never ended";
  for (const SimJob& job : all) {
    const SimEnding& ending = together.at(job.id);
    EXPECT_EQ(ending.outcome, job.outcome) << job.id;
    EXPECT_THAT(ending.message, HasSubstr(absl::StrCat("as ", job.task))) << job.id;
    EXPECT_LE(ending.after_turn, absl::Seconds(20)) << job.id;
    if (job.outcome != v1::OUTCOME_PASSED) continue;
    EXPECT_LE(ending.at - alone.at(job.id).at, kLongestJob) << job.id;
  }
}

TEST(PoisonedTasksTest, AHundredPoisonedJobsInFrontDelayNobodyByMoreThanOneJob) {
  std::vector<SimJob> all = Poisoned();
  for (const SimJob& job : Healthy()) all.push_back(job);
  ExpectUndisturbed(all);
}

TEST(PoisonedTasksTest, AHundredPoisonedJobsBetweenDelayNobodyByMoreThanOneJob) {
  const std::vector<SimJob> poisoned = Poisoned();
  const std::vector<SimJob> healthy = Healthy();
  std::vector<SimJob> all;
  for (size_t i = 0; i < healthy.size(); ++i) {
    for (size_t k = 0; k < 5; ++k) all.push_back(poisoned[5 * i + k]);
    all.push_back(healthy[i]);
  }
  ExpectUndisturbed(all);
}

TEST(PoisonedTasksTest, OneJobOfEveryPoisonedTaskIsEnough) {
  int tried = 0;
  for (const auto& [id, ending] : Simulate(Poisoned())) {
    tried += ending.after_turn > absl::ZeroDuration() ? 1 : 0;
  }
  // Both slots of an otherwise idle worker may be given to one task before its first result.
  EXPECT_GE(tried, 5);
  EXPECT_LE(tried, 10);
}

class FaultyTaskTest : public LeasingSchedulerFixture {
 protected:
  SchedulerEffects SubmitJob(const std::string& job, const v1::JobSpec& spec) {
    return scheduler_->Submit(job, spec, 0, now_);
  }
};

TEST_F(FaultyTaskTest, LaterJobsOfAFaultyTaskEndWithoutAWorker) {
  Keep(SubmitJob("a", SpecOf("t")));
  ASSERT_EQ(Join("w", 1).offers_size(), 1);
  EXPECT_TRUE(scheduler_->NoteResult("a", ResultOf(v1::OUTCOME_TASK_ERROR, "no compiler likes it"))
                  .faulty_task_jobs.empty());
  Keep(scheduler_->MarkDone("a", "e1-1"));
  const SchedulerEffects effects = SubmitJob("b", SpecOf("t"));
  ASSERT_EQ(effects.faulty_task_jobs.size(), 1u);
  EXPECT_EQ(effects.faulty_task_jobs[0].job_id, "b");
  EXPECT_THAT(effects.faulty_task_jobs[0].note, HasSubstr("no compiler likes it"));
  EXPECT_EQ(PhaseOf("b"), Phase::kDone);
  // Another task, or the same one changed, is tried.
  EXPECT_TRUE(SubmitJob("c", SpecOf("changed")).faulty_task_jobs.empty());
  EXPECT_EQ(PhaseOf("c"), Phase::kQueued);
}

TEST_F(FaultyTaskTest, ADeliberateRepetitionAsksAgainAndClearsTheTask) {
  Keep(SubmitJob("a", SpecOf("t")));
  ASSERT_EQ(Join("w", 1).offers_size(), 1);
  Keep(scheduler_->NoteResult("a", ResultOf(v1::OUTCOME_TASK_ERROR, "oops")));
  Keep(scheduler_->MarkDone("a", "e1-1"));
  v1::JobSpec again = SpecOf("t");
  again.set_salt("again");
  EXPECT_TRUE(SubmitJob("b", again).faulty_task_jobs.empty());
  Keep(scheduler_->NoteResult("b", ResultOf(v1::OUTCOME_PASSED)));
  Keep(scheduler_->MarkDone("b", ""));
  EXPECT_TRUE(SubmitJob("c", SpecOf("t")).faulty_task_jobs.empty());
}

TEST_F(FaultyTaskTest, WhatAnEarlierLifeFoundStillHolds) {
  scheduler_->RememberResult(SpecOf("t"), ResultOf(v1::OUTCOME_TASK_ERROR, "oops"));
  const SchedulerEffects effects = SubmitJob("a", SpecOf("t"));
  ASSERT_EQ(effects.faulty_task_jobs.size(), 1u);
  EXPECT_THAT(effects.faulty_task_jobs[0].note, HasSubstr("oops"));
  EXPECT_TRUE(SubmitJob("b", SpecOf("changed")).faulty_task_jobs.empty());
}

TEST(TaskStandingTest, ARivalsFaultIsNotItsTasks) {
  TaskStanding standing;
  v1::JobSpec spec = SpecOf("t");
  spec.add_rivals()->mutable_sources()->set_language(v1::LANGUAGE_CPP);
  EXPECT_FALSE(standing.Note(spec, ResultOf(v1::OUTCOME_TASK_ERROR, "rival 'rival' fails")));
  EXPECT_EQ(standing.FaultFor(SpecOf("t")), nullptr);
}

TEST(TaskStandingTest, FaultsAreTheLanguagesOwn) {
  TaskStanding standing;
  EXPECT_TRUE(standing.Note(SpecOf("t"), ResultOf(v1::OUTCOME_TASK_ERROR, "oops")));
  v1::JobSpec cuda = SpecOf("t");
  cuda.mutable_candidate()->set_language(v1::LANGUAGE_CUDA);
  EXPECT_EQ(standing.FaultFor(cuda), nullptr);
  ASSERT_NE(standing.FaultFor(SpecOf("t")), nullptr);
  EXPECT_EQ(*standing.FaultFor(SpecOf("t")), "oops");
}

TEST(TaskStandingTest, AProgramThatDoesNotBuildProvesNothing) {
  TaskStanding standing;
  standing.Note(SpecOf("t"), ResultOf(v1::OUTCOME_COMPILE_ERROR));
  EXPECT_FALSE(standing.IsProven(SpecOf("t")));
  standing.Note(SpecOf("t"), ResultOf(v1::OUTCOME_INCORRECT));
  EXPECT_TRUE(standing.IsProven(SpecOf("t")));
}

}  // namespace
}  // namespace ksearch
