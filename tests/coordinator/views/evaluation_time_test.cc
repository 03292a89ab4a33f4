#include "coordinator/views/evaluation_time.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/identity.h"
#include "common/textproto.h"
#include "tests/fakes/fake_store.h"

namespace ksearch {
namespace {

class OneTask final : public TaskSuite {
 public:
  std::vector<v1::TaskSummary> List() const override { return {}; }
  absl::StatusOr<v1::Task> Load(const std::string& name) const override {
    if (name != "t") return absl::NotFoundError(name);
    v1::Task task;
    task.set_name(name);
    task.set_device(v1::DEVICE_CLASS_CPU);
    for (const bool held_out : {false, false, true}) task.add_workloads()->set_held_out(held_out);
    return task;
  }
};

class Fleet final : public FleetFacts {
 public:
  std::vector<v1::WorkerStatus> Workers() const override { return workers; }
  std::vector<v1::Platform> PlatformsFor(const v1::JobSpec&) const override { return {}; }

  v1::DeviceCapability* Add(v1::DeviceClass device, v1::Language language) {
    v1::WorkerStatus& worker = workers.emplace_back();
    worker.set_connected(true);
    v1::DeviceCapability* added = worker.mutable_hello()->add_devices();
    added->set_device_class(device);
    added->add_languages(language);
    return added;
  }

  std::vector<v1::WorkerStatus> workers;
};

class EvaluationTimeTest : public testing::Test {
 protected:
  EvaluationTimeTest() {
    estimate_.mutable_config()->set_task("t");
    estimate_.mutable_config()->set_language(v1::LANGUAGE_CPP);
    *estimate_.mutable_config()->mutable_measure()->mutable_max_time_per_workload() =
        ToProto(absl::Milliseconds(100));
  }
  // A job of the kind, with a result that held a device so long.
  void Record(v1::JobKind kind, absl::Duration held) {
    v1::JobSpec spec;
    spec.set_kind(kind);
    spec.set_task_name("t");
    spec.set_salt(std::to_string(++jobs_));
    v1::JobResult result;
    result.set_job_id(JobId(spec));
    result.set_outcome(v1::OUTCOME_PASSED);
    if (held > absl::ZeroDuration()) {
      *result.mutable_stage_times()->mutable_device_held() = ToProto(held);
    }
    ASSERT_TRUE(store_.AddJob(result.job_id(), spec).ok());
    store_.RecordResult(result, "lease", [](auto) {});
  }
  absl::Duration Time() {
    EXPECT_TRUE(FillEvaluationTime(store_, fleet_, OneTask(), &estimate_).ok());
    return FromProto(estimate_.evaluation_time());
  }

  FakeStore store_;
  Fleet fleet_;
  v1::RunEstimate estimate_;
  int jobs_ = 0;
};

TEST_F(EvaluationTimeTest, IsTheMeanOfRecordedScreeningsThatHeldADevice) {
  Record(v1::JOB_KIND_SCREEN, absl::Seconds(2));
  Record(v1::JOB_KIND_SCREEN, absl::Seconds(4));
  Record(v1::JOB_KIND_SCREEN, absl::ZeroDuration());  // it did not compile
  Record(v1::JOB_KIND_CONFIRM, absl::Seconds(30));
  EXPECT_EQ(Time(), absl::Seconds(3));
  EXPECT_EQ(estimate_.evaluations_recorded(), 2);
}

TEST_F(EvaluationTimeTest, WithoutARecordItIsWhatThePlanAllowsOnFeedbackWorkloadsAndTheirChecks) {
  EXPECT_EQ(Time(), absl::Milliseconds(500 + 2 * 2 * 100));
  EXPECT_EQ(estimate_.evaluations_recorded(), 0);
}

TEST_F(EvaluationTimeTest, WorkersCountIfTheyCouldJudgeTheRunsCandidates) {
  fleet_.Add(v1::DEVICE_CLASS_CPU, v1::LANGUAGE_CPP);
  fleet_.Add(v1::DEVICE_CLASS_CPU, v1::LANGUAGE_PYTHON);
  fleet_.Add(v1::DEVICE_CLASS_CUDA, v1::LANGUAGE_CPP);
  fleet_.Add(v1::DEVICE_CLASS_CPU, v1::LANGUAGE_CPP)->set_build_only(true);
  fleet_.Add(v1::DEVICE_CLASS_CPU, v1::LANGUAGE_CPP);
  fleet_.workers.back().set_connected(false);
  Time();
  EXPECT_EQ(estimate_.workers(), 1);
}

TEST_F(EvaluationTimeTest, AnUnknownTaskIsNotFound) {
  estimate_.mutable_config()->set_task("other");
  EXPECT_TRUE(absl::IsNotFound(FillEvaluationTime(store_, fleet_, OneTask(), &estimate_)));
}

}  // namespace
}  // namespace ksearch
