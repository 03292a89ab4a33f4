#include "gpu_worker/executor/build_turns.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/fakes/plain_sandbox.h"

namespace ksearch {
namespace {

using Mode = DeviceLock::Mode;
using std::chrono::milliseconds;

constexpr auto kMoment = milliseconds(150);

class BuildTurnsTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = absl::StrCat(testing::TempDir(), "build_turns_test.", ::getpid());
    lock_ = DeviceLock::Create(path_).value();
    measuring_ = DeviceLock::Create(path_).value();
    Open(absl::Milliseconds(300));
  }
  void TearDown() override {
    turns_.reset();
    ::unlink(path_.c_str());
    ::unlink((path_ + ".gate").c_str());
  }
  void Open(absl::Duration patience) {
    turns_ = std::make_unique<BuildTurns>(lock_.get(), &sandbox_, patience);
  }
  std::future<absl::StatusOr<DeviceLock::Hold>> Measure() {
    return std::async(std::launch::async,
                      [this] { return measuring_->Acquire(Mode::kExclusive, {}); });
  }
  // Whether builds are paused: a program's time stands still then.
  bool Paused() {
    const absl::Time before = sandbox_.Now();
    absl::SleepFor(absl::Milliseconds(5));
    return sandbox_.Now() == before;
  }
  template <typename T>
  static bool Waits(std::future<T>& result) {
    return result.wait_for(kMoment) == std::future_status::timeout;
  }

  std::string path_;
  std::unique_ptr<DeviceLock> lock_, measuring_;
  PlainSandbox plain_;
  PausableSandbox sandbox_{plain_, Clock::Real()};
  std::unique_ptr<BuildTurns> turns_;
};

TEST_F(BuildTurnsTest, BuildsRunSideBySideAndNotBesideAMeasurement) {
  std::optional<BuildTurns::Turn> one = turns_->Begin({}).value();
  std::optional<BuildTurns::Turn> two = turns_->Begin({}).value();
  auto measurement = Measure();
  EXPECT_TRUE(Waits(measurement));
  one.reset();
  two.reset();
  std::optional<DeviceLock::Hold> hold = measurement.get().value();
  EXPECT_FALSE(Paused());
  std::stop_source stop;
  auto build = std::async(std::launch::async, [&] { return turns_->Begin(stop.get_token()); });
  EXPECT_TRUE(Waits(build));
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(build.get().status()));
}

TEST_F(BuildTurnsTest, ALongBuildIsPausedForAMeasurementAndGoesOnAfterIt) {
  std::optional<BuildTurns::Turn> build = turns_->Begin({}).value();
  for (int time = 0; time < 2; ++time) {
    auto measurement = Measure();
    std::optional<DeviceLock::Hold> hold = measurement.get().value();
    EXPECT_TRUE(Paused());
    // Another build of this worker waits for the same measurement.
    auto other = std::async(std::launch::async, [&] { return turns_->Begin({}); });
    EXPECT_TRUE(Waits(other));
    EXPECT_TRUE(Paused());
    hold.reset();
    EXPECT_TRUE(other.get().ok());
    while (Paused()) absl::SleepFor(absl::Milliseconds(5));
    // It has the processors again, for as long as others are patient.
    auto next = Measure();
    EXPECT_TRUE(Waits(next));
    next.get().value();
  }
  while (Paused()) absl::SleepFor(absl::Milliseconds(5));
  build.reset();
  EXPECT_TRUE(measuring_->TryAcquireExclusive().value().has_value());
}

TEST_F(BuildTurnsTest, ABuildThatEndsDuringAPauseHoldsNothingAfterIt) {
  std::optional<BuildTurns::Turn> build = turns_->Begin({}).value();
  std::optional<DeviceLock::Hold> hold = Measure().get().value();
  build.reset();  // it was stopped
  hold.reset();
  while (Paused()) absl::SleepFor(absl::Milliseconds(5));
  EXPECT_TRUE(measuring_->TryAcquireExclusive().value().has_value());
}

TEST_F(BuildTurnsTest, TheEndDuringAPauseLetsProgramsContinue) {
  std::optional<BuildTurns::Turn> build = turns_->Begin({}).value();
  const std::optional<DeviceLock::Hold> hold = Measure().get().value();
  EXPECT_TRUE(Paused());
  build.reset();
  turns_.reset();
  EXPECT_FALSE(Paused());
}

}  // namespace
}  // namespace ksearch
