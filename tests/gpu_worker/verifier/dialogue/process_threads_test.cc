#include "gpu_worker/verifier/dialogue/process_threads.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "common/clock.h"
#include "common/subprocess.h"

namespace ksearch {
namespace {

TEST(ParseThreadStatTest, ANameMayHoldAnything) {
  const auto stat = ParseThreadStat("12 (a) T 1) R 7 (x) S 1 1 1 0 -1 4194368 72 0 0\n");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->kernel_flags, 4194368u);
  EXPECT_FALSE(stat->exiting());
}

TEST(ParseThreadStatTest, SeesWhoIsOnItsWayOut) {
  EXPECT_TRUE(ParseThreadStat("12 (a) R 1 1 1 0 -1 4194372 72 0 0")->exiting());
  EXPECT_TRUE(ParseThreadStat("12 (a) Z 1 1 1 0 -1 4194304 72 0 0")->exiting());
}

TEST(ParseThreadStatTest, WhoIsOnItsWayOutHasNotEnded) {
  for (const char* text :
       {"12 (a) R 1 1 1 0 -1 4194372 72 0 0", "12 (a) D 1 1 1 0 -1 4194372 72 0 0",
        "12 (a) T 1 1 1 0 -1 4194368 72 0 0"}) {
    EXPECT_FALSE(ParseThreadStat(text)->ended()) << text;
  }
  for (const char* text :
       {"12 (a) Z 1 1 1 0 -1 4194372 72 0 0", "12 (a) X 1 1 1 0 -1 4194372 72 0 0"}) {
    EXPECT_TRUE(ParseThreadStat(text)->ended()) << text;
  }
}

TEST(ParseThreadStatTest, OtherTextIsNone) {
  for (const char* text : {"", "12", "12 (a", "12 (a) ", "12 (a) R 1 1", "12 (a) RR 1 1 1 0 -1 4 0",
                           "12 (a) R 1 1 1 0 -1 many 0"}) {
    EXPECT_FALSE(ParseThreadStat(text).has_value()) << text;
  }
}

class ProcessThreadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    SubprocessOptions options;
    options.argv = {"/usr/bin/sleep", "60"};
    auto process = Subprocess::Start(options);
    ASSERT_TRUE(process.ok()) << process.status();
    process_ = *std::move(process);
  }
  // Waits at most 20 s until the kernel has done what was requested.
  template <typename Condition>
  bool Comes(Condition condition) {
    const absl::Time deadline = Clock::Real().SteadyNow() + absl::Seconds(20);
    while (!condition()) {
      if (Clock::Real().SteadyNow() >= deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  std::unique_ptr<Subprocess> process_;
};

TEST_F(ProcessThreadsTest, TellsAStoppedProcessFromOneThatGoesOn) {
  const ProcessThreads threads(process_->pid());
  EXPECT_FALSE(threads.AllStopped());
  ASSERT_EQ(::kill(process_->pid(), SIGSTOP), 0);
  EXPECT_TRUE(Comes([&] { return threads.AllStopped(); }));
  const auto before = threads.ProcessorTime();
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(threads.ProcessorTime(), before);
  EXPECT_FALSE(threads.Exiting());
  const auto turns = threads.Turns();
  ASSERT_TRUE(turns.has_value());
  ASSERT_EQ(::kill(process_->pid(), SIGCONT), 0);
  EXPECT_TRUE(Comes([&] { return !threads.AllStopped(); }));
  EXPECT_TRUE(Comes([&] { return threads.Turns() > turns; }));
}

TEST_F(ProcessThreadsTest, AKilledProcessIsExiting) {
  const ProcessThreads threads(process_->pid());
  EXPECT_FALSE(threads.Exiting());
  process_->Kill();
  EXPECT_TRUE(Comes([&] { return threads.Exiting(); }));
}

TEST(OwnThreadsTest, CountsTheMemoryThatIsInUse) {
  const ProcessThreads threads(::getpid());
  const int64_t before = threads.ResidentBytes();
  const std::string block(64 << 20, 'x');
  EXPECT_GE(threads.ResidentBytes(), before + (int64_t{48} << 20)) << block.size();
}

}  // namespace
}  // namespace ksearch
