#include "coordinator/store/run_removal.h"

#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "coordinator/store/database.h"
#include "coordinator/store/file_lock.h"
#include "coordinator/store/migrations.h"

namespace ksearch {
namespace {

constexpr char kGoneRuns[] =
    "CREATE TEMP TABLE gone_runs (run_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID";

// Triggers that keep evidence from being removed by mistake; restored before the transaction ends.
constexpr absl::string_view kGuards[] = {"results_are_kept", "calls_are_kept", "sources_are_kept"};

// The order satisfies foreign keys. `gone_runs` and `gone_jobs` are filled in before.
constexpr char kRemoval[] =
    "CREATE TEMP TABLE gone_sources AS SELECT candidate_id FROM candidates WHERE run_id IN "
    "gone_runs;"
    "DELETE FROM arrivals WHERE run_id IN gone_runs;"
    "DELETE FROM events WHERE run_id IN gone_runs;"
    "DELETE FROM world_models WHERE run_id IN gone_runs;"
    "DELETE FROM world_model_parts WHERE run_id IN gone_runs;"
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

// Jobs that only these runs asked for; jobs that show that a task is at fault stay.
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

// Removes the runs in temp.gone_runs, and fills in temp.gone_jobs.
absl::Status Remove(Database& database) {
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

absl::Status CheckIsKept(Database& database) {
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

absl::StatusOr<std::string> RunOfNewestEvent(Database& database) {
  return ReadText(database, "SELECT run_id FROM events ORDER BY rowid DESC LIMIT 1");
}

absl::Status CheckRemovable(const std::string& run_id, v1::RunState state,
                            const std::string& kept) {
  if (!HasEnded(state)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "run ", run_id, " has not ended; stop it first with `ksearch stop ", run_id, "`"));
  }
  if (run_id != kept) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("run ", run_id,
                   " has the newest event of the database, which must be kept; remove it once "
                   "another run has started"));
}

absl::Status FindGoneJobs(Database& database) { return database.Execute(kGoneJobs); }

absl::StatusOr<bool> RemoveEndedRun(Database& database, const std::string& run_id,
                                    int64_t last_event_seq) {
  {
    auto select =
        database.Prepare("SELECT status, last_event_seq FROM run_states WHERE run_id = ?");
    select.Text(run_id);
    ASSIGN_OR_RETURN(const bool there, select.Next());
    if (!there) return false;
    v1::RunStatus status;
    RETURN_IF_ERROR(select.ProtoAt(0, &status));
    ASSIGN_OR_RETURN(const std::string kept, RunOfNewestEvent(database));
    RETURN_IF_ERROR(CheckRemovable(run_id, status.state(), kept));
    if (select.IntAt(1) != last_event_seq) {
      return absl::FailedPreconditionError(
          absl::StrCat("run ", run_id, " has gone on since it was archived; make another archive"));
    }
  }
  RETURN_IF_ERROR(database.Execute(kGoneRuns));
  RETURN_IF_ERROR(database.Prepare("INSERT INTO temp.gone_runs VALUES (?)").Text(run_id).Run());
  RETURN_IF_ERROR(FindGoneJobs(database));
  RETURN_IF_ERROR(Remove(database));
  RETURN_IF_ERROR(database.Execute(
      "DROP TABLE temp.gone_sources; DROP TABLE temp.gone_jobs; DROP TABLE temp.gone_runs"));
  return true;
}

absl::StatusOr<RemovedRuns> RemoveRuns(const std::string& path, const RunChoice& choice,
                                       const std::string& archive) {
  std::error_code error;
  const std::string source = std::filesystem::canonical(path, error).string();
  if (error) return absl::NotFoundError(absl::StrCat("no database ", path));
  ASSIGN_OR_RETURN(const FileLock lock,
                   FileLock::Acquire(absl::StrCat(source, ".lock"), absl::ZeroDuration()));
  ASSIGN_OR_RETURN(const ArchivePlan plan, MakeArchive(source, choice, archive));
  RemovedRuns removed;
  if (plan.contents.runs().empty()) return removed;
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                   Database::Open(source, Database::Mode::kReadWriteCreate));
  RETURN_IF_ERROR(database->Execute("PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY"));
  RETURN_IF_ERROR(database->Execute("BEGIN IMMEDIATE"));
  const auto remove = [&]() -> absl::Status {
    RETURN_IF_ERROR(database->Execute(kGoneRuns));
    for (const v1::ArchivedRun& run : plan.contents.runs()) {
      removed.run_ids.push_back(run.run_id());
      removed.calls += run.llm_calls();
      RETURN_IF_ERROR(
          database->Prepare("INSERT INTO temp.gone_runs VALUES (?)").Text(run.run_id()).Run());
    }
    RETURN_IF_ERROR(FindGoneJobs(*database));
    ASSIGN_OR_RETURN(
        removed.results,
        ReadNumber(*database, "SELECT count(*) FROM results WHERE job_id IN gone_jobs"));
    RETURN_IF_ERROR(Remove(*database));
    for (const std::string& name : plan.blobs) {
      RETURN_IF_ERROR(database->Prepare("DELETE FROM blobs WHERE sha256 = ?").Text(name).Run());
    }
    return absl::OkStatus();
  };
  absl::Status status = remove();
  if (status.ok()) status = database->Execute("COMMIT");
  if (!status.ok()) {
    if (database->in_transaction()) database->Execute("ROLLBACK").IgnoreError();
    return Annotate(status, "nothing was removed");
  }
  return removed;
}

}  // namespace ksearch
