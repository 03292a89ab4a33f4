#ifndef KSEARCH_TESTS_FAKES_DATABASE_ROWS_H_
#define KSEARCH_TESTS_FAKES_DATABASE_ROWS_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coordinator/store/database.h"

namespace ksearch {

// First column of every row as text, read from a file that others may be writing to. A read error
// fails the test.
inline std::vector<std::string> Rows(const std::string& path, const std::string& sql) {
  auto database = Database::Open(path, Database::Mode::kReadOnly);
  EXPECT_TRUE(database.ok()) << database.status();
  std::vector<std::string> rows;
  if (!database.ok()) return rows;
  Statement select = (*database)->Prepare(sql);
  while (true) {
    const auto more = select.Next();
    EXPECT_TRUE(more.ok()) << more.status();
    if (!more.ok() || !*more) return rows;
    rows.push_back(select.TextAt(0));
  }
}

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAKES_DATABASE_ROWS_H_
