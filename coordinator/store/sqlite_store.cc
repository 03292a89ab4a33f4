#include "coordinator/store/sqlite_store.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/unique_fd.h"
#include "coordinator/store/event_rows.h"
#include "coordinator/store/job_rows.h"
#include "coordinator/store/ledger_rows.h"
#include "coordinator/store/memory_rows.h"
#include "coordinator/store/migrations.h"
#include "coordinator/store/proposal_rows.h"
#include "coordinator/store/run_removal.h"
#include "coordinator/store/run_rows.h"
#include "coordinator/store/task_fault_rows.h"

namespace ksearch {
namespace {

// Readers kept open when idle; more are opened and closed as needed.
constexpr size_t kMaxIdleReaders = 8;

// The lock is on the file itself, whichever symbolic link leads to it.
absl::StatusOr<std::string> MakeFolder(const std::string& path) {
  if (path.empty()) return absl::InvalidArgumentError("the database has no path");
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::weakly_canonical(path, error);
  if (error) return ErrnoStatus(error.value(), absl::StrCat("find ", path));
  std::filesystem::create_directories(absolute.parent_path(), error);
  if (error) {
    return ErrnoStatus(error.value(),
                       absl::StrCat("create folder ", absolute.parent_path().string()));
  }
  return absolute.string();
}

absl::Status CheckWritable(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0 || ::access(path.c_str(), W_OK) == 0) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(path, " is read-only for this account"));
}

// Takes what is cached about the run out of `all`.
template <typename Kept>
std::optional<Kept> Take(const std::string& run_id, absl::flat_hash_map<std::string, Kept>* all) {
  const auto known = all->find(run_id);
  if (known == all->end()) return std::nullopt;
  std::optional<Kept> kept = std::move(known->second);
  all->erase(known);
  return kept;
}

// A row of a step belongs to the step's run, whether or not it names the run.
template <typename Row>
absl::StatusOr<Row> OfRun(Row row, const std::string& run_id) {
  if (!row.run_id.empty() && row.run_id != run_id) {
    return absl::InvalidArgumentError(
        absl::StrCat("a step of run ", run_id, " has a row of run ", row.run_id));
  }
  row.run_id = run_id;
  return row;
}

absl::Status SyncPath(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.ok() || ::fsync(fd.get()) != 0) return ErrnoStatus(errno, absl::StrCat("sync ", path));
  return absl::OkStatus();
}

// The copy appears complete or not at all.
absl::Status CopyWhole(Database& database, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string target, MakeFolder(path));
  if (target == database.path()) {
    return absl::InvalidArgumentError(absl::StrCat("cannot back up ", target, " onto itself"));
  }
  const std::string part = absl::StrCat(target, ".part");
  ::unlink(part.c_str());
  absl::Status status = database.CopyTo(part);
  if (status.ok()) status = SyncPath(part);
  if (status.ok() && ::rename(part.c_str(), target.c_str()) != 0) {
    status = ErrnoStatus(errno, absl::StrCat("rename ", part, " to ", target));
  }
  if (!status.ok()) {
    ::unlink(part.c_str());
    return Annotate(status, absl::StrCat("back up to ", target));
  }
  return SyncPath(std::filesystem::path(target).parent_path().string());
}

// Tells the checkpointer of each commit.
std::unique_ptr<Database> Hooked(std::unique_ptr<Database> writing, Checkpointer& checkpointer) {
  Database* const database = writing.get();
  writing->OnLogGrown(
      [database, &checkpointer](int log_pages) { checkpointer.LogGrew(*database, log_pages); });
  return writing;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const Options& options, const Clock& clock) {
  return SqliteStore::Open(options, clock);
}

