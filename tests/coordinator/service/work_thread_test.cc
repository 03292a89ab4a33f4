#include "coordinator/service/work_thread.h"

#include <vector>

#include "gtest/gtest.h"

namespace ksearch {
namespace {

TEST(WorkThreadTest, RunsInOrderAndFinishesWhatIsQueued) {
  std::vector<int> done;
  {
    WorkThread thread;
    for (int i = 0; i < 100; ++i) thread.Post([&done, i] { done.push_back(i); });
  }
  ASSERT_EQ(done.size(), 100u);
  EXPECT_EQ(done.front(), 0);
  EXPECT_EQ(done.back(), 99);
}

TEST(WorkThreadTest, WorkPostedAfterStopIsDropped) {
  bool ran = false;
  WorkThread thread;
  thread.Stop();
  thread.Post([&] { ran = true; });
  thread.Stop();
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace ksearch
