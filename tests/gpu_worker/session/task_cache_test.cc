#include "gpu_worker/session/task_cache.h"

#include "common/identity.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

v1::Task SomeTask() {
  v1::Task task;
  task.set_name("axpy");
  return task;
}

TEST(TaskCacheTest, FetchesOnce) {
  int fetches = 0;
  TaskCache cache([&](const std::string&) -> absl::StatusOr<std::string> {
    ++fetches;
    return SomeTask().SerializeAsString();
  });
  const std::string name = TaskDigest(SomeTask());
  for (int i = 0; i < 3; ++i) {
    const auto task = cache.Get(name, {});
    ASSERT_TRUE(task.ok()) << task.status();
    EXPECT_EQ((*task)->name(), "axpy");
  }
  EXPECT_EQ(fetches, 1);
}

TEST(TaskCacheTest, BlobThatIsAnotherTaskIsRefused) {
  TaskCache cache([](const std::string&) -> absl::StatusOr<std::string> {
    return SomeTask().SerializeAsString();
  });
  const auto task = cache.Get(std::string(64, '0'), {});
  EXPECT_EQ(task.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(task.status().message().find("axpy"), std::string::npos);
}

TEST(TaskCacheTest, BytesThatAreNoTaskAreRefused) {
  TaskCache cache([](const std::string&) -> absl::StatusOr<std::string> { return "\xff\xff"; });
  EXPECT_EQ(cache.Get(std::string(64, '0'), {}).status().code(), absl::StatusCode::kDataLoss);
}

TEST(TaskCacheTest, MissingBlobIsNotTriedAgainUnavailableOneIs) {
  int fetches = 0;
  TaskCache missing([&](const std::string&) -> absl::StatusOr<std::string> {
    ++fetches;
    return absl::NotFoundError("no blob");
  });
  EXPECT_EQ(missing.Get("x", {}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(fetches, 1);

  bool away = true;
  TaskCache flaky([&](const std::string&) -> absl::StatusOr<std::string> {
    if (std::exchange(away, false)) return absl::UnavailableError("restarting");
    return SomeTask().SerializeAsString();
  });
  EXPECT_TRUE(flaky.Get(TaskDigest(SomeTask()), {}).ok());
}

TEST(TaskCacheTest, StopEndsTheWait) {
  std::stop_source stop;
  TaskCache cache([&](const std::string&) -> absl::StatusOr<std::string> {
    stop.request_stop();
    return absl::UnavailableError("away");
  });
  EXPECT_EQ(cache.Get("x", stop.get_token()).status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace ksearch
