#include "coordinator/store/run_archive.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <set>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/unique_fd.h"
#include "coordinator/store/database.h"
#include "coordinator/store/migrations.h"
#include "coordinator/store/run_removal.h"
#include "coordinator/store/run_rows.h"

namespace ksearch {
namespace {

// The order satisfies foreign keys. asked_jobs: every job that the chosen runs asked for, also
// those that other runs asked for, too.
struct Part {
  absl::string_view table;
  absl::string_view which;
};
constexpr Part kParts[] = {
    {"runs", "run_id IN gone_runs"},
    {"run_states", "run_id IN gone_runs"},
    {"run_state_pieces", "run_id IN gone_runs"},
    {"world_models", "run_id IN gone_runs"},
    {"world_model_parts", "run_id IN gone_runs"},
    {"ledger", "run_id IN gone_runs"},
    {"llm_calls", "run_id IN gone_runs"},
    {"jobs", "job_id IN asked_jobs"},
    {"candidate_sources",
     "candidate_id IN (SELECT candidate_id FROM main.candidates WHERE run_id IN gone_runs UNION "
     "SELECT candidate_id FROM main.jobs WHERE job_id IN asked_jobs)"},
    {"candidates", "run_id IN gone_runs"},
    {"job_requests", "run_id IN gone_runs"},
    {"attempts", "job_id IN asked_jobs"},
    {"results", "job_id IN asked_jobs"},
    {"task_faults", "job_id IN asked_jobs"},
    {"arrivals", "run_id IN gone_runs"},
    {"events", "run_id IN gone_runs"},
    {"memory_gains", "run_id IN gone_runs"},
    {"blobs", "sha256 IN named_blobs"},
    {"workers", "worker_id IN (SELECT worker_id FROM main.results WHERE job_id IN asked_jobs)"},
};

constexpr char kTemporary[] =
    "CREATE TEMP TABLE asked_jobs AS "
    "SELECT DISTINCT job_id FROM job_requests WHERE run_id IN gone_runs;"
    "CREATE TEMP TABLE named_blobs (sha256 TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;";

absl::StatusOr<std::unique_ptr<Database>> OpenKept(const std::string& path) {
  std::error_code error;
  const std::string source = std::filesystem::canonical(path, error).string();
  if (error) return absl::NotFoundError(absl::StrCat("no database ", path));
  // Only reads, but a database attached to a read-only connection would be read-only, too.
  ASSIGN_OR_RETURN(auto database, Database::Open(source, Database::Mode::kReadWriteCreate));
  RETURN_IF_ERROR(CheckIsKept(*database));
  RETURN_IF_ERROR(database->Execute("PRAGMA temp_store = MEMORY"));
  return database;
}

// Oldest first, into gone_runs and the plan.
absl::Status Choose(Database& database, const RunChoice& choice, ArchivePlan* plan) {
  std::set<std::string> named;
  for (const std::string& run : choice.runs) {
    ASSIGN_OR_RETURN(const std::string id, run_rows::Resolve(database, run));
    named.insert(id);
  }
  ASSIGN_OR_RETURN(const std::string kept, RunOfNewestEvent(database));
  RETURN_IF_ERROR(database.Execute(
      "CREATE TEMP TABLE gone_runs (run_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID"));
  auto select = database.Prepare(
      "SELECT run_id, status, updated_unix_us, last_event_seq FROM runs JOIN run_states USING "
      "(run_id) ORDER BY number");
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return absl::OkStatus();
    const std::string id = select.TextAt(0);
    v1::RunStatus status;
    RETURN_IF_ERROR(select.ProtoAt(1, &status));
    const bool ended = HasEnded(status.state());
    const bool old = ended && select.TimeAt(2) < choice.ended_before;
    if (named.contains(id)) {
      RETURN_IF_ERROR(CheckRemovable(id, status.state(), kept));
    } else if (old && id == kept) {
      plan->contents.set_left_out(id);
      continue;
    } else if (!old) {
      continue;
    }
    RETURN_IF_ERROR(database.Prepare("INSERT INTO temp.gone_runs VALUES (?)").Text(id).Run());
    v1::ArchivedRun* run = plan->contents.add_runs();
    run->set_run_id(id);
    run->set_task(status.task());
    run->set_state(status.state());
    if (status.has_ended_at()) *run->mutable_ended_at() = status.ended_at();
    plan->last_event_seqs.push_back(select.IntAt(3));
  }
}

absl::Status Count(Database& database, v1::ArchivedRun* run) {
  auto results = database.Prepare(
      "SELECT count(*), ifnull(sum(length(body)), 0) FROM results WHERE job_id IN gone_jobs AND "
      "job_id IN (SELECT job_id FROM job_requests WHERE run_id = ?)");
  RETURN_IF_ERROR(results.Text(run->run_id()).Next().status());
  run->set_results(results.IntAt(0));
  run->set_result_bytes(results.IntAt(1));
  auto calls = database.Prepare(
      "SELECT count(*), ifnull(sum(length(CAST(system AS BLOB)) + length(CAST(prompt AS BLOB)) + "
      "ifnull(length(CAST(reply AS BLOB)), 0)), 0) FROM llm_calls WHERE run_id = ?");
  RETURN_IF_ERROR(calls.Text(run->run_id()).Next().status());
  run->set_llm_calls(calls.IntAt(0));
  run->set_llm_call_bytes(calls.IntAt(1));
  return absl::OkStatus();
}

// Which blobs are removed, and which others the archive needs.
absl::Status FindBlobs(Database& database, ArchivePlan* plan) {
  std::set<std::string> kept;
  auto jobs = database.Prepare("SELECT spec, job_id IN gone_jobs, job_id IN asked_jobs FROM jobs");
  while (true) {
    ASSIGN_OR_RETURN(const bool row, jobs.Next());
    if (!row) break;
    v1::JobSpec spec;
    RETURN_IF_ERROR(jobs.ProtoAt(0, &spec));
    if (jobs.IntAt(1) == 0) kept.insert(spec.task_sha256());
    if (jobs.IntAt(2) == 0) continue;
    RETURN_IF_ERROR(database.Prepare("INSERT OR IGNORE INTO temp.named_blobs VALUES (?)")
                        .Text(spec.task_sha256())
                        .Run());
  }
  auto blobs = database.Prepare("SELECT sha256, length(content) FROM blobs");
  while (true) {
    ASSIGN_OR_RETURN(const bool row, blobs.Next());
    if (!row) break;
    const std::string name = blobs.TextAt(0);
    if (kept.contains(name)) continue;
    plan->contents.set_blobs(plan->contents.blobs() + 1);
    plan->contents.set_blob_bytes(plan->contents.blob_bytes() + blobs.IntAt(1));
    plan->blobs.push_back(name);
  }
  for (const std::string& name : plan->blobs) {
    RETURN_IF_ERROR(
        database.Prepare("INSERT OR IGNORE INTO temp.named_blobs VALUES (?)").Text(name).Run());
  }
  return absl::OkStatus();
}

// One transaction, so that everything is read as of one moment.
absl::StatusOr<ArchivePlan> Plan(Database& database, const RunChoice& choice) {
  ArchivePlan plan;
  RETURN_IF_ERROR(Choose(database, choice, &plan));
  if (plan.contents.runs().empty()) return plan;
  RETURN_IF_ERROR(database.Execute(kTemporary));
  RETURN_IF_ERROR(FindGoneJobs(database));
  for (v1::ArchivedRun& run : *plan.contents.mutable_runs()) {
    RETURN_IF_ERROR(Count(database, &run));
  }
  auto jobs = database.Prepare("SELECT job_id FROM temp.gone_jobs");
  while (true) {
    ASSIGN_OR_RETURN(const bool row, jobs.Next());
    if (!row) break;
    plan.job_ids.push_back(jobs.TextAt(0));
  }
  RETURN_IF_ERROR(FindBlobs(database, &plan));
  return plan;
}

// Copies the chosen rows of one table. Rows keep their rowids: those of events are the cursors of
// the feed.
absl::Status CopyPart(Database& database, const Part& part) {
  std::string columns;
  {
    auto names = database.Prepare("SELECT group_concat(name, ', ') FROM pragma_table_info(?)");
    RETURN_IF_ERROR(names.Text(part.table).Next().status());
    columns = names.TextAt(0);
  }
  if (part.table == "events") columns = absl::StrCat("rowid, ", columns);
  return database.Execute(absl::StrCat("INSERT INTO archive.", part.table, " (", columns,
                                       ") SELECT ", columns, " FROM main.", part.table, " WHERE ",
                                       part.which));
}

absl::Status SyncPath(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.ok() || ::fsync(fd.get()) != 0) return ErrnoStatus(errno, absl::StrCat("sync ", path));
  return absl::OkStatus();
}

