// Runners that end for no reason of their own, or say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "common/clock.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/host/memfd_buffer_sets.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "tests/fakes/plain_sandbox.h"
#include "tests/gpu_worker/verifier/matmul_task.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The real clock, put forward by whoever wants to have taken long.
class LeapingClock final : public Clock {
 public:
  absl::Time Now() const override { return Clock::Real().Now() + leapt_; }
  absl::Time SteadyNow() const override { return Clock::Real().SteadyNow() + leapt_; }
  void Leap(absl::Duration time) { leapt_ += time; }

 private:
  absl::Duration leapt_;
};

std::string Program(const char* name) {
  return std::string(std::getenv("KSEARCH_BIN_DIR")) + "/" + name;
}

// Every runner lies but those of trusted programs, told by the memory that they are given: the
// reference may run again for inputs from another seed.
class LyingSandbox final : public Sandbox {
 public:
  LyingSandbox(std::string lie, LeapingClock* clock, absl::Duration time_to_die)
      : lie_(std::move(lie)), clock_(clock), time_to_die_(time_to_die) {}

  absl::StatusOr<std::unique_ptr<SandboxedProcess>> Launch(const SandboxSpec& spec) override {
    if (spec.memory_bytes == RunnerStarter::TrustedLimits().memory_bytes()) {
      return plain_.Launch(spec);
    }
    ++liars_;
    SandboxSpec lying = spec;
    lying.argv = {Program("ksearch-lying-runner"), lie_};
    auto process = plain_.Launch(lying);
    if (!process.ok()) return process.status();
    return std::make_unique<SlowProcess>(*std::move(process), clock_, time_to_die_);
  }
  v1::IsolationLevel isolation() const override { return plain_.isolation(); }
  int liars() const { return liars_; }

 private:
  // Its end takes its time.
  class SlowProcess final : public SandboxedProcess {
   public:
    SlowProcess(std::unique_ptr<SandboxedProcess> process, LeapingClock* clock, absl::Duration time)
        : process_(std::move(process)), clock_(clock), time_(time) {}
    std::optional<SandboxExit> Wait(absl::Time deadline) override {
      std::optional<SandboxExit> exit = process_->Wait(deadline);
      clock_->Leap(time_);
      return exit;
    }
    void Kill() override { process_->Kill(); }
    void StopKeepingOutput() override { process_->StopKeepingOutput(); }

   private:
    const std::unique_ptr<SandboxedProcess> process_;
    LeapingClock* const clock_;
    const absl::Duration time_;
  };

  PlainSandbox plain_;
  const std::string lie_;
  LeapingClock* const clock_;
  const absl::Duration time_to_die_;
  int liars_ = 0;
};

// A CHECK on a GPU that exists only in what it says of itself.
class UnexplainedEndingsTest : public ::testing::Test {
 protected:
  absl::StatusOr<v1::Verdict> Verify(const std::string& lie,
                                     absl::Duration time_to_die = absl::ZeroDuration()) {
    LyingSandbox sandbox(lie, &clock_, time_to_die);
    RunnerStarter starter(sandbox, Program("ksearch-runner"), {}, clock_);
    Bench::Options options;
    options.device_health = [this] { return health_; };
    options.gpu.emplace();
    options.gpu->probe = [this] {
      ++probes_;
      return probe_;
    };
    Bench bench(starter, MemfdBufferSets::Create, clock_, options);
    JobVerifier verifier(bench, [this](const v1::VerifierReply::Progress& progress) {
      if (progress.stage() == "check") clock_.Leap(time_to_check_);
    });
    v1::VerifierRequest request = ScreenRequest("honest");
    request.mutable_job()->set_kind(v1::JOB_KIND_CHECK);
    *request.mutable_job()->mutable_limits()->mutable_total_time() = ToProto(total_time_);
    absl::StatusOr<v1::Verdict> verdict = verifier.Verify(request);
    liars_ = sandbox.liars();
    return verdict;
  }