absl::Status Store::BackupFile(const std::string& path, const std::string& target) {
  std::error_code error;
  const std::string source = std::filesystem::canonical(path, error).string();
  if (error) return ErrnoStatus(error.value(), absl::StrCat("back up ", path));
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                   Database::Open(source, Database::Mode::kReadOnly));
  {
    auto id = database->Prepare("PRAGMA application_id");
    ASSIGN_OR_RETURN(const bool found, id.Next());
    if (!found || id.IntAt(0) != kApplicationId) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, " is not a database of a ksearch coordinator"));
    }
  }
  return CopyWhole(*database, target);
}

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(const Options& options,
                                                               const Clock& clock) {
  ASSIGN_OR_RETURN(const std::string path, MakeFolder(options.path));
  ASSIGN_OR_RETURN(FileLock lock,
                   FileLock::Acquire(absl::StrCat(path, ".lock"), options.lock_wait));
  RETURN_IF_ERROR(CheckWritable(path));
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                   Database::Open(path, Database::Mode::kReadWriteCreate));
  // Migrate checks before it writes anything: an unrelated file stays as it is.
  ASSIGN_OR_RETURN(const int version, Migrate(*database, Migrations()));
  // A power cut loses no acknowledged row with FULL; a commit costs about 100 us (measured, so
  // operations are committed in groups). The log is cut back to 64 MiB after a burst.
  RETURN_IF_ERROR(
      database->Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "
                        "PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY"));
  ASSIGN_OR_RETURN(std::unique_ptr<Database> copying,
                   Database::Open(path, Database::Mode::kReadWriteCreate));
  RETURN_IF_ERROR(copying->Execute("PRAGMA synchronous = FULL"));
  // A connection can copy the log only once it has read the file.
  RETURN_IF_ERROR(ReadNumber(*copying, "SELECT count(*) FROM sqlite_schema").status());
  return std::unique_ptr<SqliteStore>(new SqliteStore(
      path, version, std::move(lock), std::move(database), std::move(copying), clock));
}

SqliteStore::SqliteStore(std::string path, int schema_version, FileLock lock,
                         std::unique_ptr<Database> writing, std::unique_ptr<Database> copying,
                         const Clock& clock)
    : path_(std::move(path)),
      schema_version_(schema_version),
      clock_(clock),
      lock_(std::move(lock)),
      checkpointer_(std::move(copying)),
      writer_(Hooked(std::move(writing), checkpointer_)) {}

void SqliteStore::SetArrivalListener(std::function<void(const std::string& run_id)> listener) {
  listener_ = std::move(listener);
}

void SqliteStore::SetEventListener(EventListener listener) {
  event_listener_ = std::move(listener);
}

void SqliteStore::Notify(const std::vector<std::string>& runs) const {
  if (!listener_) return;
  for (const std::string& run_id : runs) listener_(run_id);
}

// ---------------------------------------------------------------- reading

absl::StatusOr<std::unique_ptr<Database>> SqliteStore::TakeReader() {
  {
    MutexLock lock(&readers_mu_);
    if (!idle_readers_.empty()) {
      std::unique_ptr<Database> reader = std::move(idle_readers_.back());
      idle_readers_.pop_back();
      return reader;
    }
  }
  return Database::Open(path_, Database::Mode::kReadOnly);
}

void SqliteStore::GiveBackReader(std::unique_ptr<Database> reader) {
  MutexLock lock(&readers_mu_);
  if (idle_readers_.size() < kMaxIdleReaders) idle_readers_.push_back(std::move(reader));
}

template <typename Read>
auto SqliteStore::Reading(Read read) -> decltype(read(std::declval<Database&>())) {
  ASSIGN_OR_RETURN(std::unique_ptr<Database> reader, TakeReader());
  auto rows = read(*reader);
  GiveBackReader(std::move(reader));
  return rows;
}

absl::StatusOr<RunRow> SqliteStore::ReadRun(const std::string& run_id) {
  return Reading([&](Database& database) { return run_rows::Read(database, run_id); });
}

absl::StatusOr<v1::RunStatus> SqliteStore::ReadRunStatus(const std::string& run_id) {
  return Reading([&](Database& database) { return run_rows::ReadStatus(database, run_id); });
}

absl::StatusOr<std::string> SqliteStore::ResolveRun(const std::string& prefix) {
  return Reading([&](Database& database) { return run_rows::Resolve(database, prefix); });
}

absl::StatusOr<std::vector<v1::RunStatus>> SqliteStore::ListRuns() {
  return Reading([&](Database& database) { return run_rows::List(database); });
}

absl::StatusOr<std::vector<Arrival>> SqliteStore::ReadArrivals(const std::string& run_id,
                                                               int64_t after_seq, int limit) {
  return Reading([&](Database& database) {
    return run_rows::ReadArrivals(database, run_id, after_seq, limit);
  });
}

