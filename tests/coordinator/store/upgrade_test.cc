// Files of earlier versions, as written by their programs, are upgraded with all their content.
// Every version of the schema has a file in fixtures/; fixtures/make.sh makes that of the newest,
// and none is ever changed.
#include <stdlib.h>

#include <filesystem>
#include <map>

#include "coordinator/store/database.h"
#include "coordinator/store/migrations.h"
#include "tests/coordinator/store/store_fixture.h"
#include "tests/fakes/database_rows.h"

namespace ksearch {
namespace {

std::string FixturePath(int version) {
  const char* source = ::getenv("KSEARCH_SOURCE_DIR");
  return absl::StrCat(source == nullptr ? "." : source, "/tests/coordinator/store/fixtures/schema_",
                      version, ".db");
}

std::vector<std::string> Schema(const std::string& path) {
  return Rows(path,
              "SELECT type || ' ' || name || ' on ' || tbl_name || ': ' || ifnull(sql, '') "
              "FROM sqlite_master ORDER BY type, name");
}

std::map<std::string, std::string> RowsPerTable(const std::string& path) {
  std::map<std::string, std::string> counts;
  for (const std::string& table :
       Rows(path, "SELECT name FROM sqlite_master WHERE type = 'table'")) {
    counts[table] = Rows(path, "SELECT count(*) FROM " + table).at(0);
  }
  return counts;
}

class EveryVersionTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(std::filesystem::exists(FixturePath(GetParam())))
        << "schema version " << GetParam() << " has no fixture: build, then run "
        << "tests/coordinator/store/fixtures/make.sh build/dev/bin, and commit the file";
    std::filesystem::copy_file(FixturePath(GetParam()), path_);
  }

  TempFolder folder_;
  const std::string path_ = folder_.File("ksearch.db");
};

// A released version never changes: a change is a new version.
TEST_P(EveryVersionTest, FixtureHasTheSchemaOfItsVersion) {
  EXPECT_EQ(Rows(path_, "PRAGMA user_version"), std::vector<std::string>{absl::StrCat(GetParam())});
  const std::string fresh = folder_.File("fresh.db");
  {
    auto database = Database::Open(fresh, Database::Mode::kReadWriteCreate);
    ASSERT_TRUE(database.ok());
    const auto migrated = Migrate(**database, absl::MakeSpan(Migrations()).subspan(0, GetParam()));
    ASSERT_TRUE(migrated.ok()) << migrated.status();
  }
  EXPECT_EQ(Schema(path_), Schema(fresh))
      << "a migration that was released has been edited: make it a new one instead";
}

TEST_P(EveryVersionTest, IsBroughtUpWithEveryRow) {
  const std::map<std::string, std::string> before = RowsPerTable(path_);
  ASSERT_GE(before.size(), 14u);
  {
    auto store = Store::Open(At(path_));
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_EQ((*store)->schema_version(), Migrations().back().version);
  }
  const std::map<std::string, std::string> after = RowsPerTable(path_);
  for (const auto& [table, rows] : before) {
    ASSERT_TRUE(after.contains(table)) << table;
    EXPECT_EQ(after.at(table), rows) << table;
  }
  EXPECT_EQ(Rows(path_, "PRAGMA integrity_check"), std::vector<std::string>{"ok"});
  EXPECT_EQ(Rows(path_, "PRAGMA foreign_key_check"), std::vector<std::string>{});
}

