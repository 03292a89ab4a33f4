#include "autoscaler/fleet/command_fleet.h"

#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/autoscaler/program_folder.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

class CommandFleetTest : public ::testing::Test {
 protected:
  std::unique_ptr<FleetProvider> Make(const std::string& script) {
    v1::WorkerPool pool;
    pool.set_name("p");
    pool.set_coordinator_for_workers("10.0.0.1:7400");
    *pool.mutable_cool_down() = ToProto(absl::Minutes(5));
    *pool.mutable_leave_grace() = ToProto(absl::Seconds(60));
    pool.mutable_command()->add_argv(folder_.Write("fleet", script));
    pool.mutable_command()->add_argv("--zone=a b");
    return CommandFleet::Create(pool).value();
  }
  ProgramFolder folder_;
};

TEST_F(CommandFleetTest, TheProgramStartsListsAndStops) {
  const auto fleet = Make(
      "echo \"$@ $KSEARCH_POOL $KSEARCH_COORDINATOR $KSEARCH_IDLE_TIMEOUT [$KSEARCH_TOKEN]\" "
      ">>$F/log\n"
      "if [ $2 = list ]; then echo 'a running'; echo 'b-1 pending no machine is free'; "
      "echo 'c failed quota'; fi\n");
  ::setenv("KSEARCH_TOKEN", "secret", 1);
  ASSERT_TRUE(fleet->Start(1).ok());
  const absl::StatusOr<Fleet> listed = fleet->List();
  ::unsetenv("KSEARCH_TOKEN");
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->instances.size(), 3u);
  EXPECT_EQ(listed->instances[0].state, Instance::State::kRunning);
  EXPECT_EQ(listed->instances[1].state, Instance::State::kPending);
  EXPECT_EQ(listed->instances[1].note, "no machine is free");
  EXPECT_EQ(listed->instances[2].state, Instance::State::kFailed);
  EXPECT_TRUE(fleet->Stop("a", FleetProvider::Manner::kGently).ok());
  EXPECT_TRUE(fleet->Stop("a", FleetProvider::Manner::kAtOnce).ok());
  const std::string log = folder_.Read("log");
  EXPECT_THAT(log, HasSubstr("--zone=a b start p-"));
  EXPECT_THAT(log, HasSubstr(" p 10.0.0.1:7400 5m []\n"));
  EXPECT_THAT(log, HasSubstr("--zone=a b stop a "));
  EXPECT_THAT(log, HasSubstr("--zone=a b kill a "));
}

TEST_F(CommandFleetTest, WhatItSaysLastOnStandardErrorIsTheReason) {
  const auto fleet = Make("echo first >&2; echo 'no quota left' >&2; exit 7\n");
  const absl::Status status = fleet->Start(1);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no quota left"));
  EXPECT_EQ(std::string(status.message()).find("first"), std::string::npos);
}

TEST_F(CommandFleetTest, AListThatMakesNoSenseIsAnError) {
  for (const char* line : {"a", "a gone", "../a running", "a/b pending"}) {
    const auto fleet = Make(std::string("echo '") + line + "'\n");
    EXPECT_FALSE(fleet->List().ok()) << line;
  }
}

TEST_F(CommandFleetTest, AProgramThatHangsIsEnded) {
  v1::WorkerPool pool;
  pool.mutable_command()->add_argv(folder_.Write("hangs", "sleep 100\n"));
  *pool.mutable_command()->mutable_timeout() = ToProto(absl::Milliseconds(200));
  EXPECT_THAT(std::string(CommandFleet::Create(pool).value()->List().status().message()),
              HasSubstr("did not end within 200ms"));
}

TEST_F(CommandFleetTest, AMissingProgramIsNamed) {
  v1::WorkerPool pool;
  pool.mutable_command()->add_argv("/nowhere/fleet");
  EXPECT_THAT(std::string(CommandFleet::Create(pool).value()->List().status().message()),
              HasSubstr("/nowhere/fleet"));
}

}  // namespace
}  // namespace ksearch
