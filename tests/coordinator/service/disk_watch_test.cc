#include "coordinator/service/disk_watch.h"

#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

TEST(DiskWatch, RefusesBelowTheMarkAndNamesFolderAndBytes) {
  const std::string folder = testing::TempDir();
  const auto space = DiskWatch(folder, 0).ReadSpace();
  ASSERT_TRUE(space.ok()) << space.status();
  EXPECT_GT(space->least_free_bytes, 0);
  EXPECT_LE(space->least_free_bytes, int64_t{1} << 30);
  EXPECT_TRUE(DiskWatch(folder, 1).Check().ok());
  const int64_t more = int64_t{1} << 60;
  const absl::Status refused = DiskWatch(folder, more).Check();
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_TRUE(absl::StrContains(refused.message(), folder)) << refused;
  EXPECT_TRUE(absl::StrContains(refused.message(), absl::StrCat(more))) << refused;
}

TEST(DiskWatch, AFolderThatIsNotThereKeepsNobodyFromWorking) {
  EXPECT_FALSE(DiskWatch("/not/there", 0).ReadSpace().ok());
  EXPECT_TRUE(DiskWatch("/not/there", int64_t{1} << 60).Check().ok());
}

}  // namespace
}  // namespace ksearch
