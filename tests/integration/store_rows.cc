#include "tests/integration/store_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

namespace ksearch {
namespace {

constexpr int kBusyMs = 30'000;  // a restarted coordinator first recovers its log

}  // namespace

std::vector<std::string> StoreRows(const std::string& path, const std::string& query) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  sqlite3_busy_timeout(database, kBusyMs);
  std::vector<std::string> rows;
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr), SQLITE_OK)
      << query << ": " << sqlite3_errmsg(database);
  int stepped = SQLITE_DONE;
  while (statement != nullptr && (stepped = sqlite3_step(statement)) == SQLITE_ROW) {
    const void* bytes = sqlite3_column_blob(statement, 0);
    const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, 0));
    rows.emplace_back(static_cast<const char*>(bytes), bytes == nullptr ? 0 : size);
  }
  EXPECT_EQ(stepped, SQLITE_DONE) << query << ": " << sqlite3_errmsg(database);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return rows;
}

void ExpectWorkRecordedOnce(const std::string& database) {
  EXPECT_THAT(StoreRows(database,
                        "SELECT job_id FROM jobs WHERE job_id NOT IN (SELECT job_id FROM results)"),
              testing::IsEmpty())
      << "jobs without a result";
  EXPECT_THAT(StoreRows(database,
                        "SELECT job_id FROM attempts WHERE ended = 'recorded' GROUP BY job_id "
                        "HAVING COUNT(*) > 1"),
              testing::IsEmpty())
      << "jobs recorded twice";
  EXPECT_THAT(
      StoreRows(database,
                "SELECT call_id FROM llm_calls WHERE replied_unix_us IS NULL OR error <> ''"),
      testing::IsEmpty())
      << "calls without a reply";
}

}  // namespace ksearch
