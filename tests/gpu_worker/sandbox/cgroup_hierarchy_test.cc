#include "gpu_worker/sandbox/cgroup_hierarchy.h"

#include <gtest/gtest.h>

namespace ksearch {
namespace {

constexpr char kV2Mount[] =
    "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr char kHybridMounts[] =
    "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "32 30 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
    "33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

TEST(CgroupHierarchyTest, UnifiedUnderSystemd) {
  const auto found = ParseCgroupHierarchies("0::/system.slice/ksearch-worker.service\n", kV2Mount,
                                            "cpuset cpu io memory pids\n");
  EXPECT_EQ(found.version, "v2");
  ASSERT_EQ(found.places.size(), 1u);
  EXPECT_EQ(found.places[0].own, "/sys/fs/cgroup/system.slice/ksearch-worker.service");
}

TEST(CgroupHierarchyTest, UnifiedWithoutControllersFallsBackToV1) {
  const auto found =
      ParseCgroupHierarchies("8:pids:/\n4:memory:/box/one\n0::/\n", kHybridMounts, "hugetlb\n");
  EXPECT_EQ(found.version, "v1");
  ASSERT_EQ(found.places.size(), 2u);
  EXPECT_EQ(found.places[0].own, "/sys/fs/cgroup/memory/box/one");
  EXPECT_EQ(found.places[1].own, "/sys/fs/cgroup/pids");
}

TEST(CgroupHierarchyTest, ContainerSeesItsGroupAsTheRoot) {
  const auto found = ParseCgroupHierarchies(
      "0::/docker/abc\n", "30 24 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
      "memory pids");
  ASSERT_EQ(found.places.size(), 1u);
  EXPECT_EQ(found.places[0].own, "/sys/fs/cgroup");
}

TEST(CgroupHierarchyTest, NothingThatLimitsIsNone) {
  EXPECT_EQ(ParseCgroupHierarchies("0::/\n", kV2Mount, "cpu io\n").version, "none");
  EXPECT_EQ(ParseCgroupHierarchies("4:memory:/\n0::/\n", kHybridMounts, "").version, "none");
  EXPECT_EQ(ParseCgroupHierarchies("", "", "").version, "none");
  EXPECT_EQ(ParseCgroupHierarchies("nonsense", "a b - c", "memory pids").version, "none");
}

}  // namespace
}  // namespace ksearch
