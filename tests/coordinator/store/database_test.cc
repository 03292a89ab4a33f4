#include "coordinator/store/database.h"

#include <fstream>

#include "tests/coordinator/store/store_fixture.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class DatabaseTest : public testing::Test {
 protected:
  DatabaseTest() : path_(folder_.File("a.db")) {
    absl::StatusOr<std::unique_ptr<Database>> database =
        Database::Open(path_, Database::Mode::kReadWriteCreate);
    if (!database.ok()) std::abort();
    database_ = *std::move(database);
    EXPECT_TRUE(database_
                    ->Execute("CREATE TABLE t (k TEXT PRIMARY KEY, b BLOB, i INTEGER, r REAL) "
                              "STRICT")
                    .ok());
  }
  absl::Status Insert(const std::string& key) {
    return database_->Prepare("INSERT INTO t (k) VALUES (?)").Text(key).Run();
  }

  TempFolder folder_;
  const std::string path_;
  std::unique_ptr<Database> database_;
};

TEST_F(DatabaseTest, ValuesComeBackAsBound) {
  const std::string binary("\0\xff\0", 3);
  ASSERT_TRUE(database_->Prepare("INSERT INTO t VALUES (?, ?, ?, ?)")
                  .Text("it's; DROP TABLE t")
                  .Blob(binary)
                  .Int(INT64_MIN)
                  .Real(0.1)
                  .Run()
                  .ok());
  Statement select = database_->Prepare("SELECT k, b, i, r FROM t");
  ASSERT_TRUE(*select.Next());
  EXPECT_EQ(select.TextAt(0), "it's; DROP TABLE t");
  EXPECT_EQ(select.TextAt(1), binary);
  EXPECT_EQ(select.IntAt(2), INT64_MIN);
  EXPECT_EQ(select.RealAt(3), 0.1);
  EXPECT_FALSE(*select.Next());
}

TEST_F(DatabaseTest, EmptyTextIsNotNull) {
  ASSERT_TRUE(database_->Prepare("INSERT INTO t (k, b) VALUES (?, ?)")
                  .Text(absl::string_view())
                  .Null()
                  .Run()
                  .ok());
  Statement select = database_->Prepare("SELECT k, b FROM t");
  ASSERT_TRUE(*select.Next());
  EXPECT_FALSE(select.IsNullAt(0));
  EXPECT_TRUE(select.IsNullAt(1));
}

TEST_F(DatabaseTest, OneTextMayBeInUseTwice) {
  ASSERT_TRUE(Insert("a").ok());
  ASSERT_TRUE(Insert("b").ok());
  const char* const sql = "SELECT k FROM t ORDER BY k";
  Statement outer = database_->Prepare(sql);
  ASSERT_TRUE(*outer.Next());
  {
    Statement inner = database_->Prepare(sql);
    ASSERT_TRUE(*inner.Next());
    EXPECT_EQ(inner.TextAt(0), "a");
  }
  ASSERT_TRUE(*outer.Next());
  EXPECT_EQ(outer.TextAt(0), "b");
}

TEST_F(DatabaseTest, FaultySqlIsAnErrorThatShowsIt) {
  const absl::Status status = database_->Prepare("SELEKT ?").Int(1).Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("SELEKT"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
}

TEST_F(DatabaseTest, ConstraintIsFailedPrecondition) {
  ASSERT_TRUE(Insert("a").ok());
  EXPECT_EQ(Insert("a").code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(DatabaseTest, ReadOnlyConnectionCannotWrite) {
  ASSERT_TRUE(Insert("a").ok());
  auto reader = Database::Open(path_, Database::Mode::kReadOnly);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ((*reader)->Execute("DELETE FROM t").code(), absl::StatusCode::kPermissionDenied);
  EXPECT_TRUE(*(*reader)->Prepare("SELECT 1 FROM t").Next());
}

TEST_F(DatabaseTest, BytesThatAreNoMessageAreDataLoss) {
  ASSERT_TRUE(
      database_->Prepare("INSERT INTO t (k, b) VALUES ('a', ?)").Blob("\xff\xff").Run().ok());
  Statement select = database_->Prepare("SELECT b FROM t");
  ASSERT_TRUE(*select.Next());
  v1::JobResult result;
  const absl::Status status = select.ProtoAt(0, &result);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("ksearch.v1.JobResult"));
}

TEST_F(DatabaseTest, CorruptedPagesAreDataLoss) {
  ASSERT_TRUE(database_->Execute("BEGIN").ok());
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(Insert(absl::StrCat("key ", i)).ok());
  ASSERT_TRUE(database_->Execute("COMMIT").ok());
  database_.reset();
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    for (int i = 0; i < 8 * 4096; ++i) file.put('\x5a');
  }
  auto reader = Database::Open(path_, Database::Mode::kReadOnly);
  ASSERT_TRUE(reader.ok());
  const absl::Status status = (*reader)->Prepare("SELECT count(*) FROM t WHERE k > ''").Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_));
}

}  // namespace
}  // namespace ksearch
