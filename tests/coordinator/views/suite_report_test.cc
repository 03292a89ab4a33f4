// How problems of a suite stand by what is on record.
#include "coordinator/views/suite_report.h"

#include <cmath>

#include "common/identity.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/fake_store.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class FakeSuite final : public TaskSuite {
 public:
  FakeSuite() {
    for (const char* name : {"kb/l1/1", "kb/l1/2", "kb/l2/1", "kb/l2/2"}) {
      v1::TaskSummary& summary = summaries.emplace_back();
      summary.set_name(name);
      summary.set_suite("kb");
      v1::Task& task = tasks.emplace_back();
      task.set_name(name);
    }
    summaries[2].set_error("broken");
    summaries[3].set_degenerate("zeros pass");
  }
  std::vector<v1::TaskSummary> List() const override { return summaries; }
  absl::StatusOr<v1::Task> Load(const std::string& name) const override {
    for (const v1::Task& task : tasks) {
      if (task.name() == name) return task;
    }
    return absl::NotFoundError("");
  }
  absl::StatusOr<v1::SourceFile> ToUpstream(const std::string&,
                                            const v1::Sources& program) const override {
    v1::SourceFile file = program.files(0);
    file.set_path("upstream.py");
    return file;
  }

  std::vector<v1::TaskSummary> summaries;
  std::vector<v1::Task> tasks;
};

class SuiteReportTest : public testing::Test {
 protected:
  // One workload with two calls each, 10 % beside the mean.
  void Record(size_t task, const std::string& text, v1::JobKind kind, v1::Outcome outcome,
              double candidate_us, double baseline_us, const std::string& model = "cpu",
              const std::string& suspicion = "") {
    v1::JobSpec spec;
    spec.set_kind(kind);
    spec.set_task_name(suite_.tasks[task].name());
    spec.set_task_sha256(TaskDigest(suite_.tasks[task]));
    spec.mutable_candidate()->add_files()->set_path("a.py");
    spec.mutable_candidate()->mutable_files(0)->set_content(text);
    spec.set_salt(std::to_string(jobs_++));
    ASSERT_TRUE(store_.AddJob(JobId(spec), spec).ok());
    v1::JobResult result;
    result.set_job_id(JobId(spec));
    result.set_outcome(outcome);
    result.mutable_device()->set_name(model);
    if (!suspicion.empty()) result.add_suspicions(suspicion);
    v1::WorkloadResult* const workload = result.add_workloads();
    for (const double factor : {0.9, 1.1}) {
      if (candidate_us > 0) workload->mutable_candidate()->add_latency_us(factor * candidate_us);
      if (baseline_us > 0) workload->mutable_baseline()->add_latency_us(factor * baseline_us);
    }
    if (kind == v1::JOB_KIND_CONFIRM) {
      v1::Comparison* const over = result.add_comparisons();
      over->set_rival_id("baseline");
      over->set_verdict(candidate_us < baseline_us ? v1::Comparison::IMPROVED
                                                   : v1::Comparison::WORSE);
      if (candidate_us > 0) over->set_log_speedup(std::log(baseline_us / candidate_us));
      for (const bool held_out : {false, true}) {
        if (!(candidate_us > 0)) break;
        v1::Comparison::PerWorkload* const times = over->add_workloads();
        times->set_held_out(held_out);
        times->set_candidate_median_us(held_out ? 1000 : candidate_us);
        times->set_rival_median_us(held_out ? 1000 : baseline_us);
      }
    }
    store_.RecordResult(result, "", [](const auto&) {});
  }
  v1::SuiteReport Report(v1::ReportSuiteRequest request = {}) {
    request.set_suite("kb");
    auto report = ReportSuite(store_, suite_, request);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *std::move(report) : v1::SuiteReport();
  }

  FakeStore store_;
  FakeSuite suite_;
  int jobs_ = 0;
};

TEST_F(SuiteReportTest, FastestProgramThatNothingRefutesStands) {
  Record(0, "slow", v1::JOB_KIND_SCREEN, v1::OUTCOME_PASSED, 50, 100);
  Record(0, "fast", v1::JOB_KIND_SCREEN, v1::OUTCOME_PASSED, 20, 100);
  Record(0, "fast", v1::JOB_KIND_CONFIRM, v1::OUTCOME_PASSED, 25, 100);
  Record(0, "cheat", v1::JOB_KIND_SCREEN, v1::OUTCOME_PASSED, 1, 100);
  Record(0, "cheat", v1::JOB_KIND_CONFIRM, v1::OUTCOME_CHEAT, 0, 0);
  Record(0, "elsewhere", v1::JOB_KIND_SCREEN, v1::OUTCOME_PASSED, 2, 100, "gpu");
  Record(1, "wrong", v1::JOB_KIND_SCREEN, v1::OUTCOME_INCORRECT, 0, 0);
  const v1::SuiteReport report = Report();
  EXPECT_EQ(report.device_model(), "cpu");
  ASSERT_EQ(report.problems_size(), 4);
  const v1::ProblemStanding& first = report.problems(0);
  EXPECT_EQ(first.evaluations(), 3);
  EXPECT_EQ(first.passed(), 2);
  EXPECT_NEAR(first.candidate_us(), 25, 1e-9);
  EXPECT_NEAR(first.baseline_us(), 100, 1e-9);
  EXPECT_NEAR(first.speedup(), 4, 1e-9);
  EXPECT_TRUE(first.confirmed());
  EXPECT_EQ(first.candidate().latency_us_size(), 2);
  EXPECT_FALSE(first.has_sources());
  EXPECT_EQ(report.problems(1).outcome(), v1::OUTCOME_INCORRECT);
  EXPECT_EQ(report.problems(1).speedup(), 0);
  EXPECT_EQ(report.problems(2).left_out(), "broken");
  EXPECT_EQ(report.problems(3).left_out(), "degenerate: zeros pass");
}

