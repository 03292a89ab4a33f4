#include "coordinator/store/checkpointer.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/store/store_fixture.h"

namespace ksearch {
namespace {

constexpr int kPageBytes = 4096;
constexpr int kRowPages = 64;

class CheckpointerTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = folder_.File("log.db");
    auto writing = Database::Open(path_, Database::Mode::kReadWriteCreate);
    ASSERT_TRUE(writing.ok()) << writing.status();
    writing_ = *std::move(writing);
    // The test must not depend on the disk's speed.
    ASSERT_TRUE(writing_
                    ->Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; "
                              "CREATE TABLE rows (bytes BLOB)")
                    .ok());
    auto copying = Database::Open(path_, Database::Mode::kReadWriteCreate);
    ASSERT_TRUE(copying.ok()) << copying.status();
    ASSERT_TRUE(ReadNumber(**copying, "SELECT count(*) FROM sqlite_schema").ok());
    checkpointer_ = std::make_unique<Checkpointer>(*std::move(copying));
    writing_->OnLogGrown([this](int log_pages) {
      if (!logs_.empty() && log_pages < logs_.back()) ++beginnings_;
      logs_.push_back(log_pages);
      checkpointer_->LogGrew(*writing_, log_pages);
    });
  }

  void Write() {
    auto insert = writing_->Prepare("INSERT INTO rows VALUES (zeroblob(?))");
    ASSERT_TRUE(insert.Int(kRowPages * kPageBytes).Run().ok());
  }

  int64_t FilePages() const {
    return static_cast<int64_t>(std::filesystem::file_size(path_)) / kPageBytes;
  }

  const TempFolder folder_;
  std::string path_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<Database> writing_;
  std::vector<int> logs_;
  int beginnings_ = 0;
};

TEST_F(CheckpointerTest, CopiesALogThatIsNotLargeYet) {
  for (int i = 0; i < 40; ++i) Write();
  ASSERT_LT(logs_.back(), Checkpointer::kLargeLogPages);
  for (int tries = 0; tries < 3000 && FilePages() < 15 * kRowPages; ++tries) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_GE(FilePages(), 15 * kRowPages);
}

TEST_F(CheckpointerTest, ALargeLogBeginsAnewWhileCommitsGoOn) {
  constexpr int kRows = 5 * Checkpointer::kLargeLogPages / kRowPages;
  for (int i = 0; i < kRows; ++i) Write();
  EXPECT_GE(beginnings_, 1);
  for (const int log_pages : logs_) {
    EXPECT_LE(log_pages, 2 * Checkpointer::kLargeLogPages + 2 * kRowPages) << "pages";
  }
  const auto rows = ReadNumber(*writing_, "SELECT count(*) FROM rows");
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(*rows, kRows);
}

TEST_F(CheckpointerTest, ClosingLeavesNoLog) {
  for (int i = 0; i < 40; ++i) Write();
  ASSERT_TRUE(std::filesystem::exists(path_ + "-wal"));
  writing_.reset();
  checkpointer_.reset();
  EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
  auto again = Database::Open(path_, Database::Mode::kReadOnly);
  ASSERT_TRUE(again.ok());
  const auto rows = ReadNumber(**again, "SELECT count(*) FROM rows");
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(*rows, 40);
}

}  // namespace
}  // namespace ksearch
