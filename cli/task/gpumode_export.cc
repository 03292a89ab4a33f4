#include "cli/task/gpumode_export.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "cli/evaluation.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/suites/gpumode/gpumode_submission.h"

namespace ksearch {

absl::Status ExportGpuMode(Client* client, const v1::BestReply& best, const std::string& path,
                           bool force) {
  if (!force && ::access(path.c_str(), F_OK) == 0) {
    return absl::AlreadyExistsError(
        absl::StrCat(path, " exists; choose another file, or give --force"));
  }
  const size_t slash = best.task().find('/');
  if (slash == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("the run's task '", best.task(), "' is not a problem of a suite of GPU MODE"));
  }
  v1::EvaluateRequest request;
  request.set_task(best.task());
  request.set_kind(v1::JOB_KIND_DESCRIBE);
  const std::string what = absl::StrCat("'", best.task(), "' as a submission of GPU MODE");
  const absl::StatusOr<v1::JobResult> evaluated = Evaluate(client, request, "");
  if (!evaluated.ok()) return Annotate(evaluated.status(), what);
  const v1::JobResult& described = *evaluated;
  if (described.outcome() != v1::OUTCOME_PASSED) {
    return absl::InvalidArgumentError(
        absl::StrCat("describing ", best.task(), " failed: ", described.message()));
  }
  const absl::StatusOr<std::string> text =
      GpuModeSubmission(best.task().substr(slash + 1), described.description(), best.sources());
  if (!text.ok()) return Annotate(text.status(), what);
  return WriteFileAtomically(path, *text);
}

}  // namespace ksearch
