#include "gpu_worker/verifier/dialogue/runner_link.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/fakes/plain_sandbox.h"
#include "tests/gpu_worker/verifier/matmul_task.h"

namespace ksearch {
namespace {

// The process's end shows only when it is asked for a second time, as on a machine that is too busy
// to take the sandbox down.
class LateProcess final : public SandboxedProcess {
 public:
  explicit LateProcess(std::unique_ptr<SandboxedProcess> process) : process_(std::move(process)) {}
  std::optional<SandboxExit> Wait(absl::Time deadline) override {
    std::optional<SandboxExit> exit = process_->Wait(deadline);
    return std::exchange(asked_, true) ? exit : std::nullopt;
  }
  void Kill() override { process_->Kill(); }
  void StopKeepingOutput() override { process_->StopKeepingOutput(); }

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

// How loading the candidate ends.
Ending LoadInLateSandbox(const std::string& candidate) {
  LateSandbox sandbox;
  SandboxSpec spec;
  spec.argv = {std::string(std::getenv("KSEARCH_BIN_DIR")) + "/ksearch-runner"};
  auto link = RunnerLink::Start(sandbox, spec, Clock::Real());
  auto program = ProgramImage::Open(CandidateArtifact(candidate));
  EXPECT_TRUE(link.ok() && program.ok()) << link.status() << program.status();
  if (!link.ok() || !program.ok()) return {};
  return (*link)->Load(*program, Clock::Real().SteadyNow() + absl::Seconds(30));
}

TEST(RunnerLinkTest, ADeathThatShowsLateIsNoClosedSocket) {
  const Ending ending = LoadInLateSandbox("constructor_crash");
  EXPECT_EQ(ending.outcome, v1::OUTCOME_LOAD_ERROR) << ending.message;
}

}  // namespace
}  // namespace ksearch
