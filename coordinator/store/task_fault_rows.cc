#include "coordinator/store/task_fault_rows.h"

#include <string>

#include "common/status_macros.h"
#include "common/task_evidence.h"
#include "coordinator/store/job_rows.h"

namespace ksearch::task_fault_rows {

absl::Status Note(Database& database, const v1::JobResult& result) {
  if (result.worker_id().empty()) return absl::OkStatus();
  if (result.outcome() != v1::OUTCOME_TASK_ERROR) {
    // There is nearly always nothing to forget: this avoids reading the job.
    ASSIGN_OR_RETURN(const bool any, database.Prepare("SELECT 1 FROM task_faults LIMIT 1").Next());
    if (!any) return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const v1::JobSpec spec, job_rows::Read(database, result.job_id()));
  switch (EvidenceOf(spec, result)) {
    case TaskEvidence::kNone:
      return absl::OkStatus();
    case TaskEvidence::kFaulty:
      return database
          .Prepare("INSERT OR REPLACE INTO task_faults (evidence_key, job_id) VALUES (?, ?)")
          .Text(EvidenceKey(spec))
          .Text(result.job_id())
          .Run();
    case TaskEvidence::kWorks:
      return database.Prepare("DELETE FROM task_faults WHERE evidence_key = ?")
          .Text(EvidenceKey(spec))
          .Run();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TaskFaultRow>> Read(Database& database) {
  Statement select = database.Prepare(
      "SELECT spec, body FROM task_faults JOIN jobs USING (job_id) JOIN results USING (job_id) "
      "ORDER BY results.number");
  std::vector<TaskFaultRow> faults;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return faults;
    TaskFaultRow& fault = faults.emplace_back();
    RETURN_IF_ERROR(select.ProtoAt(0, &fault.spec));
    RETURN_IF_ERROR(select.ProtoAt(1, &fault.result));
  }
}

}  // namespace ksearch::task_fault_rows
