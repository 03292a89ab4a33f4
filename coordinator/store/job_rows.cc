#include "coordinator/store/job_rows.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/identity.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/store/ledger_rows.h"
#include "coordinator/store/run_rows.h"
#include "coordinator/store/task_fault_rows.h"

namespace ksearch::job_rows {
namespace {

absl::StatusOr<bool> Exists(Database& database, absl::string_view sql, const std::string& key) {
  return database.Prepare(sql).Text(key).Next();
}

constexpr absl::string_view kJobExists = "SELECT 1 FROM jobs WHERE job_id = ?";
constexpr absl::string_view kResultExists = "SELECT 1 FROM results WHERE job_id = ?";

}  // namespace

absl::Status Insert(Database& database, const std::string& job_id, const v1::JobSpec& spec,
                    absl::Time now) {
  if (job_id.empty()) return absl::InvalidArgumentError("job_id is empty");
  ASSIGN_OR_RETURN(const bool known, Exists(database, kJobExists, job_id));
  if (known) return absl::OkStatus();
  return database
      .Prepare(
          "INSERT INTO jobs (job_id, kind, task_name, candidate_id, created_unix_us, spec) "
          "VALUES (?, ?, ?, ?, ?, ?)")
      .Text(job_id)
      .Text(v1::JobKind_Name(spec.kind()))
      .Text(spec.task_name())
      .Text(CandidateId(spec.candidate()))
      .Time(now)
      .Proto(spec)
      .Run();
}

absl::StatusOr<bool> Request(Database& database, const std::string& run_id,
                             const JobRequestRow& request, absl::Time now) {
  RETURN_IF_ERROR(Insert(database, request.job_id, request.spec, now));
  RETURN_IF_ERROR(database
                      .Prepare("INSERT INTO job_requests (run_id, tag, job_id) VALUES (?, ?, ?) "
                               "ON CONFLICT (run_id, tag) DO NOTHING")
                      .Text(run_id)
                      .Text(request.tag)
                      .Text(request.job_id)
                      .Run());
  const bool fresh = database.changes() > 0;
  if (!fresh) {
    Statement kept =
        database.Prepare("SELECT job_id FROM job_requests WHERE run_id = ? AND tag = ?");
    ASSIGN_OR_RETURN(const bool found, kept.Text(run_id).Text(request.tag).Next());
    if (found && kept.TextAt(0) != request.job_id) {
      return absl::FailedPreconditionError(absl::StrCat(
          "run ", run_id, " used the tag \"", request.tag, "\" for job ", kept.TextAt(0)));
    }
  }
  ASSIGN_OR_RETURN(const bool done, Exists(database, kResultExists, request.job_id));
  if (!done) {
    if (fresh && IsEvaluation(request.spec.kind())) {
      RETURN_IF_ERROR(ledger_rows::AddEvaluations(database, run_id, 1, 0, 0));
    }
    return false;
  }
  return run_rows::InsertArrival(database, run_id, Arrival::Kind::kResult, request.job_id,
                                 request.tag);
}

absl::StatusOr<v1::JobSpec> Read(Database& database, const std::string& job_id) {
  Statement select = database.Prepare("SELECT spec FROM jobs WHERE job_id = ?");
  ASSIGN_OR_RETURN(const bool found, select.Text(job_id).Next());
  if (!found) return absl::NotFoundError(absl::StrCat("no job \"", job_id, "\""));
  v1::JobSpec spec;
  RETURN_IF_ERROR(select.ProtoAt(0, &spec));
  return spec;
}

absl::StatusOr<std::vector<QueuedJob>> ReadUnfinished(Database& database) {
  // An attempt still open when the coordinator ended counts: its worker may come back with it, and
  // until then the job has to wait and its number is taken.
  Statement select = database.Prepare(
      "SELECT job_id, spec, (SELECT count(*) FROM attempts AS a WHERE a.job_id = j.job_id AND "
      "a.ended IN ('', 'lost', 'returned')), ifnull((SELECT group_concat(q.run_id, char(10)) FROM "
      "job_requests AS q WHERE q.job_id = j.job_id), '') FROM jobs AS j "
      "WHERE NOT EXISTS (SELECT 1 FROM results AS r WHERE r.job_id = j.job_id) ORDER BY number");
  std::vector<QueuedJob> jobs;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return jobs;
    QueuedJob& job = jobs.emplace_back();
    job.job_id = select.TextAt(0);
    RETURN_IF_ERROR(select.ProtoAt(1, &job.spec));
    job.attempts = static_cast<int>(select.IntAt(2));
    job.run_ids = absl::StrSplit(select.TextAt(3), '\n', absl::SkipEmpty());
    Statement attempts =
        database.Prepare("SELECT lease_id, worker_id FROM attempts WHERE job_id = ?");
    attempts.Text(job.job_id);
    while (true) {
      ASSIGN_OR_RETURN(const bool attempt, attempts.Next());
      if (!attempt) break;
      job.worker_of_lease[attempts.TextAt(0)] = attempts.TextAt(1);
    }
  }
}

