#ifndef KSEARCH_COMMON_TASK_EVIDENCE_H_
#define KSEARCH_COMMON_TASK_EVIDENCE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

// The evidence that a result gives about the programs of its job's task.
enum class TaskEvidence {
  kNone,
  kWorks,   // the reference has answered on every workload of the job
  kFaulty,  // JobResult.message says how
};
TaskEvidence EvidenceOf(const v1::JobSpec& spec, const v1::JobResult& result);

// The subject of such evidence: the task by its content, the language of the candidate, and the
// platform, because another compiler or device may not accept what this one does.
std::string EvidenceKey(const v1::JobSpec& spec);

// Returns FAILED_PRECONDITION for callers that need the task: its own programs are at fault. `why`
// says what is wrong with them.
absl::Status TaskAtFaultError(absl::string_view why);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_TASK_EVIDENCE_H_