  LeapingClock clock_;
  absl::Status health_, probe_;
  absl::Duration total_time_ = absl::Minutes(10);
  absl::Duration time_to_check_;
  int probes_ = 0;
  int liars_ = 0;
};

TEST_F(UnexplainedEndingsTest, ADeviceErrorThatTheDeviceDoesNotKnowOfIsTheCandidates) {
  const auto verdict = Verify("device-error");
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->outcome(), v1::OUTCOME_RUNTIME_ERROR);
  EXPECT_THAT(verdict->message(), HasSubstr("reported a device error which the device does not "
                                            "know of: workload small: CUDA_ERROR_ECC"));
  EXPECT_EQ(liars_, 3);
  // After each try, and once more before the next job.
  EXPECT_EQ(probes_, 4);
}

TEST_F(UnexplainedEndingsTest, ADeviceThatFailsItsProbeGetsTheJobReturned) {
  probe_ = absl::UnavailableError("no kernel runs");
  const auto verdict = Verify("device-error");
  EXPECT_EQ(verdict.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(verdict.status().message()), HasSubstr("ECC_UNCORRECTABLE"));
  EXPECT_THAT(std::string(verdict.status().message()), HasSubstr("no kernel runs"));
  EXPECT_EQ(liars_, 1);
}

TEST_F(UnexplainedEndingsTest, ADeviceThatKnowsItselfSickGetsTheJobReturned) {
  health_ = absl::UnavailableError("lost from the bus");
  const auto verdict = Verify("device-error");
  EXPECT_EQ(verdict.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(verdict.status().message()), HasSubstr("lost from the bus"));
  EXPECT_EQ(liars_, 1);
}

TEST_F(UnexplainedEndingsTest, WhoIsKilledEveryTimeDidIt) {
  const auto verdict = Verify("killed");
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->outcome(), v1::OUTCOME_RUNTIME_ERROR);
  EXPECT_THAT(verdict->message(), HasSubstr("killed by SIGKILL in a call"));
  EXPECT_EQ(liars_, 3);
}

TEST_F(UnexplainedEndingsTest, ASignalOfABatchSystemMayBeSomebodyElsesToo) {
  const auto verdict = Verify("ended");
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->outcome(), v1::OUTCOME_RUNTIME_ERROR);
  EXPECT_THAT(verdict->message(), HasSubstr("killed by SIGTERM in a call"));
  EXPECT_EQ(liars_, 3);
}

TEST_F(UnexplainedEndingsTest, WithoutTimeLeftThereIsNoOtherTry) {
  const auto verdict = Verify("killed", absl::Minutes(11));
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->outcome(), v1::OUTCOME_RUNTIME_ERROR) << verdict->message();
  EXPECT_THAT(verdict->message(), HasSubstr("killed by SIGKILL in a call"));
  EXPECT_EQ(liars_, 1);
}

TEST_F(UnexplainedEndingsTest, AllTriesHaveTheTimeOfOne) {
  time_to_check_ = absl::Minutes(6);
  const auto verdict = Verify("killed");
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->outcome(), v1::OUTCOME_TIMEOUT) << verdict->message();
  EXPECT_EQ(liars_, 2);
}

TEST_F(UnexplainedEndingsTest, ATryWithoutTimeDoesNotBegin) {
  total_time_ = absl::ZeroDuration();
  const auto verdict = Verify("killed");
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->outcome(), v1::OUTCOME_TIMEOUT) << verdict->message();
  EXPECT_THAT(verdict->message(), HasSubstr("limits.total_time"));
  EXPECT_EQ(liars_, 0);
}

TEST_F(UnexplainedEndingsTest, DeviceErrorsHaveTheTimeOfOneTryToo) {
  time_to_check_ = absl::Minutes(6);
  const auto verdict = Verify("device-error");
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->outcome(), v1::OUTCOME_TIMEOUT) << verdict->message();
  EXPECT_THAT(verdict->message(), Not(HasSubstr("does not know of")));
  EXPECT_EQ(liars_, 2);
}

}  // namespace
}  // namespace ksearch
