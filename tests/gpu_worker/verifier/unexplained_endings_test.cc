// Runners that end for no reason of their own, or say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/message_frames.h"
#include "common/textproto.h"
#include "common/unique_fd.h"
#include "gpu_worker/verifier/host/memfd_buffer_sets.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "gpu_worker/verifier/request_loop.h"
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

// Every runner lies except those of trusted programs, which are recognized by their memory: the
// reference may run again for inputs from another seed.
class LyingSandbox final : public Sandbox {
 public:
  // `machine`: the kernel says that this machine has no memory left.
  LyingSandbox(std::string lie, LeapingClock* clock, absl::Duration time_to_die, bool machine)
      : lie_(std::move(lie)), clock_(clock), time_to_die_(time_to_die), machine_(machine) {}

  absl::StatusOr<std::unique_ptr<SandboxedProcess>> Launch(const SandboxSpec& spec) override {
    if (spec.memory_bytes == RunnerStarter::TrustedLimits().memory_bytes()) {
      return plain_.Launch(spec);
    }
    ++liars_;
    SandboxSpec lying = spec;
    lying.argv = {Program("ksearch-lying-runner"), lie_};
    auto process = plain_.Launch(lying);
    if (!process.ok()) return process.status();
    return std::make_unique<SlowProcess>(*std::move(process), clock_, time_to_die_, machine_);
  }
  v1::IsolationLevel isolation() const override { return plain_.isolation(); }
  int liars() const { return liars_; }

 private:
  // Its end takes its time.
  class SlowProcess final : public SandboxedProcess {
   public:
    SlowProcess(std::unique_ptr<SandboxedProcess> process, LeapingClock* clock, absl::Duration time,
                bool machine)
        : process_(std::move(process)), clock_(clock), time_(time), machine_(machine) {}
    std::optional<SandboxExit> Wait(absl::Time deadline) override {
      std::optional<SandboxExit> exit = process_->Wait(deadline);
      clock_->Leap(time_);
      if (exit.has_value()) exit->machine_out_of_memory = machine_;
      return exit;
    }
    void Kill() override { process_->Kill(); }
    void StopKeepingOutput() override { process_->StopKeepingOutput(); }
    pid_t pid() const override { return process_->pid(); }

   private:
    const std::unique_ptr<SandboxedProcess> process_;
    LeapingClock* const clock_;
    const absl::Duration time_;
    const bool machine_;
  };

  PlainSandbox plain_;
  const std::string lie_;
  LeapingClock* const clock_;
  const absl::Duration time_to_die_;
  const bool machine_;
  int liars_ = 0;
};

