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

// "KSRC": the PRAGMA application_id of our files, which keeps us from touching another program's
// database.
inline constexpr int32_t kApplicationId = 0x4B535243;

// One step of the schema. There is no way back.
struct Migration {
  int version = 0;  // PRAGMA user_version afterwards
  const char* name = "";
  const char* sql = "";
};

// Every migration, oldest first. Embedded from schema/NNNN_*.sql.
const std::vector<Migration>& Migrations();

// Applies the missing ones of `migrations` (ascending versions), each in its own transaction, and
// returns the last version. FAILED_PRECONDITION: a newer version or another program wrote the file,
// which is then left unchanged. DATA_LOSS: not a database.
absl::StatusOr<int> Migrate(Database& database, absl::Span<const Migration> migrations);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_MIGRATIONS_H_
