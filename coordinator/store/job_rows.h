#ifndef KSEARCH_COORDINATOR_STORE_JOB_ROWS_H_
#define KSEARCH_COORDINATOR_STORE_JOB_ROWS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/store/database.h"
#include "coordinator/store/store.h"

// Rows of jobs, their requests, attempts and results, and of the workers and blobs that jobs need.
// Every function works inside the caller's transaction; contracts as in store.h.
namespace ksearch::job_rows {

absl::Status Insert(Database& database, const std::string& job_id, const v1::JobSpec& spec,
                    absl::Time now);
// Adds the job if it is new, and the request. Returns true if the job already has a result, which
// has then become an arrival. FAILED_PRECONDITION: the run used the tag for another job.
absl::StatusOr<bool> Request(Database& database, const std::string& run_id,
                             const JobRequestRow& request, absl::Time now);
absl::StatusOr<v1::JobSpec> Read(Database& database, const std::string& job_id);
absl::StatusOr<std::vector<QueuedJob>> ReadUnfinished(Database& database);

// Sets `runs` to the run of each new arrival, in order; a run that requested the job twice is
// listed twice.
absl::StatusOr<v1::RecordResultReply::Disposition> RecordResult(Database& database,
                                                                const v1::JobResult& result,
                                                                const std::string& lease_id,
                                                                absl::Time now,
                                                                std::vector<std::string>* runs);
absl::Status RecordAttempt(Database& database, const AttemptRow& attempt, absl::Time now);
absl::StatusOr<std::optional<v1::JobResult>> ReadResult(Database& database,
                                                        const std::string& job_id);
absl::StatusOr<std::vector<ResultRow>> ListResults(Database& database, const std::string& task_name,
                                                   int64_t before, int limit);
absl::StatusOr<std::vector<v1::JobResult>> ReadResultsOf(Database& database,
                                                         const std::string& run_id,
                                                         const std::string& candidate_id);

absl::Status PutBlob(Database& database, const std::string& sha256, const std::string& bytes);
absl::StatusOr<std::string> ReadBlob(Database& database, const std::string& sha256);
absl::Status UpsertWorker(Database& database, const v1::WorkerHello& hello,
                          const std::string& owner, absl::Time seen);
absl::StatusOr<std::map<std::string, std::string>> ReadWorkerOwners(Database& database);
absl::StatusOr<std::vector<v1::WorkerStatus>> ListWorkers(Database& database);

}  // namespace ksearch::job_rows

#endif  // KSEARCH_COORDINATOR_STORE_JOB_ROWS_H_
