#include "gpu_worker/verifier/warm/folder_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "common/digest.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

class FolderWatchTest : public ::testing::Test {
 protected:
  FolderWatchTest() { fs::create_directories(folder_ + "/deeper"); }
  ~FolderWatchTest() override { fs::remove_all(folder_); }
  void Write(const std::string& name, size_t bytes) {
    std::ofstream(folder_ + "/" + name) << std::string(bytes, 'x') << std::flush;
  }

  const std::string folder_ = ::testing::TempDir() + "/watched-" + RandomHex(8);
};

TEST_F(FolderWatchTest, StopsWhoeverWritesTooMuch) {
  absl::Notification stopped;
  FolderWatch watch(folder_, {1 << 20, 100}, [&] { stopped.Notify(); });
  Write("little", 1000);
  EXPECT_FALSE(stopped.WaitForNotificationWithTimeout(absl::Milliseconds(350)));
  Write("deeper/much", 2 << 20);
  EXPECT_TRUE(stopped.WaitForNotificationWithTimeout(absl::Seconds(60)));
  EXPECT_TRUE(watch.Finish());
}

TEST_F(FolderWatchTest, CountsEmptyFilesAndFoldersToo) {
  absl::Notification stopped;
  FolderWatch watch(folder_, {1 << 20, 100}, [&] { stopped.Notify(); });
  for (int i = 0; i < 101; ++i) Write("deeper/" + std::to_string(i), 0);
  EXPECT_TRUE(stopped.WaitForNotificationWithTimeout(absl::Seconds(60)));
}

TEST_F(FolderWatchTest, HolesTakeNothingAndLinksAreNotFollowed) {
  Write("hole", 1);
  fs::resize_file(folder_ + "/hole", 1 << 30);
  fs::create_symlink("/usr", folder_ + "/link");
  FolderWatch watch(folder_, {1 << 20, 100}, [] { FAIL(); });
  EXPECT_FALSE(watch.Finish());
}

TEST_F(FolderWatchTest, LooksOnceMoreAtTheEnd) {
  FolderWatch watch(folder_, {1 << 20, 100}, [] {});
  Write("late", 2 << 20);
  EXPECT_TRUE(watch.Finish());
}

}  // namespace
}  // namespace ksearch
