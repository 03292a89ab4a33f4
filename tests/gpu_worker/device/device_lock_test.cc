#include "gpu_worker/device/device_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/subprocess.h"
#include "common/unique_fd.h"

namespace ksearch {
namespace {

using Mode = DeviceLock::Mode;

class DeviceLockTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = absl::StrCat(testing::TempDir(), "device_lock_test.", ::getpid());
    // Two objects, as in two workers.
    first_ = DeviceLock::Create(path_).value();
    second_ = DeviceLock::Create(path_).value();
  }
  void TearDown() override {
    ::unlink(path_.c_str());
    ::unlink((path_ + ".gate").c_str());
  }

  // Returns whether `lock` is free, by cancelling the wait.
  static bool Free(DeviceLock& lock, Mode mode) {
    std::stop_source stop;
    auto waiting =
        std::async(std::launch::async, [&] { return lock.Acquire(mode, stop.get_token()); });
    const bool had = waiting.wait_for(std::chrono::milliseconds(100)) == std::future_status::ready;
    stop.request_stop();
    return waiting.get().ok() && had;
  }

  std::string path_;
  std::unique_ptr<DeviceLock> first_, second_;
};

TEST_F(DeviceLockTest, MeasuringExcludesEverything) {
  std::optional<DeviceLock::Hold> hold = first_->Acquire(Mode::kExclusive, {}).value();
  EXPECT_FALSE(Free(*second_, Mode::kExclusive));
  EXPECT_FALSE(Free(*second_, Mode::kShared));
  EXPECT_FALSE(Free(*first_, Mode::kShared));
  hold.reset();
  EXPECT_TRUE(Free(*second_, Mode::kExclusive));
}

TEST_F(DeviceLockTest, BuildsRunSideBySide) {
  const auto hold = first_->Acquire(Mode::kShared, {});
  EXPECT_TRUE(Free(*second_, Mode::kShared));
  EXPECT_FALSE(Free(*second_, Mode::kExclusive));
}

TEST_F(DeviceLockTest, WaitingToMeasureHoldsBackLaterBuilds) {
  std::optional<DeviceLock::Hold> build = first_->Acquire(Mode::kShared, {}).value();
  auto measure =
      std::async(std::launch::async, [&] { return second_->Acquire(Mode::kExclusive, {}).ok(); });
  // Others see the wait as soon as it holds the gate.
  while (Free(*first_, Mode::kShared)) {
  }
  build.reset();
  EXPECT_TRUE(measure.get());
}

TEST_F(DeviceLockTest, StopEndsTheWait) {
  const auto hold = first_->Acquire(Mode::kExclusive, {});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(second_->Acquire(Mode::kShared, stop.get_token()).status().code(),
            absl::StatusCode::kCancelled);
}

TEST_F(DeviceLockTest, AnotherProcessThatHoldsItIsNamed) {
  EXPECT_EQ(first_->HeldByAnother(), "");
  std::optional<DeviceLock::Hold> hold = first_->Acquire(Mode::kExclusive, {}).value();
  EXPECT_EQ(second_->HeldByAnother(), "") << "this process does";
  hold.reset();
  SubprocessOptions options;
  options.argv = {"/usr/bin/flock", path_, "/bin/sh", "-c", "echo; exec sleep 100"};
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  UniqueFd reading(pipe[0]), writing(pipe[1]);
  options.inherited_fds = {{writing.get(), 1}};
  auto child = Subprocess::Start(options);
  ASSERT_TRUE(child.ok()) << child.status();
  char held = 0;
  ASSERT_EQ(::read(reading.get(), &held, 1), 1);
  EXPECT_EQ(first_->HeldByAnother(), absl::StrCat("process ", (*child)->pid(), " (flock)"));
}

TEST_F(DeviceLockTest, UnusablePathIsNamed) {
  const auto lock = DeviceLock::Create("/no/such/folder/lock");
  EXPECT_EQ(lock.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(lock.status().message().find("/no/such/folder/lock"), absl::string_view::npos);
}

}  // namespace
}  // namespace ksearch
