#include "gpu_worker/verifier/dialogue/runner_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <string>

#include "gpu_worker/verifier/dialogue/process_threads.h"
#include "tests/fakes/plain_sandbox.h"
#include "tests/gpu_worker/verifier/matmul_task.h"

namespace ksearch {
namespace {

// The process's end becomes visible only at the second query, as on a machine that is too busy to
// take the sandbox down.
class LateProcess final : public SandboxedProcess {
 public:
  explicit LateProcess(std::unique_ptr<SandboxedProcess> process) : process_(std::move(process)) {}
  std::optional<SandboxExit> Wait(absl::Time deadline) override {
    std::optional<SandboxExit> exit = process_->Wait(deadline);
    return std::exchange(asked_, true) ? exit : std::nullopt;
  }
  void Kill() override { process_->Kill(); }
  void StopKeepingOutput() override { process_->StopKeepingOutput(); }
  pid_t pid() const override { return process_->pid(); }

 private:
  const std::unique_ptr<SandboxedProcess> process_;
  bool asked_ = false;
};

class LateSandbox final : public Sandbox {
 public:
  absl::StatusOr<std::unique_ptr<SandboxedProcess>> Launch(const SandboxSpec& spec) override {
    auto process = plain_.Launch(spec);
    if (!process.ok()) return process.status();
    return std::make_unique<LateProcess>(*std::move(process));
  }
  v1::IsolationLevel isolation() const override { return plain_.isolation(); }

 private:
  PlainSandbox plain_;
};

absl::Time Soon() { return Clock::Real().SteadyNow() + absl::Seconds(30); }

// A runner, and how loading the candidate into it ended.
struct Loaded {
  std::unique_ptr<RunnerLink> link;
  Ending ending;
};
Loaded LoadIn(Sandbox& sandbox, const std::string& candidate) {
  SandboxSpec spec;
  spec.argv = {std::string(std::getenv("KSEARCH_BIN_DIR")) + "/ksearch-runner"};
  auto link = RunnerLink::Launch(sandbox, spec, Clock::Real());
  auto program = ProgramImage::Open(CandidateArtifact(candidate));
  EXPECT_TRUE(link.ok() && program.ok()) << link.status() << program.status();
  if (!link.ok() || !program.ok()) return {};
  EXPECT_TRUE((*link)->AwaitHello().ok());
  const Ending ending = (*link)->Load(*program, Soon());
  return {*std::move(link), ending};
}

TEST(RunnerLinkTest, ADeathThatShowsLateIsNoClosedSocket) {
  LateSandbox sandbox;
  const Loaded loaded = LoadIn(sandbox, "constructor_crash");
  EXPECT_EQ(loaded.ending.outcome, v1::OUTCOME_LOAD_ERROR) << loaded.ending.message;
}

TEST(RunnerLinkTest, WhoStaysStoppedIsNotAccused) {
  PlainSandbox sandbox;
  for (int time = 0; time < 10; ++time) {
    const Loaded loaded = LoadIn(sandbox, "spinning_thread");
    ASSERT_TRUE(loaded.ending.passed()) << loaded.ending.message;
    absl::SleepFor(absl::Milliseconds(20));
    // The reply to an empty request is the next one that is read.
    const Ending ending = loaded.link->Map({MapPacket()}, Soon());
    EXPECT_NE(ending.outcome, v1::OUTCOME_CHEAT) << ending.message;
    EXPECT_THAT(ending.message, ::testing::HasSubstr("mapping the buffers failed"));
  }
}

TEST(RunnerLinkTest, WhoGoesOnWhileItShouldBeStoppedCheats) {
  PlainSandbox sandbox;
  const Loaded loaded = LoadIn(sandbox, "spinning_thread");
  ASSERT_TRUE(loaded.ending.passed()) << loaded.ending.message;
  const ProcessThreads threads(sandbox.last_pid());
  const std::optional<absl::Duration> before = threads.ProcessorTime();
  ASSERT_TRUE(before.has_value());
  ASSERT_EQ(::kill(sandbox.last_pid(), SIGCONT), 0);
  while (threads.ProcessorTime() < *before + absl::Milliseconds(10))
    absl::SleepFor(absl::Milliseconds(1));
  ASSERT_EQ(::kill(sandbox.last_pid(), SIGSTOP), 0);  // as it was left
  const Ending ending = loaded.link->Map({MapPacket()}, Soon());
  EXPECT_EQ(ending.outcome, v1::OUTCOME_CHEAT);
  EXPECT_THAT(ending.message, ::testing::HasSubstr("while it was stopped"));
}

}  // namespace
}  // namespace ksearch