// A CHECK on a GPU that exists only in what it says of itself.
class UnexplainedEndingsTest : public ::testing::Test {
 protected:
  absl::StatusOr<v1::Verdict> Verify(const std::string& lie,
                                     absl::Duration time_to_die = absl::ZeroDuration()) {
    LyingSandbox sandbox(lie, &clock_, time_to_die, machine_out_of_memory_);
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
  bool machine_out_of_memory_ = false;
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

TEST_F(UnexplainedEndingsTest, WhomTheMachineKilledForLackOfMemoryIsTriedElsewhere) {
  machine_out_of_memory_ = true;
  const auto verdict = Verify("killed");
  EXPECT_EQ(verdict.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(verdict.status().message()), HasSubstr("for lack of memory"));
  EXPECT_EQ(liars_, 1);
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

// Its programs have descriptors enough, as in a sandbox that sets their limit.
class RoomySandbox final : public Sandbox {
 public:
  absl::StatusOr<std::unique_ptr<SandboxedProcess>> Launch(const SandboxSpec& spec) override {
    SandboxSpec roomy = spec;
    roomy.argv = {"/bin/sh", "-c", "ulimit -S -n 256 && exec \"$@\"", "sh"};
    roomy.argv.insert(roomy.argv.end(), spec.argv.begin(), spec.argv.end());
    return plain_.Launch(roomy);
  }
  v1::IsolationLevel isolation() const override { return plain_.isolation(); }

 private:
  PlainSandbox plain_;
};

// A machine that gives the verifier only so many descriptors.
class ShortMachineTest : public ::testing::Test {
 protected:
  ShortMachineTest() { ::getrlimit(RLIMIT_NOFILE, &all_); }
  ~ShortMachineTest() override { ::setrlimit(RLIMIT_NOFILE, &all_); }

  void Allow(rlim_t files) {
    struct rlimit limit = all_;
    limit.rlim_cur = files;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }

  struct rlimit all_;
};

TEST_F(ShortMachineTest, NoLackOfDescriptorsIsAFaultOfAProgram) {
  RoomySandbox sandbox;
  RunnerStarter starter(sandbox, Program("ksearch-runner"), {}, Clock::Real());
  int returned = 0, passed = 0;
  std::set<std::string> reasons;
  // One number more each time: whatever needs a descriptor is the first not to get one.
  for (rlim_t files = 3; passed < 3; ++files) {
    ASSERT_LT(files, 300U) << "it never had enough";
    Bench bench(starter, MemfdBufferSets::Create, Clock::Real(), Bench::Options());
    JobVerifier verifier(bench, [](const v1::VerifierReply::Progress&) {});
    v1::VerifierRequest request = ScreenRequest("honest");
    request.mutable_job()->set_kind(v1::JOB_KIND_CHECK);
    Allow(files);
    const absl::StatusOr<v1::Verdict> verdict = verifier.Verify(request);
    Allow(all_.rlim_cur);
    if (verdict.ok()) {
      EXPECT_EQ(v1::Outcome_Name(verdict->outcome()), "OUTCOME_PASSED")
          << files << " files: " << verdict->message();
      ++passed;
    } else {
      reasons.insert(std::string(verdict.status().message()));
      ++returned;
    }
  }
  EXPECT_GT(returned, 10);
  EXPECT_THAT(reasons, ::testing::Contains(HasSubstr("a copy of the program for its runner")));
}

// Open files of this process.
rlim_t OpenFiles() {
  rlim_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    count += entry.exists() ? 1 : 0;
  }
  return count;
}

TEST_F(ShortMachineTest, WhatIsKeptForLaterJobsGoesWhereThisOneLacksDescriptors) {
  RoomySandbox sandbox;
  RunnerStarter starter(sandbox, Program("ksearch-runner"), {}, Clock::Real());
  Bench bench(starter, MemfdBufferSets::Create, Clock::Real(), Bench::Options());
  v1::VerifierRequest request = ScreenRequest("honest");
  request.mutable_job()->set_kind(v1::JOB_KIND_CHECK);
  const v1::Task& task = request.task();
  const auto other = WorkloadCase::Create(task, task.workloads(0), "another", Seed{1, 1});
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_TRUE(bench.Buffers(*other, 64, "candidate").ok());
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  UniqueFd worker(pair[0]);
  const UniqueFd served(pair[1]);
  std::thread verifier([&] { EXPECT_TRUE(ServeRequests(served.get(), bench).ok()); });
  Allow(OpenFiles() + 3);
  std::vector<v1::VerifierReply> replies(2);
  for (v1::VerifierReply& reply : replies) {
    ASSERT_TRUE(SendMessage(worker.get(), request, absl::InfiniteFuture()).ok());
    do {
      ASSERT_TRUE(ReceiveMessage(worker.get(), absl::InfiniteFuture(), &reply).ok());
    } while (reply.has_progress());
  }
  worker.Reset();
  verifier.join();
  Allow(all_.rlim_cur);
  EXPECT_NE(replies[0].infrastructure_error(), "");
  EXPECT_EQ(replies[1].infrastructure_error(), "");
  EXPECT_EQ(v1::Outcome_Name(replies[1].verdict().outcome()), "OUTCOME_PASSED")
      << replies[1].verdict().message();
}

}  // namespace
}  // namespace ksearch
