#ifndef KSEARCH_COORDINATOR_STORE_MIGRATIONS_H_
#define KSEARCH_COORDINATOR_STORE_MIGRATIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "coordinator/store/database.h"

namespace ksearch {

// "KSRC": PRAGMA application_id of our files, so that another program's database is never touched.
inline constexpr int32_t kApplicationId = 0x4B535243;

// One step of the schema, forward only.
struct Migration {
  int version = 0;  // PRAGMA user_version afterwards
  const char* name = "";
  const char* sql = "";
};

// Every migration, oldest first; embedded from schema/NNNN_*.sql.
const std::vector<Migration>& Migrations();

// Brings the file up to the last of `migrations` (ascending versions), each in a transaction of its
// own, and returns that version. FAILED_PRECONDITION: written by a newer version, or by another
// program; nothing is changed then. DATA_LOSS: not a database.
absl::StatusOr<int> Migrate(Database& database, absl::Span<const Migration> migrations);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_MIGRATIONS_H_
