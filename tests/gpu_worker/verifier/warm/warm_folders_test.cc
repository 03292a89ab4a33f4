#include "gpu_worker/verifier/warm/warm_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "common/folder_digest.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPlenty = int64_t{1} << 30;

class WarmFoldersTest : public testing::Test {
 protected:
  WarmFoldersTest() {
    char name[] = "/tmp/ksearch-warm.XXXXXX";
    root_ = ::mkdtemp(name);
    fs::create_directories(root_ + "/sources/parts");
    Write(root_ + "/sources/kernel.py", "run = 1\n");
    Write(root_ + "/sources/parts/more.py", "more = 2\n");
  }
  ~WarmFoldersTest() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  std::unique_ptr<WarmFolders> Open(int64_t max_bytes = kPlenty) const {
    auto folders = WarmFolders::Create(root_ + "/warm", max_bytes);
    EXPECT_TRUE(folders.ok()) << folders.status();
    return *std::move(folders);
  }
  WarmFolders::Entry Fill(WarmFolders& folders, const std::string& program,
                          const std::set<std::string>& workloads, size_t bytes = 10) const {
    auto entry = folders.Make(program, workloads, root_ + "/sources", {"triton", "inductor"});
    EXPECT_TRUE(entry.ok()) << entry.status();
    Write(entry->compiled() + "/triton/kernel.cubin", std::string(bytes, 'x'));
    const absl::Status kept = folders.Keep(&*entry);
    EXPECT_TRUE(kept.ok()) << kept;
    return *entry;
  }

  std::string root_;
};

TEST_F(WarmFoldersTest, WhatWasKeptIsFoundForFewerWorkloadsTooAndByTheNextProcess) {
  auto folders = Open();
  const WarmFolders::Entry entry = Fill(*folders, "p", {"a", "b"});
  EXPECT_TRUE(fs::exists(entry.program() + "/parts/more.py"));
  EXPECT_TRUE(fs::is_directory(entry.compiled() + "/inductor"));
  EXPECT_EQ(*FolderSha256(entry.path, kPlenty), entry.sha256);
  for (const auto& reader : {std::move(folders), Open()}) {
    for (const std::set<std::string>& workloads :
         {std::set<std::string>{"a", "b"}, std::set<std::string>{"b"}}) {
      const auto found = reader->Find("p", workloads);
      ASSERT_TRUE(found.has_value());
      EXPECT_EQ(found->path, entry.path);
      EXPECT_EQ(found->sha256, entry.sha256);
    }
    EXPECT_FALSE(reader->Find("p", {"a", "c"}).has_value());
    EXPECT_FALSE(reader->Find("q", {"a"}).has_value());
  }
}

TEST_F(WarmFoldersTest, WhatWasNotKeptIsGoneWithTheProcess) {
  auto folders = Open();
  auto entry = folders->Make("p", {"a"}, root_ + "/sources", {"triton"});
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(*FolderSha256(entry->path, kPlenty), entry->sha256);
  EXPECT_FALSE(folders->Find("p", {"a"}).has_value());
  folders.reset();
  EXPECT_FALSE(Open()->Find("p", {"a"}).has_value());
  EXPECT_FALSE(fs::exists(entry->path));
}

TEST_F(WarmFoldersTest, LinksAreNotKept) {
  auto folders = Open();
  auto entry = folders->Make("p", {"a"}, root_ + "/sources", {"triton"});
  ASSERT_TRUE(entry.ok()) << entry.status();
  fs::create_symlink("/etc/passwd", entry->compiled() + "/triton/words");
  EXPECT_EQ(folders->Keep(&*entry).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(folders->Find("p", {"a"}).has_value());
}

TEST_F(WarmFoldersTest, TheOldestGoButNoneInUse) {
  auto folders = Open(2500);
  const WarmFolders::Entry first = Fill(*folders, "1", {"a"}, 1000);
  const WarmFolders::Entry second = Fill(*folders, "2", {"a"}, 1000);
  Fill(*folders, "3", {"a"}, 1000);
  EXPECT_TRUE(fs::exists(first.path));  // of the same job
  folders->Release();
  EXPECT_TRUE(folders->Find("1", {"a"}).has_value());
  folders->Release();
  Fill(*folders, "4", {"a"}, 1000);
  EXPECT_FALSE(fs::exists(second.path));
  EXPECT_FALSE(folders->Find("2", {"a"}).has_value());
  EXPECT_TRUE(folders->Find("1", {"a"}).has_value());
  EXPECT_TRUE(folders->Find("4", {"a"}).has_value());
}

TEST_F(WarmFoldersTest, MadeAgainItReplacesWhatWasThere) {
  auto folders = Open();
  Fill(*folders, "p", {"a"}, 10);
  const WarmFolders::Entry again = Fill(*folders, "p", {"a"}, 20);
  const auto found = folders->Find("p", {"a"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->sha256, again.sha256);
}

}  // namespace
}  // namespace ksearch
