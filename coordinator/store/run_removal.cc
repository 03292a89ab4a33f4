#include "coordinator/store/run_removal.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "coordinator/store/database.h"
#include "coordinator/store/file_lock.h"
#include "coordinator/store/migrations.h"
#include "coordinator/store/run_rows.h"
#include "coordinator/store/store.h"

namespace ksearch {
namespace {

// What keeps evidence from being removed by mistake; restored before the transaction ends.
constexpr absl::string_view kGuards[] = {"results_are_kept", "calls_are_kept", "sources_are_kept"};

// In this order, for the sake of foreign keys. `gone_runs` and `gone_jobs` are filled in before.
constexpr char kRemoval[] =
    "CREATE TEMP TABLE gone_sources AS SELECT candidate_id FROM candidates WHERE run_id IN "
    "gone_runs;"
    "DELETE FROM arrivals WHERE run_id IN gone_runs;"
    "DELETE FROM events WHERE run_id IN gone_runs;"
    "DELETE FROM world_models WHERE run_id IN gone_runs;"
    "DELETE FROM candidates WHERE run_id IN gone_runs;"
    "DELETE FROM job_requests WHERE run_id IN gone_runs;"
    "DELETE FROM llm_calls WHERE run_id IN gone_runs;"
    "DELETE FROM ledger WHERE run_id IN gone_runs;"
    "DELETE FROM run_state_pieces WHERE run_id IN gone_runs;"
    "DELETE FROM run_states WHERE run_id IN gone_runs;"
    "DELETE FROM runs WHERE run_id IN gone_runs;"
    "DELETE FROM results WHERE job_id IN gone_jobs;"
    "DELETE FROM attempts WHERE job_id IN gone_jobs;"
    "DELETE FROM jobs WHERE job_id IN gone_jobs;"
    "DELETE FROM candidate_sources WHERE candidate_id IN gone_sources AND candidate_id NOT IN "
    "(SELECT candidate_id FROM candidates) AND candidate_id NOT IN (SELECT candidate_id FROM "
    "jobs);";

// Jobs that the runs asked for and nobody else did; what shows that a task is at fault stays.
constexpr char kGoneJobs[] =
    "CREATE TEMP TABLE gone_jobs AS "
    "SELECT job_id FROM job_requests WHERE run_id IN gone_runs EXCEPT "
    "SELECT job_id FROM job_requests WHERE run_id NOT IN gone_runs EXCEPT "
    "SELECT job_id FROM task_faults;";

absl::StatusOr<std::string> ReadText(Database& database, absl::string_view sql) {
  Statement statement = database.Prepare(sql);
  ASSIGN_OR_RETURN(const bool row, statement.Next());
  return row ? statement.TextAt(0) : std::string();
}

absl::Status CheckOurs(Database& database) {
  ASSIGN_OR_RETURN(const int64_t id, ReadNumber(database, "PRAGMA application_id"));
  if (id != kApplicationId) {
    return absl::FailedPreconditionError(
        absl::StrCat(database.path(), " is not a database of a ksearch coordinator"));
  }
  ASSIGN_OR_RETURN(const int64_t version, ReadNumber(database, "PRAGMA user_version"));
  if (version != Migrations().back().version) {
    return absl::FailedPreconditionError(absl::StrCat(
        database.path(), " has schema version ", version, ", this program works on version ",
        Migrations().back().version, "; start the coordinator of this version on it first"));
  }
  return absl::OkStatus();
}

// Oldest first.
absl::StatusOr<std::vector<std::string>> Choose(Database& database, const RunRemoval& removal) {
  std::set<std::string> named;
  for (const std::string& run : removal.runs) {
    ASSIGN_OR_RETURN(const std::string id, run_rows::Resolve(database, run));
    named.insert(id);
  }
  ASSIGN_OR_RETURN(const std::string kept,
                   ReadText(database, "SELECT run_id FROM events ORDER BY rowid DESC LIMIT 1"));
  Statement select = database.Prepare(
      "SELECT run_id, status, updated_unix_us FROM runs JOIN run_states USING (run_id) ORDER BY "
      "number");
  std::vector<std::string> chosen;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return chosen;
    const std::string id = select.TextAt(0);
    v1::RunStatus status;
    RETURN_IF_ERROR(select.ProtoAt(1, &status));
    const bool ended = HasEnded(status.state());
    if (named.contains(id)) {
      if (!ended) {
        return absl::FailedPreconditionError(
            absl::StrCat("run ", id, " has not ended; stop it first with `ksearch stop ", id, "`"));
      }
      if (id == kept) {
        return absl::FailedPreconditionError(absl::StrCat(
            "run ", id,
            " has the newest event of the database, which must be kept; remove it once "
            "another run has started"));
      }
      chosen.push_back(id);
    } else if (ended && id != kept && select.TimeAt(2) < removal.ended_before) {
      chosen.push_back(id);
    }
  }
}

absl::Status Remove(Database& database, RemovedRuns* removed) {
  RETURN_IF_ERROR(database.Execute(
      "CREATE TEMP TABLE gone_runs (run_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID"));
  for (const std::string& id : removed->run_ids) {
    RETURN_IF_ERROR(database.Prepare("INSERT INTO gone_runs VALUES (?)").Text(id).Run());
  }
  RETURN_IF_ERROR(database.Execute(kGoneJobs));
  ASSIGN_OR_RETURN(removed->results,
                   ReadNumber(database, "SELECT count(*) FROM results WHERE job_id IN gone_jobs"));
  ASSIGN_OR_RETURN(
      removed->calls,
      ReadNumber(database, "SELECT count(*) FROM llm_calls WHERE run_id IN gone_runs"));
  std::vector<std::string> guards;
  for (const absl::string_view name : kGuards) {
    ASSIGN_OR_RETURN(
        const std::string sql,
        ReadText(database, absl::StrCat("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND "
                                        "name = '",
                                        name, "'")));
    if (sql.empty()) {
      return absl::DataLossError(absl::StrCat(database.path(), ": no trigger ", name));
    }
    guards.push_back(sql);
    RETURN_IF_ERROR(database.Execute(absl::StrCat("DROP TRIGGER ", name)));
  }
  RETURN_IF_ERROR(database.Execute(kRemoval));
  return database.Execute(absl::StrJoin(guards, ";"));
}

}  // namespace

