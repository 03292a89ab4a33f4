#include "common/task_evidence.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/canonical_encoding.h"
#include "common/job_kind.h"
#include "common/task_fault.h"

namespace ksearch {
namespace {

bool BringsRival(const v1::JobSpec& spec) {
  return std::any_of(spec.rivals().begin(), spec.rivals().end(),
                     [](const v1::Rival& rival) { return rival.has_sources(); });
}

}  // namespace

TaskEvidence EvidenceOf(const v1::JobSpec& spec, const v1::JobResult& result) {
  switch (result.outcome()) {
    case v1::OUTCOME_TASK_ERROR:
      if (result.at_fault() == kTaskAtFault) return TaskEvidence::kFaulty;
      // A worker that does not set at_fault may report a rival's fault as the task's.
      return result.at_fault().empty() && !BringsRival(spec) ? TaskEvidence::kFaulty
                                                             : TaskEvidence::kNone;
    case v1::OUTCOME_UNSPECIFIED:
    case v1::OUTCOME_INVALID_SOURCE:
    case v1::OUTCOME_COMPILE_ERROR:
    case v1::OUTCOME_COMPILE_TIMEOUT:
    case v1::OUTCOME_COMPILE_LIMIT:
    case v1::OUTCOME_WORKER_LOST:
    case v1::OUTCOME_CANCELLED:
      return TaskEvidence::kNone;
    default:
      // Jobs of these kinds run no reference.
      return TakesNoDevice(spec.kind()) || spec.kind() == v1::JOB_KIND_PROFILE
                 ? TaskEvidence::kNone
                 : TaskEvidence::kWorks;
  }
}

std::string EvidenceKey(const v1::JobSpec& spec) {
  return absl::StrCat(
      spec.task_sha256(), "/", static_cast<int>(spec.candidate().language()), "/",
      spec.has_platform() ? CanonicalName("platform", spec.platform()) : std::string());
}

absl::Status TaskAtFaultError(absl::string_view why) {
  return absl::FailedPreconditionError(absl::StrCat("the task's own programs are at fault: ", why));
}

}  // namespace ksearch
