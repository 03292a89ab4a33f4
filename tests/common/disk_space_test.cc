#include "common/disk_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace ksearch {
namespace {

TEST(DiskSpaceTest, IsWhatTheStandardLibrarySees) {
  const std::string folder = testing::TempDir();
  const auto space = DiskSpaceOf(folder);
  ASSERT_TRUE(space.ok()) << space.status();
  const std::filesystem::space_info seen = std::filesystem::space(folder);
  EXPECT_EQ(space->size_bytes, static_cast<int64_t>(seen.capacity));
  EXPECT_GT(space->free_bytes, 0);
  EXPECT_LE(space->free_bytes, space->size_bytes);
  EXPECT_TRUE(space->may_create_files);
}

TEST(DiskSpaceTest, ErrorsNameThePath) {
  const absl::Status missing = DiskSpaceOf("/not/there").status();
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_EQ(missing.message(), "/not/there: No such file or directory");
}

}  // namespace
}  // namespace ksearch