// A screening believes more of what a program reports.
TEST_F(SuiteReportTest, SuspiciousProgramsAreNotRight) {
  Record(0, "marked", v1::JOB_KIND_SCREEN, v1::OUTCOME_PASSED, 1, 100, "cpu",
         "opens files: line 3");
  v1::SuiteReport report = Report();
  EXPECT_EQ(report.problems(0).passed(), 0);
  EXPECT_EQ(report.problems(0).outcome(), v1::OUTCOME_CHEAT);
  EXPECT_EQ(report.problems(0).message(), "suspicious: opens files: line 3");
  EXPECT_EQ(report.problems(0).speedup(), 0);
  // A later measurement was the first to look into it.
  Record(0, "later", v1::JOB_KIND_SCREEN, v1::OUTCOME_PASSED, 2, 100);
  Record(0, "later", v1::JOB_KIND_CONFIRM, v1::OUTCOME_PASSED, 2, 100, "cpu", "audit_clock: 3x");
  Record(0, "honest", v1::JOB_KIND_SCREEN, v1::OUTCOME_PASSED, 50, 100);
  report = Report();
  EXPECT_EQ(report.problems(0).passed(), 1);
  EXPECT_EQ(report.problems(0).outcome(), v1::OUTCOME_PASSED);
  EXPECT_NEAR(report.problems(0).speedup(), 2, 1e-9);
}

TEST_F(SuiteReportTest, AConfirmationCountsMoreThanAScreening) {
  Record(0, "loud", v1::JOB_KIND_SCREEN, v1::OUTCOME_PASSED, 1, 100);
  Record(0, "loud", v1::JOB_KIND_CONFIRM, v1::OUTCOME_PASSED, 125, 100);
  Record(0, "loud", v1::JOB_KIND_SCREEN, v1::OUTCOME_PASSED, 2, 100);
  Record(1, "twice", v1::JOB_KIND_SCREEN, v1::OUTCOME_PASSED, 20, 100);
  Record(1, "twice", v1::JOB_KIND_CONFIRM, v1::OUTCOME_PASSED, 50, 100);
  Record(1, "twice", v1::JOB_KIND_CONFIRM, v1::OUTCOME_PASSED, 40, 100);
  const v1::SuiteReport report = Report();
  EXPECT_NEAR(report.problems(0).speedup(), 0.8, 1e-9);
  EXPECT_NEAR(report.problems(0).candidate_us(), 125, 1e-9);
  EXPECT_FALSE(report.problems(0).confirmed());
  EXPECT_NEAR(report.problems(1).speedup(), 2.5, 1e-9);
  EXPECT_TRUE(report.problems(1).confirmed());
  EXPECT_NEAR(report.problems(1).candidate_us(), 40, 1e-9);
}

TEST_F(SuiteReportTest, OnlyProgramsOnTheTaskAsItIsNow) {
  Record(0, "a", v1::JOB_KIND_SCREEN, v1::OUTCOME_PASSED, 20, 100);
  EXPECT_EQ(Report().problems(0).evaluations(), 1);
  suite_.tasks[0].set_title("another one now");
  EXPECT_EQ(Report().problems(0).evaluations(), 0);
}

TEST_F(SuiteReportTest, FiltersAndSources) {
  Record(0, "a", v1::JOB_KIND_SCREEN, v1::OUTCOME_PASSED, 20, 100);
  v1::ReportSuiteRequest request;
  request.add_tasks("l1");
  request.set_with_sources(true);
  const v1::SuiteReport report = Report(request);
  ASSERT_EQ(report.problems_size(), 2);
  EXPECT_EQ(report.problems(0).sources().files(0).path(), "upstream.py");
  EXPECT_EQ(report.problems(0).sources().files(0).content(), "a");
  request.set_suite("kb");
  request.set_tasks(0, "l");
  EXPECT_THAT(std::string(ReportSuite(store_, suite_, request).status().message()),
              HasSubstr("no task of suite 'kb'"));
  request.set_suite("other");
  EXPECT_THAT(std::string(ReportSuite(store_, suite_, request).status().message()),
              HasSubstr("there are kb"));
}

}  // namespace
}  // namespace ksearch
