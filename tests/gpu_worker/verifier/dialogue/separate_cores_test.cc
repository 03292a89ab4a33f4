#include "gpu_worker/verifier/dialogue/separate_cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace ksearch {
namespace {

cpu_set_t CoresOf(pid_t thread) {
  cpu_set_t cores;
  EXPECT_EQ(::sched_getaffinity(thread, sizeof cores, &cores), 0);
  return cores;
}

TEST(SeparateCoresTest, NoCoreIsSharedWhileItExists) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two cores";
  std::atomic<pid_t> other = 0;
  std::atomic<bool> over = false;
  std::thread thread([&] {
    other = ::gettid();
    while (!over) std::this_thread::yield();
  });
  while (other == 0) std::this_thread::yield();
  const cpu_set_t own_before = CoresOf(0), others_before = CoresOf(other);
  {
    const auto apart = SeparateCores::Make(other);
    EXPECT_NE(apart, nullptr);
    const cpu_set_t own = CoresOf(0), others = CoresOf(other);
    cpu_set_t shared;
    CPU_AND(&shared, &own, &others);
    EXPECT_EQ(CPU_COUNT(&shared), 0);
    EXPECT_EQ(CPU_COUNT(&own), 1);
    EXPECT_GT(CPU_COUNT(&others), 0);
  }
  const cpu_set_t own_after = CoresOf(0), others_after = CoresOf(other);
  EXPECT_TRUE(CPU_EQUAL(&own_before, &own_after));
  EXPECT_TRUE(CPU_EQUAL(&others_before, &others_after));
  over = true;
  thread.join();
}

TEST(SeparateCoresTest, AThreadThatKeepsToOneCoreIsMovedIfThisOneIsThere) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two cores";
  std::atomic<pid_t> other = 0;
  std::atomic<bool> over = false;
  std::thread thread([&] {
    other = ::gettid();
    while (!over) std::this_thread::yield();
  });
  while (other == 0) std::this_thread::yield();
  const cpu_set_t all = CoresOf(0);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &all)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ASSERT_EQ(::sched_setaffinity(other, sizeof one, &one), 0);
    {
      const auto apart = SeparateCores::Make(other);
      EXPECT_NE(apart, nullptr) << core;
      const cpu_set_t own = CoresOf(0), others = CoresOf(other);
      cpu_set_t shared;
      CPU_AND(&shared, &own, &others);
      EXPECT_EQ(CPU_COUNT(&shared), 0) << core;
    }
    const cpu_set_t after = CoresOf(other);
    EXPECT_TRUE(CPU_EQUAL(&one, &after)) << core;
  }
  over = true;
  thread.join();
}

TEST(SeparateCoresTest, NothingChangesWithoutTheOtherThread) {
  const cpu_set_t before = CoresOf(0);
  EXPECT_EQ(SeparateCores::Make(0x3fffffff), nullptr);
  const cpu_set_t after = CoresOf(0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace ksearch