absl::StatusOr<std::vector<v1::RunEvent>> SqliteStore::ReadEvents(const std::string& run_id,
                                                                  int64_t after_seq, int limit) {
  return Reading(
      [&](Database& database) { return event_rows::Read(database, run_id, after_seq, limit); });
}

absl::StatusOr<std::vector<v1::FeedEntry>> SqliteStore::ReadAllEvents(int64_t after_cursor,
                                                                      int limit) {
  return Reading(
      [&](Database& database) { return event_rows::ReadAll(database, after_cursor, limit); });
}

absl::StatusOr<int64_t> SqliteStore::ReadNewestCursor() {
  return Reading([](Database& database) { return event_rows::ReadNewestCursor(database); });
}

absl::StatusOr<v1::WorldModel> SqliteStore::ReadWorldModel(const std::string& run_id,
                                                           int64_t revision) {
  return Reading(
      [&](Database& database) { return world_model_rows::Read(database, run_id, revision); });
}

absl::StatusOr<CandidateRow> SqliteStore::ReadCandidate(const std::string& run_id,
                                                        const std::string& prefix) {
  return Reading(
      [&](Database& database) { return proposal_rows::ReadCandidate(database, run_id, prefix); });
}

absl::StatusOr<std::vector<CandidateRow>> SqliteStore::ListCandidates(const std::string& run_id) {
  return Reading(
      [&](Database& database) { return proposal_rows::ListCandidates(database, run_id); });
}

absl::StatusOr<std::vector<LedgerRow>> SqliteStore::ReadLedger(const std::string& run_id) {
  return Reading([&](Database& database) { return ledger_rows::Read(database, run_id); });
}

absl::StatusOr<LlmCallRow> SqliteStore::ReadCall(const std::string& call_id) {
  return Reading([&](Database& database) { return proposal_rows::ReadCall(database, call_id); });
}

absl::StatusOr<std::vector<LlmCallRow>> SqliteStore::ReadUnansweredCalls(
    const std::string& run_id) {
  return Reading(
      [&](Database& database) { return proposal_rows::ReadUnansweredCalls(database, run_id); });
}

absl::StatusOr<std::vector<QueuedJob>> SqliteStore::ReadUnfinishedJobs() {
  return Reading([&](Database& database) { return job_rows::ReadUnfinished(database); });
}

absl::StatusOr<std::optional<v1::JobResult>> SqliteStore::ReadResult(const std::string& job_id) {
  return Reading([&](Database& database) { return job_rows::ReadResult(database, job_id); });
}

absl::StatusOr<v1::JobSpec> SqliteStore::ReadJob(const std::string& job_id) {
  return Reading([&](Database& database) { return job_rows::Read(database, job_id); });
}

absl::StatusOr<std::vector<ResultRow>> SqliteStore::ListResults(const std::string& task_name,
                                                                int64_t before, int limit) {
  return Reading([&](Database& database) {
    return job_rows::ListResults(database, task_name, before, limit);
  });
}

absl::StatusOr<std::vector<v1::JobResult>> SqliteStore::ReadResultsOf(
    const std::string& run_id, const std::string& candidate_id) {
  return Reading(
      [&](Database& database) { return job_rows::ReadResultsOf(database, run_id, candidate_id); });
}

absl::StatusOr<std::string> SqliteStore::ReadBlob(const std::string& sha256) {
  return Reading([&](Database& database) { return job_rows::ReadBlob(database, sha256); });
}

absl::StatusOr<std::map<std::string, std::string>> SqliteStore::ReadWorkerOwners() {
  return Reading([&](Database& database) { return job_rows::ReadWorkerOwners(database); });
}

absl::StatusOr<std::vector<TaskFaultRow>> SqliteStore::ReadTaskFaults() {
  return Reading([&](Database& database) { return task_fault_rows::Read(database); });
}

absl::StatusOr<std::vector<v1::MeasuredGain>> SqliteStore::ReadGains(const GainFilter& filter,
                                                                     int limit) {
  return Reading([&](Database& database) { return memory_rows::Read(database, filter, limit); });
}

