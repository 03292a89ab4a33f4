#include "gpu_worker/session/disk_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/fakes/small_disk.h"
#include "tests/gpu_worker/session/scratch_folder.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(DiskRoomTest, ADiskIsFullBelowTwoPercentUntilThereIsRoom) {
  ScratchFolder scratch;
  SmallDisk disk(scratch.path() + "/small", "8m");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs";
  EXPECT_EQ(DiskFullText(disk.path()), "");
  disk.Take(7 << 20);
  EXPECT_EQ(DiskFullText(disk.path()), "");
  disk.Fill();
  EXPECT_THAT(DiskFullText(disk.path()),
              AllOf(HasSubstr("the disk of state_dir " + disk.path() + " is full (0 bytes free)"),
                    HasSubstr("free some space there")));
  disk.MakeRoom();
  EXPECT_EQ(DiskFullText(disk.path()), "");
}

TEST(DiskRoomTest, ADiskOnWhichNoFileCanBeCreatedIsFull) {
  ScratchFolder scratch;
  SmallDisk disk(scratch.path() + "/small", "8m,nr_inodes=4");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs";
  EXPECT_EQ(DiskFullText(disk.path()), "");
  for (int i = 0; i < 8; ++i) std::ofstream(disk.path() + "/" + std::to_string(i)) << "";
  EXPECT_THAT(DiskFullText(disk.path()), HasSubstr("no more files can be created"));
}

TEST(DiskRoomTest, AFolderThatCannotBeExaminedDoesNotStopTheWorker) {
  EXPECT_EQ(DiskFullText("/not/there"), "");
}

}  // namespace
}  // namespace ksearch
