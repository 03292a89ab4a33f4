#ifndef KSEARCH_TESTS_INTEGRATION_STORE_ROWS_H_
#define KSEARCH_TESTS_INTEGRATION_STORE_ROWS_H_

#include <string>
#include <vector>

namespace ksearch {

// First column of each row of a coordinator's database, as text or bytes. Opened for each query: a
// connection that stays open would spare a killed coordinator's successor the recovery that is
// being tested.
std::vector<std::string> StoreRows(const std::string& database, const std::string& query);

// Every job of the database has a result, one at most was recorded for each, and every model call
// has a reply: a test failure otherwise.
void ExpectWorkRecordedOnce(const std::string& database);

}  // namespace ksearch

#endif  // KSEARCH_TESTS_INTEGRATION_STORE_ROWS_H_
