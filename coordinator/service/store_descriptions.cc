#include "coordinator/service/store_descriptions.h"

#include <string>

#include "common/status_macros.h"
#include "coordinator/engine/job_specs.h"

namespace ksearch {

absl::StatusOr<std::optional<v1::JobResult>> StoreDescriptions::Find(
    const ProblemProgram& program) const {
  v1::JobSpec spec = MakeDescribeJob(program).spec;
  // Skips jobs that were lost with their workers.
  ASSIGN_OR_RETURN(const std::string job_id, IdOfJobToTry(*store_, &spec));
  return store_->ReadResult(job_id);
}

}  // namespace ksearch