absl::StatusOr<std::vector<v1::WorkerStatus>> SqliteStore::ListWorkers() {
  return Reading([&](Database& database) { return job_rows::ListWorkers(database); });
}

// ---------------------------------------------------------------- writing

absl::StatusOr<std::string> SqliteStore::CreateRun(const RunRow& run) {
  absl::StatusOr<std::string> run_id = absl::UnknownError("not written");
  const absl::Time now = clock_.Now();
  const absl::Status committed = writer_.Run([&](Database& database) {
    run_id = run_rows::Insert(database, run, now);
    return run_id.status();
  });
  if (!committed.ok()) return committed;
  return run_id;
}

absl::Status SqliteStore::CommitStep(const StepCommit& step) {
  const absl::Time now = clock_.Now();
  std::vector<std::string> arrived;
  std::vector<v1::FeedEntry> entries;
  std::optional<PiecedState> pieced;
  std::optional<world_model_rows::Parts> tree;
  return writer_.Run(
      [&](Database& database) {
        arrived.clear();
        // Not cached until the commit: after a failure the next step reads what is stored.
        pieced = Take(step.run_id, &pieced_);
        ASSIGN_OR_RETURN(const int64_t last_seq, run_rows::Advance(database, step, now, &pieced));
        ASSIGN_OR_RETURN(entries, event_rows::Insert(database, step, last_seq, now));
        if (step.world_model != nullptr) {
          tree = Take(step.run_id, &trees_);
          RETURN_IF_ERROR(
              world_model_rows::Insert(database, step.run_id, *step.world_model, &tree));
        }
        if (step.caps.has_value()) {
          RETURN_IF_ERROR(ledger_rows::SetCaps(database, step.run_id, *step.caps));
        }
        for (const std::string& call_id : step.lost_calls) {
          RETURN_IF_ERROR(proposal_rows::LoseCall(database, step.run_id, call_id));
        }
        for (const LlmCallRow& call : step.calls) {
          ASSIGN_OR_RETURN(const LlmCallRow row, OfRun(call, step.run_id));
          RETURN_IF_ERROR(proposal_rows::InsertCall(database, row, now));
        }
        for (const CandidateRow& candidate : step.candidates) {
          ASSIGN_OR_RETURN(const CandidateRow row, OfRun(candidate, step.run_id));
          RETURN_IF_ERROR(proposal_rows::InsertCandidate(database, row, now));
        }
        for (const JobRequestRow& job : step.jobs) {
          ASSIGN_OR_RETURN(const bool done, job_rows::Request(database, step.run_id, job, now));
          if (done) arrived.push_back(step.run_id);
        }
        for (const v1::MeasuredGain& gain : step.gains) {
          RETURN_IF_ERROR(memory_rows::Insert(database, gain, now));
        }
        for (const std::string& candidate_id : step.refused_gains) {
          RETURN_IF_ERROR(memory_rows::Refuse(database, step.run_id, candidate_id));
        }
        return absl::OkStatus();
      },
      [&] {
        const bool goes_on = !HasEnded(step.status.state());
        if (pieced.has_value() && goes_on) pieced_[step.run_id] = *std::move(pieced);
        if (tree.has_value() && goes_on) trees_[step.run_id] = *std::move(tree);
        if (!goes_on) trees_.erase(step.run_id);
        Notify(arrived);
        if (event_listener_ && !entries.empty()) event_listener_(entries);
      });
}

absl::StatusOr<int64_t> SqliteStore::ForgetGains(const GainFilter& filter) {
  absl::StatusOr<int64_t> forgotten = absl::UnknownError("not written");
  const absl::Status committed = writer_.Run([&](Database& database) {
    forgotten = memory_rows::Forget(database, filter);
    return forgotten.status();
  });
  if (!committed.ok()) return committed;
  return forgotten;
}

void SqliteStore::RecordSend(const std::string& call_id,
                             absl::AnyInvocable<void(absl::Status)> done) {
  const absl::Time now = clock_.Now();
  writer_.Post(
      [call_id, now](Database& database) {
        return proposal_rows::RecordSend(database, call_id, now);
      },
      std::move(done));
}

