#include "common/blob_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/digest.h"
#include "common/mapped_file.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

class BlobFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ksearch-blobs-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    auto opened = BlobFolder::Open((root_ / "blobs").string());
    ASSERT_TRUE(opened.ok()) << opened.status();
    folder_ = *std::move(opened);
  }
  void TearDown() override { fs::remove_all(root_); }
  // Stores a blob that was last used this many seconds ago.
  std::string Put(const std::string& bytes, int seconds_ago) {
    const std::string name = Sha256Hex(bytes);
    EXPECT_TRUE(folder_->Put(name, bytes).ok());
    const struct timespec then = {::time(nullptr) - seconds_ago, 0};
    const struct timespec times[] = {then, then};
    EXPECT_EQ(::utimensat(AT_FDCWD, (root_ / "blobs" / name).c_str(), times, 0), 0);
    return name;
  }

  fs::path root_;
  std::unique_ptr<BlobFolder> folder_;
};

TEST_F(BlobFolderTest, ABlobIsWhatItsNameSays) {
  const std::string bytes("a\0b", 3);
  const std::string name = Sha256Hex(bytes);
  EXPECT_FALSE(folder_->Has(name));
  EXPECT_TRUE(absl::IsNotFound(folder_->Use(name).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(folder_->Put(name, "other")));
  ASSERT_TRUE(folder_->Put(name, bytes).ok());
  ASSERT_TRUE(folder_->Put(name, bytes).ok());
  const auto path = folder_->Use(name);
  ASSERT_TRUE(path.ok()) << path.status();
  const auto file = MappedFile::Open(*path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->bytes(), bytes);
  EXPECT_TRUE(absl::IsInvalidArgument(folder_->Use("../" + name).status()));
  EXPECT_FALSE(folder_->Has("../" + name));
}

TEST_F(BlobFolderTest, PiecesThatAreNotTheBlobAreDropped) {
  const std::string name = Sha256Hex("one two");
  EXPECT_EQ(*folder_->Begun(name), 0);
  ASSERT_TRUE(folder_->Append(name, "one ").ok());
  EXPECT_EQ(*folder_->Begun(name), 4);
  EXPECT_FALSE(folder_->Has(name));
  // Another process continues.
  const auto again = *BlobFolder::Open((root_ / "blobs").string());
  EXPECT_EQ(*again->Begun(name), 4);
  ASSERT_TRUE(again->Append(name, "2").ok());
  EXPECT_TRUE(absl::IsDataLoss(again->Finish(name)));
  EXPECT_EQ(*again->Begun(name), 0);
  ASSERT_TRUE(again->Append(name, "one two").ok());
  ASSERT_TRUE(again->Finish(name).ok());
  EXPECT_TRUE(folder_->Has(name));
}

TEST_F(BlobFolderTest, WhatWasNotUsedForLongestGoesFirst) {
  const std::string old = Put("11111", 300), kept = Put("22222", 200), used = Put("33333", 100);
  ASSERT_TRUE(folder_->Append(Sha256Hex("begun"), "be").ok());
  ASSERT_TRUE(folder_->Collect(15, {}).ok());
  EXPECT_TRUE(folder_->Has(old));
  ASSERT_TRUE(folder_->Collect(14, {}).ok());
  EXPECT_FALSE(folder_->Has(old));
  ASSERT_TRUE(folder_->Collect(5, {kept}).ok());
  EXPECT_TRUE(folder_->Has(kept));
  EXPECT_FALSE(folder_->Has(used));
  EXPECT_EQ(*folder_->Begun(Sha256Hex("begun")), 2);
}

TEST(MappedFileTest, OnlyRegularFilesAreMapped) {
  EXPECT_TRUE(absl::IsNotFound(MappedFile::Open("/nonexistent").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(MappedFile::Open("/").status()));
  const auto empty = MappedFile::Open("/dev/null");
  EXPECT_TRUE(absl::IsInvalidArgument(empty.status())) << empty.status();
}

}  // namespace
}  // namespace ksearch