absl::StatusOr<v1::RecordResultReply::Disposition> RecordResult(Database& database,
                                                                const v1::JobResult& result,
                                                                const std::string& lease_id,
                                                                absl::Time now,
                                                                std::vector<std::string>* runs) {
  runs->clear();
  const std::string& job_id = result.job_id();
  ASSIGN_OR_RETURN(const bool known, Exists(database, kJobExists, job_id));
  if (!known) return v1::RecordResultReply::UNKNOWN_JOB;
  RETURN_IF_ERROR(database
                      .Prepare("INSERT INTO results (job_id, attempt, worker_id, lease_id, "
                               "outcome, device_id, recorded_unix_us, body) VALUES "
                               "(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (job_id) DO NOTHING")
                      .Text(job_id)
                      .Int(result.attempt())
                      .Text(result.worker_id())
                      .Text(lease_id)
                      .Text(v1::Outcome_Name(result.outcome()))
                      .Text(result.device().device_id())
                      .Time(now)
                      .Proto(result)
                      .Run());
  if (database.changes() == 0) return v1::RecordResultReply::ALREADY_RECORDED;
  RETURN_IF_ERROR(task_fault_rows::Note(database, result));
  RETURN_IF_ERROR(database
                      .Prepare("UPDATE attempts SET ended = 'recorded', ended_unix_us = ? "
                               "WHERE lease_id = ? AND job_id = ? AND ended = ''")
                      .Time(now)
                      .Text(lease_id)
                      .Text(job_id)
                      .Run());
  const int64_t device_us =
      absl::ToInt64Microseconds(FromProto(result.stage_times().device_held()));
  Statement requests = database.Prepare(
      "SELECT run_id, tag FROM job_requests WHERE job_id = ? ORDER BY run_id, tag");
  requests.Text(job_id);
  std::string charged;  // charged once, however often the run asked for it
  while (true) {
    ASSIGN_OR_RETURN(const bool row, requests.Next());
    if (!row) return v1::RecordResultReply::RECORDED;
    const std::string run_id = requests.TextAt(0);
    if (run_id != charged) {
      RETURN_IF_ERROR(
          ledger_rows::AddEvaluations(database, run_id, 0, device_us, result.device_nano_usd()));
      charged = run_id;
    }
    ASSIGN_OR_RETURN(const bool arrived,
                     run_rows::InsertArrival(database, run_id, Arrival::Kind::kResult, job_id,
                                             requests.TextAt(1)));
    if (arrived) runs->push_back(run_id);
  }
}

absl::Status RecordAttempt(Database& database, const AttemptRow& attempt, absl::Time now) {
  if (attempt.lease_id.empty()) return absl::InvalidArgumentError("lease_id is empty");
  Statement upsert = database.Prepare(
      "INSERT INTO attempts (lease_id, job_id, attempt, worker_id, started_unix_us, "
      "ended_unix_us, ended, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
      "ON CONFLICT (lease_id) DO UPDATE SET ended_unix_us = excluded.ended_unix_us, "
      "ended = excluded.ended, note = excluded.note WHERE ended = ''");
  upsert.Text(attempt.lease_id)
      .Text(attempt.job_id)
      .Int(attempt.attempt)
      .Text(attempt.worker_id)
      .Time(now);
  if (attempt.ended.empty()) {
    upsert.Null();
  } else {
    upsert.Time(now);
  }
  return upsert.Text(attempt.ended).Text(attempt.note).Run();
}

absl::StatusOr<std::optional<v1::JobResult>> ReadResult(Database& database,
                                                        const std::string& job_id) {
  Statement select = database.Prepare("SELECT body FROM results WHERE job_id = ?");
  ASSIGN_OR_RETURN(const bool found, select.Text(job_id).Next());
  std::optional<v1::JobResult> result;
  if (found) RETURN_IF_ERROR(select.ProtoAt(0, &result.emplace()));
  return result;
}

