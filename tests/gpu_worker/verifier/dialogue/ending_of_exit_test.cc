#include "gpu_worker/verifier/dialogue/ending_of_exit.h"

#include <gtest/gtest.h>

#include <csignal>

namespace ksearch {
namespace {

SandboxExit Killed(int signal) {
  SandboxExit exit;
  exit.signaled = true;
  exit.code = signal;
  return exit;
}

TEST(EndingOfExitTest, TheStageDecidesTheOutcome) {
  SandboxExit exit;
  exit.code = 3;
  EXPECT_EQ(EndingOfExit(exit, /*loading=*/true).outcome, v1::OUTCOME_LOAD_ERROR);
  const Ending in_call = EndingOfExit(exit, /*loading=*/false);
  EXPECT_EQ(in_call.outcome, v1::OUTCOME_RUNTIME_ERROR);
  EXPECT_EQ(in_call.message, "the process exited with status 3 in a call");
}

TEST(EndingOfExitTest, ASignalThatASupervisorReportsIsThatSignal) {
  SandboxExit exit;
  exit.code = 128 + SIGSEGV;
  EXPECT_EQ(EndingOfExit(exit, false).message, EndingOfExit(Killed(SIGSEGV), false).message);
}

TEST(EndingOfExitTest, AFaultIsACrashInACallOnly) {
  EXPECT_TRUE(EndingOfExit(Killed(SIGSEGV), /*loading=*/false).crashed);
  EXPECT_FALSE(EndingOfExit(Killed(SIGSEGV), /*loading=*/true).crashed);
  EXPECT_FALSE(EndingOfExit(Killed(SIGKILL), /*loading=*/false).crashed);
}

TEST(EndingOfExitTest, OthersMayHaveSentTheSignalsOfABatchSystem) {
  EXPECT_TRUE(EndingOfExit(Killed(SIGTERM), false).killed);
  EXPECT_FALSE(EndingOfExit(Killed(SIGABRT), false).killed);
}

TEST(EndingOfExitTest, LimitsAreToldFromAMachineWithoutMemory) {
  SandboxExit exit = Killed(SIGKILL);
  exit.machine_out_of_memory = true;
  EXPECT_TRUE(EndingOfExit(exit, false).machine_failed);
  exit.memory_limit_hit = true;
  EXPECT_FALSE(EndingOfExit(exit, false).machine_failed);
  EXPECT_EQ(EndingOfExit(exit, false).outcome, v1::OUTCOME_RESOURCE_LIMIT);
  EXPECT_EQ(EndingOfExit(Killed(SIGXCPU), false).outcome, v1::OUTCOME_RESOURCE_LIMIT);
}

}  // namespace
}  // namespace ksearch
