#include "gpu_worker/verifier/host/host_caches.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

class HostCachesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/ksearch_host_caches_XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    root_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Add(int processor, int index, int level, const std::string& size,
           const std::string& shared) {
    const std::string folder =
        absl::StrCat(root_, "/sys/devices/system/cpu/cpu", processor, "/cache/index", index);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/level") << level << "\n";
    std::ofstream(folder + "/size") << size << "\n";
    if (!shared.empty()) std::ofstream(folder + "/shared_cpu_list") << shared << "\n";
  }

  std::string root_;
};

TEST_F(HostCachesTest, SharedOnesCountOnceAndAllOfThemCount) {
  for (int processor = 0; processor < 4; ++processor) {
    Add(processor, 0, 1, "64K", absl::StrCat(processor));
    Add(processor, 1, 2, "1024K", absl::StrCat(processor));
    Add(processor, 2, 3, "32768K", processor < 2 ? "0-1" : "2-3");
  }
  EXPECT_EQ(AllLastLevelCacheBytes(root_, 0), 64 * kMiB);
  EXPECT_EQ(AllLastLevelCacheBytes(root_, 32 * kMiB), 64 * kMiB);
}

TEST_F(HostCachesTest, TheLargerAnswerCounts) {
  Add(0, 0, 3, "32M", "0-1");
  EXPECT_EQ(AllLastLevelCacheBytes(root_, 256 * kMiB), 256 * kMiB);
}

TEST_F(HostCachesTest, WithoutAThirdLevelTheSecondOnesAreTheLast) {
  Add(0, 0, 1, "32K", "0");
  Add(0, 1, 2, "2M", "");
  Add(1, 0, 1, "32K", "1");
  Add(1, 1, 2, "2M", "");
  EXPECT_EQ(AllLastLevelCacheBytes(root_, 0), 4 * kMiB);
}

TEST_F(HostCachesTest, WithoutTheKernelsListTheLibrarysAnswerIsAllThereIs) {
  EXPECT_EQ(AllLastLevelCacheBytes(root_, 8 * kMiB), 8 * kMiB);
  EXPECT_EQ(AllLastLevelCacheBytes(root_, 0), 0);
  Add(0, 0, 3, "rubbish", "0");
  EXPECT_EQ(AllLastLevelCacheBytes(root_, 0), 0);
}

}  // namespace
}  // namespace ksearch
