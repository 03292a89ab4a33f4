#include "coordinator/store/migrations.h"

#include "tests/coordinator/store/store_fixture.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class MigrationsTest : public testing::Test {
 protected:
  MigrationsTest() {
    auto database = Database::Open(folder_.File("a.db"), Database::Mode::kReadWriteCreate);
    if (!database.ok()) std::abort();
    database_ = *std::move(database);
  }
  int64_t Number(const std::string& sql) {
    Statement statement = database_->Prepare(sql);
    const auto row = statement.Next();
    EXPECT_TRUE(row.ok()) << row.status();
    return statement.IntAt(0);
  }

  TempFolder folder_;
  std::unique_ptr<Database> database_;
};

TEST_F(MigrationsTest, VersionsRiseByOneFromOne) {
  int version = 0;
  for (const Migration& migration : Migrations()) {
    EXPECT_EQ(migration.version, ++version) << migration.name;
  }
  EXPECT_GE(version, 1);
}

TEST_F(MigrationsTest, FreshFileGetsTheWholeSchema) {
  EXPECT_EQ(Migrate(*database_, Migrations()).value(), Migrations().back().version);
  EXPECT_EQ(Number("PRAGMA application_id"), kApplicationId);
  EXPECT_EQ(Number("PRAGMA user_version"), Migrations().back().version);
  EXPECT_EQ(Number("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND "
                   "type = 'table' AND name NOT LIKE 'sqlite_%' AND NOT strict"),
            0);
  EXPECT_GT(Number("SELECT count(*) FROM sqlite_master WHERE name = 'results'"), 0);
}

TEST_F(MigrationsTest, OldFileIsBroughtUpWithItsRows) {
  const Migration first = {1, "0001_a.sql", "CREATE TABLE t (k TEXT) STRICT;"};
  const Migration second = {2, "0002_b.sql",
                            "ALTER TABLE t ADD COLUMN n INTEGER NOT NULL DEFAULT 7;"};
  ASSERT_EQ(Migrate(*database_, {first}).value(), 1);
  ASSERT_TRUE(database_->Execute("INSERT INTO t VALUES ('a')").ok());
  ASSERT_EQ(Migrate(*database_, {first, second}).value(), 2);
  EXPECT_EQ(Number("SELECT n FROM t WHERE k = 'a'"), 7);
  EXPECT_EQ(Migrate(*database_, {first, second}).value(), 2);  // again: nothing to do
}

TEST_F(MigrationsTest, CallsOfTheFirstVersionHaveNoProviderState) {
  const std::vector<Migration> first(Migrations().begin(), Migrations().begin() + 1);
  ASSERT_TRUE(Migrate(*database_, first).ok());
  ASSERT_TRUE(
      database_
          ->Execute("INSERT INTO runs (run_id, created_unix_us, config) VALUES ('r', 0, x'');"
                    "INSERT INTO llm_calls (call_id, run_id, purpose, node_id, attempt, cycle, "
                    "role, provider, model, created_unix_us, max_output_tokens, "
                    "reasoning_effort, system, prompt, dropped_parts) VALUES "
                    "('r/1', 'r', 'init', '', 1, 0, '', '', '', 0, 1, '', '', 'hello', '')")
          .ok());
  ASSERT_TRUE(Migrate(*database_, Migrations()).ok());
  EXPECT_EQ(Number("SELECT count(*) FROM llm_calls WHERE prompt = 'hello' AND "
                   "provider_state IS NULL"),
            1);
}

TEST_F(MigrationsTest, FailedMigrationLeavesTheOldVersion) {
  const Migration first = {1, "0001_a.sql", "CREATE TABLE t (k TEXT) STRICT;"};
  const Migration broken = {2, "0002_broken.sql", "CREATE TABLE u (k TEXT) STRICT; SELEKT;"};
  ASSERT_TRUE(Migrate(*database_, {first}).ok());
  const absl::Status status = Migrate(*database_, {first, broken}).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("0002_broken.sql"));
  EXPECT_EQ(Number("PRAGMA user_version"), 1);
  EXPECT_EQ(Number("SELECT count(*) FROM sqlite_master WHERE name = 'u'"), 0);
}

TEST_F(MigrationsTest, NewerFileIsRefusedNamingBothVersions) {
  ASSERT_TRUE(Migrate(*database_, Migrations()).ok());
  ASSERT_TRUE(database_->Execute("PRAGMA user_version = 42").ok());
  const absl::Status status = Migrate(*database_, Migrations()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("version 42"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("up to ", Migrations().back().version)));
}

TEST_F(MigrationsTest, DatabaseOfAnotherProgramIsLeftAlone) {
  ASSERT_TRUE(database_->Execute("CREATE TABLE bookmarks (url TEXT)").ok());
  const absl::Status status = Migrate(*database_, Migrations()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("another program"));
  EXPECT_EQ(Number("SELECT count(*) FROM sqlite_master"), 1);
}

TEST_F(MigrationsTest, EvidenceCannotBeChangedEvenBySql) {
  ASSERT_TRUE(Migrate(*database_, Migrations()).ok());
  ASSERT_TRUE(database_
                  ->Execute("INSERT INTO jobs (job_id, kind, task_name, candidate_id, "
                            "created_unix_us, spec) VALUES ('j', '', '', '', 0, x'');"
                            "INSERT INTO results (job_id, attempt, worker_id, lease_id, outcome, "
                            "device_id, recorded_unix_us, body) "
                            "VALUES ('j', 1, '', '', '', '', 0, x'')")
                  .ok());
  EXPECT_FALSE(database_->Execute("UPDATE results SET outcome = 'x'").ok());
  EXPECT_FALSE(database_->Execute("DELETE FROM results").ok());
  EXPECT_EQ(Number("SELECT count(*) FROM results WHERE outcome = ''"), 1);
}

}  // namespace
}  // namespace ksearch