absl::Status MakeEmpty(const std::string& path) {
  ASSIGN_OR_RETURN(const auto empty, Database::Open(path, Database::Mode::kReadWriteCreate));
  return Migrate(*empty, Migrations()).status();
}

absl::StatusOr<ArchivePlan> PlanAndCopy(Database& database, const RunChoice& choice) {
  ASSIGN_OR_RETURN(ArchivePlan plan, Plan(database, choice));
  if (plan.contents.runs().empty()) return plan;
  for (const Part& part : kParts) RETURN_IF_ERROR(CopyPart(database, part));
  return plan;
}

}  // namespace

absl::StatusOr<ArchivePlan> PlanArchive(const std::string& path, const RunChoice& choice) {
  ASSIGN_OR_RETURN(const auto database, OpenKept(path));
  RETURN_IF_ERROR(database->Execute("BEGIN"));
  return Plan(*database, choice);  // temporary tables end with the connection
}

absl::StatusOr<ArchivePlan> MakeArchive(const std::string& path, const RunChoice& choice,
                                        const std::string& target) {
  std::error_code error;
  if (std::filesystem::exists(target, error)) {
    return absl::AlreadyExistsError(absl::StrCat(target, " exists; name a new archive"));
  }
  ASSIGN_OR_RETURN(auto database, OpenKept(path));
  const std::string folder = std::filesystem::absolute(target, error).parent_path().string();
  std::filesystem::create_directories(folder, error);
  if (error) return ErrnoStatus(error.value(), absl::StrCat("create folder ", folder));
  const std::string part = absl::StrCat(target, ".part");
  ::unlink(part.c_str());
  const auto drop = absl::MakeCleanup([&part] {
    ::unlink(part.c_str());
    ::unlink(absl::StrCat(part, "-journal").c_str());
  });
  RETURN_IF_ERROR(MakeEmpty(part));
  RETURN_IF_ERROR(database->Prepare("ATTACH ? AS archive").Text(part).Run());
  RETURN_IF_ERROR(database->Execute("BEGIN"));
  absl::StatusOr<ArchivePlan> plan = PlanAndCopy(*database, choice);
  if (plan.ok()) {
    if (const absl::Status ended = database->Execute("COMMIT"); !ended.ok()) plan = ended;
  }
  database.reset();
  if (!plan.ok()) return Annotate(plan.status(), absl::StrCat("archive to ", target));
  if (plan->contents.runs().empty()) return plan;
  RETURN_IF_ERROR(SyncPath(part));
  if (::rename(part.c_str(), target.c_str()) != 0) {
    return ErrnoStatus(errno, absl::StrCat("rename ", part, " to ", target));
  }
  RETURN_IF_ERROR(SyncPath(folder));
  return plan;
}

}  // namespace ksearch