absl::StatusOr<std::vector<ResultRow>> ListResults(Database& database, const std::string& task_name,
                                                   int64_t before, int limit) {
  Statement select = database.Prepare(
      "SELECT r.number, r.job_id, r.outcome, r.recorded_unix_us, j.spec FROM results AS r "
      "JOIN jobs AS j USING (job_id) WHERE (?1 = '' OR j.task_name = ?1) AND (?2 <= 0 OR "
      "r.number < ?2) ORDER BY r.number DESC LIMIT ?3");
  select.Text(task_name).Int(before).Int(limit > 0 ? limit : -1);
  std::vector<ResultRow> rows;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return rows;
    ResultRow& result = rows.emplace_back();
    result.number = select.IntAt(0);
    result.job_id = select.TextAt(1);
    // An outcome that only a later release knows stays unspecified.
    v1::Outcome_Parse(select.TextAt(2), &result.outcome);
    result.recorded = select.TimeAt(3);
    RETURN_IF_ERROR(select.ProtoAt(4, &result.spec));
  }
}

absl::StatusOr<std::vector<v1::JobResult>> ReadResultsOf(Database& database,
                                                         const std::string& run_id,
                                                         const std::string& candidate_id) {
  Statement select = database.Prepare(
      "SELECT body FROM results JOIN jobs USING (job_id) WHERE jobs.candidate_id = ?2 AND EXISTS "
      "(SELECT 1 FROM job_requests AS q WHERE q.job_id = jobs.job_id AND q.run_id = ?1) "
      "ORDER BY results.number");
  select.Text(run_id).Text(candidate_id);
  std::vector<v1::JobResult> results;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return results;
    RETURN_IF_ERROR(select.ProtoAt(0, &results.emplace_back()));
  }
}

absl::Status PutBlob(Database& database, const std::string& sha256, const std::string& bytes) {
  if (sha256.empty()) return absl::InvalidArgumentError("sha256 is empty");
  return database
      .Prepare("INSERT INTO blobs (sha256, content) VALUES (?, ?) ON CONFLICT DO NOTHING")
      .Text(sha256)
      .Blob(bytes)
      .Run();
}

absl::StatusOr<std::string> ReadBlob(Database& database, const std::string& sha256) {
  Statement select = database.Prepare("SELECT content FROM blobs WHERE sha256 = ?");
  ASSIGN_OR_RETURN(const bool found, select.Text(sha256).Next());
  if (!found) return absl::NotFoundError(absl::StrCat("no blob with sha256 \"", sha256, "\""));
  return select.TextAt(0);
}

absl::Status UpsertWorker(Database& database, const v1::WorkerHello& hello,
                          const std::string& owner, absl::Time seen) {
  if (hello.worker_id().empty()) return absl::InvalidArgumentError("worker_id is empty");
  return database
      .Prepare(
          "INSERT INTO workers (worker_id, seen_unix_us, hello, owner) VALUES (?, ?, ?, ?) "
          "ON CONFLICT (worker_id) DO UPDATE SET seen_unix_us = excluded.seen_unix_us, "
          "hello = excluded.hello, owner = excluded.owner")
      .Text(hello.worker_id())
      .Time(seen)
      .Proto(hello)
      .Text(owner)
      .Run();
}

absl::StatusOr<std::map<std::string, std::string>> ReadWorkerOwners(Database& database) {
  Statement select = database.Prepare("SELECT worker_id, owner FROM workers WHERE owner != ''");
  std::map<std::string, std::string> owners;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return owners;
    owners[select.TextAt(0)] = select.TextAt(1);
  }
}

absl::StatusOr<std::vector<v1::WorkerStatus>> ListWorkers(Database& database) {
  Statement select = database.Prepare(
      "SELECT worker_id, seen_unix_us, hello, (SELECT count(*) FROM results AS r WHERE "
      "r.worker_id = w.worker_id) FROM workers AS w ORDER BY worker_id");
  std::vector<v1::WorkerStatus> workers;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return workers;
    v1::WorkerStatus& worker = workers.emplace_back();
    worker.set_worker_id(select.TextAt(0));
    *worker.mutable_last_report_at() = ToProto(select.TimeAt(1));
    RETURN_IF_ERROR(select.ProtoAt(2, worker.mutable_hello()));
    worker.set_name(worker.hello().name());
    worker.set_jobs_done(select.IntAt(3));
  }
}

}  // namespace ksearch::job_rows
