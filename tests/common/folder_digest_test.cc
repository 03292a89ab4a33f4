#include "common/folder_digest.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/digest.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kEnough = 1 << 20;

class FolderSha256Test : public ::testing::Test {
 protected:
  FolderSha256Test() : folder_(fs::path(::testing::TempDir()) / ("folder_" + RandomHex(8))) {
    Write("main.py", "x = 1\n");
    Write("cache/a/kernel.bin", std::string("\0\1", 2));
  }
  ~FolderSha256Test() override { fs::remove_all(folder_); }
  void Write(const std::string& path, const std::string& contents) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << contents;
  }
  std::string Sha256() { return FolderSha256(folder_.string(), kEnough).value_or("none"); }

  const fs::path folder_;
};

TEST_F(FolderSha256Test, SaysWhatIsInTheFolder) {
  const std::string before = Sha256();
  EXPECT_TRUE(IsSha256Hex(before));
  fs::create_directories(folder_ / "empty");
  EXPECT_EQ(Sha256(), before);
  Write("main.py", "x = 2\n");
  const std::string changed = Sha256();
  EXPECT_NE(changed, before);
  Write("main.py", "x = 1\n");
  EXPECT_EQ(Sha256(), before);
  fs::rename(folder_ / "main.py", folder_ / "other.py");
  EXPECT_NE(Sha256(), before);
  EXPECT_NE(Sha256(), changed);
}

TEST_F(FolderSha256Test, SameFoldersElsewhereAreTheSame) {
  const fs::path copy = folder_.string() + "_copy";
  fs::copy(folder_, copy, fs::copy_options::recursive);
  EXPECT_EQ(FolderSha256(copy.string(), kEnough).value_or("none"), Sha256());
  fs::remove_all(copy);
}

TEST_F(FolderSha256Test, LinksAndWhatIsTooLargeAreRefused) {
  EXPECT_EQ(FolderSha256(folder_.string(), 7).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(FolderSha256(folder_.string(), 8).ok());
  fs::create_symlink("/etc/passwd", folder_ / "cache" / "link");
  EXPECT_EQ(FolderSha256(folder_.string(), kEnough).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(FolderSha256(folder_.string() + "_none", kEnough).status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace ksearch