void SqliteStore::RecordReply(const LlmCallRow& call, absl::AnyInvocable<void(absl::Status)> done) {
  auto arrived = std::make_shared<std::string>();  // shared by the operation and its completion
  const absl::Time now = clock_.Now();
  writer_.Post(
      [call, now, arrived](Database& database) {
        return proposal_rows::RecordReply(database, call, now, arrived.get());
      },
      [this, arrived, done = std::move(done)](absl::Status status) mutable {
        if (status.ok() && !arrived->empty()) Notify({*arrived});
        done(std::move(status));
      });
}

void SqliteStore::SaveProviderState(const std::string& call_id, const std::string& state,
                                    absl::AnyInvocable<void(absl::Status)> done) {
  writer_.Post(
      [call_id, state](Database& database) {
        return proposal_rows::SaveProviderState(database, call_id, state);
      },
      std::move(done));
}

absl::Status SqliteStore::AddJob(const std::string& job_id, const v1::JobSpec& spec) {
  const absl::Time now = clock_.Now();
  return writer_.Run(
      [&](Database& database) { return job_rows::Insert(database, job_id, spec, now); });
}

void SqliteStore::RecordResult(
    const v1::JobResult& result, const std::string& lease_id,
    absl::AnyInvocable<void(absl::StatusOr<v1::RecordResultReply::Disposition>)> done) {
  struct Recorded {
    v1::RecordResultReply::Disposition disposition = v1::RecordResultReply::DISPOSITION_UNSPECIFIED;
    std::vector<std::string> runs;
  };
  auto recorded = std::make_shared<Recorded>();  // shared by the operation and its completion
  const absl::Time now = clock_.Now();
  writer_.Post(
      [result, lease_id, now, recorded](Database& database) -> absl::Status {
        ASSIGN_OR_RETURN(recorded->disposition,
                         job_rows::RecordResult(database, result, lease_id, now, &recorded->runs));
        return absl::OkStatus();
      },
      [this, recorded, done = std::move(done)](absl::Status status) mutable {
        if (!status.ok()) return done(std::move(status));
        Notify(recorded->runs);
        done(recorded->disposition);
      });
}

void SqliteStore::RecordAttempt(const AttemptRow& attempt,
                                absl::AnyInvocable<void(absl::Status)> done) {
  const absl::Time now = clock_.Now();
  writer_.Post([attempt, now](
                   Database& database) { return job_rows::RecordAttempt(database, attempt, now); },
               std::move(done));
}

absl::Status SqliteStore::PutBlob(const std::string& sha256, const std::string& bytes) {
  return writer_.Run([&](Database& database) {
    put_blobs_.insert(sha256);
    return job_rows::PutBlob(database, sha256, bytes);
  });
}

absl::Status SqliteStore::UpsertWorker(const v1::WorkerHello& hello, const std::string& owner,
                                       absl::Time seen) {
  return writer_.Run(
      [&](Database& database) { return job_rows::UpsertWorker(database, hello, owner, seen); });
}

absl::StatusOr<bool> SqliteStore::RemoveRun(const std::string& run_id, int64_t last_event_seq) {
  absl::StatusOr<bool> removed = absl::UnknownError("not written");
  const absl::Status committed = writer_.Run([&](Database& database) {
    removed = RemoveEndedRun(database, run_id, last_event_seq);
    return removed.status();
  });
  if (!committed.ok()) return committed;
  return removed;
}

absl::Status SqliteStore::RemoveBlobs(const std::vector<std::string>& names) {
  return writer_.Run([&](Database& database) -> absl::Status {
    for (const std::string& name : names) {
      if (put_blobs_.contains(name)) continue;
      RETURN_IF_ERROR(database.Prepare("DELETE FROM blobs WHERE sha256 = ?").Text(name).Run());
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<int64_t> SqliteStore::ReadReusableBytes() {
  return Reading([](Database& database) -> absl::StatusOr<int64_t> {
    ASSIGN_OR_RETURN(const int64_t pages, ReadNumber(database, "PRAGMA freelist_count"));
    ASSIGN_OR_RETURN(const int64_t bytes, ReadNumber(database, "PRAGMA page_size"));
    return pages * bytes;
  });
}

absl::Status SqliteStore::Backup(const std::string& path) {
  return Reading([&](Database& database) { return CopyWhole(database, path); });
}

}  // namespace ksearch
