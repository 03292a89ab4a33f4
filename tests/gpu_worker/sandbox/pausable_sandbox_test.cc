#include "gpu_worker/sandbox/pausable_sandbox.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "gpu_worker/sandbox/process_tree.h"
#include "gpu_worker/sandbox/sandbox_factory.h"
#include "tests/fakes/eventually.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"

namespace ksearch {
namespace {

// Starts three processes each time around, one of which outlives its parent.
constexpr char kBusy[] =
    "i=0; while :; do i=$((i+1)); echo $i > /out/next; /bin/mv /out/next /out/n; "
    "(/bin/sleep 0.01 &); done";

class PausableSandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeSandbox(v1::SandboxSettings());
    ASSERT_TRUE(made.ok()) << made.status();
    inner_ = *std::move(made);
    sandbox_ = std::make_unique<PausableSandbox>(*inner_, Clock::Real());
    folder_ = ScratchFolder() + "/out";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }

  std::unique_ptr<SandboxedProcess> Start(const std::string& script) {
    SandboxSpec spec;
    spec.argv = {"/bin/sh", "-c", script};
    spec.binds.push_back({.host_path = folder_, .inside_path = "/out", .writable = true});
    auto process = sandbox_->Launch(spec);
    EXPECT_TRUE(process.ok()) << process.status();
    return *std::move(process);
  }
  // How often the busy program has been around.
  int64_t Rounds() const {
    std::string text;
    std::ifstream(folder_ + "/n") >> text;
    int64_t rounds = 0;
    return absl::SimpleAtoi(text, &rounds) ? rounds : 0;
  }
  void AwaitProgress() {
    const int64_t before = Rounds();
    EXPECT_TRUE(Eventually([&] { return Rounds() > before; }));
  }

  std::unique_ptr<Sandbox> inner_;
  std::unique_ptr<PausableSandbox> sandbox_;
  std::string folder_;
};

TEST_F(PausableSandboxTest, NothingRunsDuringAPauseHoweverManyProcessesThereAre) {
  const auto process = Start(kBusy);
  for (int time = 0; time < 5; ++time) {
    AwaitProgress();
    sandbox_->Pause();
    const int64_t rounds = Rounds();
    absl::SleepFor(absl::Milliseconds(100));
    EXPECT_EQ(Rounds(), rounds);
    sandbox_->Resume();
  }
  AwaitProgress();
}

TEST_F(PausableSandboxTest, AProgramThatIsLaunchedDuringAPauseWaits) {
  sandbox_->Pause();
  const auto process = Start(kBusy);
  absl::SleepFor(absl::Milliseconds(50));  // it may have begun before it was stopped
  const int64_t rounds = Rounds();
  absl::SleepFor(absl::Milliseconds(100));
  EXPECT_EQ(Rounds(), rounds);
  sandbox_->Resume();
  AwaitProgress();
}

TEST_F(PausableSandboxTest, APauseCountsForNoDeadline) {
  const auto process = Start("/bin/sleep 0.3; exit 7");
  const absl::Time deadline = sandbox_->Now() + absl::Seconds(5);
  sandbox_->Pause();
  const absl::Time paused = sandbox_->Now();
  std::optional<SandboxExit> exit;
  std::jthread waiter([&] { exit = process->Wait(deadline); });
  absl::SleepFor(absl::Seconds(6));
  EXPECT_EQ(sandbox_->Now(), paused);
  sandbox_->Resume();
  waiter.join();
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 7);
  EXPECT_LT(sandbox_->Now(), deadline);
}

TEST_F(PausableSandboxTest, APausedProgramCanBeKilledAndMissesItsDeadlineAfterwards) {
  auto process = Start(kBusy);
  AwaitProgress();
  sandbox_->Pause();
  process->Kill();
  const auto exit = process->Wait(absl::InfiniteFuture());
  ASSERT_TRUE(exit.has_value());
  EXPECT_TRUE(exit->signaled);
  process.reset();
  sandbox_->Resume();
  process = Start(kBusy);
  EXPECT_FALSE(process->Wait(sandbox_->Now() + absl::Milliseconds(300)).has_value());
}

TEST(ProcessTreeTest, AProcessThatIsNoChildIsLeftAlone) {
  EXPECT_TRUE(StopTree(::getppid(), absl::Seconds(1)));
  EXPECT_TRUE(StopTree(1, absl::Seconds(1)));
  ContinueTree(1);
}

}  // namespace
}  // namespace ksearch