TEST_P(EveryVersionTest, CanBeReadAfterwards) {
  auto store = Store::Open(At(path_));
  ASSERT_TRUE(store.ok()) << store.status();
  const auto runs = (*store)->ListRuns();
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_EQ(runs->size(), 2u);
  int results = 0;
  for (const v1::RunStatus& status : *runs) {
    const auto run = (*store)->ReadRun(status.run_id());
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ(run->config.task(), "softmax_rows_f32");
    EXPECT_FALSE((*store)->ReadLedger(status.run_id())->empty());
    EXPECT_FALSE((*store)->ReadEvents(status.run_id(), 0, 0)->empty());
    const auto candidates = (*store)->ListCandidates(status.run_id());
    ASSERT_TRUE(candidates.ok()) << candidates.status();
    for (const CandidateRow& candidate : *candidates) {
      EXPECT_TRUE((*store)->ReadJob(candidate.job_id).ok());
      const auto result = (*store)->ReadResult(candidate.job_id);
      ASSERT_TRUE(result.ok()) << result.status();
      results += result->has_value();
      if (candidate.call_id.empty()) continue;
      EXPECT_FALSE((*store)->ReadCall(candidate.call_id)->reply.empty());
    }
    if (status.state() == v1::RUN_STATE_FINISHED) {
      EXPECT_TRUE((*store)->ReadWorldModel(status.run_id(), 0).ok());
      EXPECT_TRUE((*store)->ReadUnansweredCalls(status.run_id())->empty());
    } else {
      EXPECT_EQ(status.state(), v1::RUN_STATE_RUNNING);
      EXPECT_EQ((*store)->ReadUnansweredCalls(status.run_id())->size(), 1u);
    }
  }
  EXPECT_GE(results, 2);
  // Jobs of the first five versions have no platform, so their results do not count for new
  // jobs.
  const auto listed = (*store)->ListResults("softmax_rows_f32", 0, 0);
  ASSERT_TRUE(listed.ok()) << listed.status();
  EXPECT_GE(static_cast<int>(listed->size()), results);
  for (const ResultRow& row : *listed) {
    EXPECT_EQ(row.spec.has_platform(), GetParam() > 5) << row.job_id;
    EXPECT_TRUE(row.spec.has_candidate());
  }
  EXPECT_EQ((*store)->ListWorkers()->size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Schema, EveryVersionTest,
                         testing::Range(1, Migrations().back().version + 1));

// Version 1: a finished run of three rounds with four calls, and one that was killed while its
// first call waited for a model that was gone.
constexpr char kFinished[] = "softmax_rows_f32-1f16d3";
constexpr char kKilled[] = "softmax_rows_f32-8c7118";

TEST(UpgradeTest, VersionOneIsBroughtUpWithAllItHolds) {
  TempFolder folder;
  const std::string path = folder.File("ksearch.db");
  std::filesystem::copy_file(FixturePath(1), path);
  auto store = Store::Open(At(path));
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->schema_version(), Migrations().back().version);
  ASSERT_EQ((*store)->ListRuns()->size(), 2u);
  EXPECT_EQ((*store)->ReadRun(kFinished)->status.state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ((*store)->ReadEvents(kFinished, 0, 0)->back().kind(), v1::RunEvent::RUN_ENDED);
  EXPECT_EQ((*store)->ListCandidates(kFinished)->size(), 2u);

  // Its usage is in the ledger; its cost was not known then.
  const auto ledger = (*store)->ReadLedger(kFinished);
  ASSERT_EQ(ledger->size(), 2u);
  EXPECT_EQ((*ledger)[1].scope, "scripted/scripted");
  for (const LedgerRow& row : *ledger) {
    EXPECT_EQ(row.calls, 4);
    EXPECT_EQ(row.tokens_spent, 1740 + 446 + 1930 + 648 + 2711 + 655 + 2939 + 648);
    EXPECT_EQ(row.nano_spent, 0);
    EXPECT_FALSE(row.caps.nano_usd.has_value());
  }
  EXPECT_EQ((*ledger)[0].evaluations, 3);

  // The waiting call can still be answered, and is then counted.
  const auto waiting = (*store)->ReadUnansweredCalls(kKilled);
  ASSERT_EQ(waiting->size(), 1u);
  LlmCallRow reply = (*waiting)[0];
  EXPECT_TRUE(reply.admitted);
  EXPECT_EQ(reply.sent, absl::Time());
  reply.reply = "text";
  reply.counted_tokens = 30;
  reply.cost_nano = 4;
  ASSERT_TRUE(Reply(**store, reply).ok());
  EXPECT_EQ((*store)->ReadArrivals(kKilled, 0, 0)->size(), 1u);
  EXPECT_EQ((*store)->ReadLedger(kKilled)->front().tokens_spent, 30);
  EXPECT_EQ((*store)->ReadLedger(kKilled)->front().tokens_reserved, 0);
}

// Version 2 kept what a provider needs to continue a call.
TEST(UpgradeTest, VersionTwoKeepsWhatProvidersSaved) {
  TempFolder folder;
  std::filesystem::copy_file(FixturePath(2), folder.File("ksearch.db"));
  auto store = Store::Open(At(folder.File("ksearch.db")));
  ASSERT_TRUE(store.ok()) << store.status();
  const auto waiting = (*store)->ReadUnansweredCalls(kKilled);
  ASSERT_EQ(waiting->size(), 1u);
  EXPECT_EQ(waiting->front().provider_state, "{\"response\":\"resp_0123\"}");
}

// Version 3 knows what calls cost, and what a killed one had reserved.
TEST(UpgradeTest, VersionThreeKeepsItsLedger) {
  TempFolder folder;
  std::filesystem::copy_file(FixturePath(3), folder.File("ksearch.db"));
  auto store = Store::Open(At(folder.File("ksearch.db")));
  ASSERT_TRUE(store.ok()) << store.status();
  const auto finished = (*store)->ReadLedger("softmax_rows_f32-20923f");
  ASSERT_EQ(finished->size(), 2u);
  EXPECT_EQ(finished->front().nano_spent, 6635000 + 8892500 + 9938750 + 10153750);
  EXPECT_EQ(finished->front().nano_reserved, 0);
  EXPECT_EQ(finished->front().evaluations, 3);
  EXPECT_EQ(finished->front().caps.nano_usd, 5'000'000'000);
  const auto killed = (*store)->ReadLedger("softmax_rows_f32-bc89d1");
  EXPECT_EQ(killed->front().nano_spent, 0);
  EXPECT_EQ(killed->front().nano_reserved, 328772500);
}

}  // namespace
}  // namespace ksearch
