#include "coordinator/store/migrations.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/log.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

absl::Status Apply(Database& database, const Migration& migration) {
  RETURN_IF_ERROR(database.Execute("BEGIN IMMEDIATE"));
  // Both pragmas are fields of the file's first page, hence part of the transaction.
  absl::Status status =
      database.Execute(absl::StrCat(migration.sql, "\n;PRAGMA application_id = ", kApplicationId,
                                    ";PRAGMA user_version = ", migration.version, ";COMMIT"));
  if (!status.ok() && database.in_transaction()) {
    database.Execute("ROLLBACK").IgnoreError();
  }
  return Annotate(status, absl::StrCat("migration ", migration.name));
}

}  // namespace

absl::StatusOr<int> Migrate(Database& database, absl::Span<const Migration> migrations) {
  CHECK(!migrations.empty());
  const int newest = migrations.back().version;
  ASSIGN_OR_RETURN(const int64_t application_id, ReadNumber(database, "PRAGMA application_id"));
  ASSIGN_OR_RETURN(const int64_t version, ReadNumber(database, "PRAGMA user_version"));
  ASSIGN_OR_RETURN(const int64_t objects,
                   ReadNumber(database, "SELECT count(*) FROM sqlite_master"));
  const bool fresh = application_id == 0 && version == 0 && objects == 0;
  if (!fresh && application_id != kApplicationId) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s is a SQLite database of another program (application_id 0x%08x, expected 0x%08x); "
        "use another state_dir",
        database.path(), static_cast<uint32_t>(application_id), kApplicationId));
  }
  if (version > newest) {
    return absl::FailedPreconditionError(absl::StrCat(
        database.path(), " has schema version ", version, ", this program knows versions up to ",
        newest, "; use the newer program that wrote it, or another state_dir"));
  }
  for (const Migration& migration : migrations) {
    if (migration.version <= version) continue;
    RETURN_IF_ERROR(Apply(database, migration));
    if (fresh) continue;
    LOG(INFO) << "msg=\"schema migrated\" path=" << database.path()
              << " version=" << migration.version;
  }
  return newest;
}

}  // namespace ksearch
