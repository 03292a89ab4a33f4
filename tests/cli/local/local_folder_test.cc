#include "cli/local/local_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ksearch {
namespace {

using testing::HasSubstr;

class LocalFolderTest : public testing::Test {
 protected:
  LocalFolderTest() {
    std::string pattern = "/tmp/ksearch-folder-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    parent_ = pattern;
    ::chmod(parent_.c_str(), 0755);
  }
  ~LocalFolderTest() override { std::filesystem::remove_all(parent_); }

  std::string parent_;
  const bool as_root_ = ::geteuid() == 0;
};

TEST_F(LocalFolderTest, PathIsTheArgumentOrTheUsersState) {
  const auto path = [](const std::string& given, const Environment& environment, bool as_root) {
    return LocalFolder::PathFrom(given, environment, as_root).value_or("error");
  };
  const Environment home = {{"HOME", "/home/ann"}};
  EXPECT_EQ(path("", home, false), "/home/ann/.local/state/ksearch");
  EXPECT_EQ(path("", home, true), "/var/lib/ksearch-local");
  EXPECT_EQ(path("", {{"HOME", "/home/ann"}, {"XDG_STATE_HOME", "/s"}}, true), "/s/ksearch");
  EXPECT_EQ(path("", {{"HOME", "/home/ann"}, {"XDG_STATE_HOME", "relative"}}, false),
            "/home/ann/.local/state/ksearch");
  EXPECT_EQ(path("/a/../b/", home, false), "/b");
  EXPECT_EQ(path("c", {}, false), std::filesystem::current_path().string() + "/c");
  EXPECT_EQ(path("", {}, false), "error");
}

TEST_F(LocalFolderTest, PathThatIsTooLongForASocketIsRefused) {
  const absl::Status status =
      LocalFolder::PathFrom("/" + std::string(120, 'x'), {}, false).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("--state-dir"));
}

TEST_F(LocalFolderTest, IsClosedToOthers) {
  const std::string path = parent_ + "/deep/state";
  ASSERT_FALSE(LocalFolder::Exists(path));
  std::filesystem::create_directories(path);
  ::chmod(path.c_str(), 0777);
  const auto folder = LocalFolder::Open(path, as_root_);
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_TRUE(LocalFolder::Exists(path));
  struct stat facts;
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, as_root_ ? 0710u : 0700u);
  EXPECT_TRUE(LocalFolder::Open(path, as_root_).ok()) << "again";
}

TEST_F(LocalFolderTest, FolderInUseIsLeftAlone) {
  std::ofstream(parent_ + "/somebodys_file") << "1";
  const auto folder = LocalFolder::Open(parent_, as_root_);
  EXPECT_EQ(folder.status().code(), absl::StatusCode::kFailedPrecondition);
  struct stat facts;
  ASSERT_EQ(::stat(parent_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0755u);
}

TEST_F(LocalFolderTest, OneAtATime) {
  const auto folder = LocalFolder::Open(parent_ + "/state", as_root_);
  ASSERT_TRUE(folder.ok());
  auto first = folder->Lock(absl::ZeroDuration());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(folder->Lock(absl::Milliseconds(20)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  first->Reset();
  EXPECT_TRUE(folder->Lock(absl::ZeroDuration()).ok());
}

TEST_F(LocalFolderTest, FolderThatAnAccountMayNotEnterIsFound) {
  std::filesystem::create_directories(parent_ + "/closed/inner");
  constexpr int kSomebody = 61234;
  EXPECT_EQ(FolderClosedTo(kSomebody, parent_ + "/closed/inner"), "");
  ::chmod((parent_ + "/closed").c_str(), 0710);
  EXPECT_EQ(FolderClosedTo(kSomebody, parent_ + "/closed/inner"), parent_ + "/closed");
}

}  // namespace
}  // namespace ksearch