absl::StatusOr<RemovedRuns> RemoveRuns(const std::string& path, const RunRemoval& removal) {
  std::error_code error;
  const std::string source = std::filesystem::canonical(path, error).string();
  if (error) return absl::NotFoundError(absl::StrCat("no database ", path));
  if (std::filesystem::exists(removal.archive, error)) {
    return absl::AlreadyExistsError(absl::StrCat(removal.archive, " exists; name a new archive"));
  }
  ASSIGN_OR_RETURN(const FileLock lock,
                   FileLock::Acquire(absl::StrCat(source, ".lock"), absl::ZeroDuration()));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                   Database::Open(source, Database::Mode::kReadWriteCreate));
  RETURN_IF_ERROR(CheckOurs(*database));
  RETURN_IF_ERROR(database->Execute("PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY"));
  RemovedRuns removed;
  ASSIGN_OR_RETURN(removed.run_ids, Choose(*database, removal));
  if (removed.run_ids.empty()) return removed;
  RETURN_IF_ERROR(Store::BackupFile(source, removal.archive));
  RETURN_IF_ERROR(database->Execute("BEGIN IMMEDIATE"));
  absl::Status status = Remove(*database, &removed);
  if (status.ok()) status = database->Execute("COMMIT");
  if (!status.ok()) {
    if (database->in_transaction()) database->Execute("ROLLBACK").IgnoreError();
    return Annotate(status, "nothing was removed");
  }
  return removed;
}

}  // namespace ksearch
