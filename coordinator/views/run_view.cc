#include "coordinator/views/run_view.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/platform.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "coordinator/engine/ledger_status.h"

namespace ksearch {
namespace {

// RunStatus.platform_missing.
std::string MissingPlatform(const FleetFacts& fleet, const v1::RunStatus& run) {
  if (HasEnded(run.state()) || run.platform().ByteSizeLong() == 0) return "";
  v1::JobSpec spec;
  spec.set_kind(v1::JOB_KIND_SCREEN);
  spec.mutable_candidate()->set_language(run.language());
  *spec.mutable_platform() = run.platform();
  if (!fleet.PlatformsFor(spec).empty()) return "";
  std::vector<std::string> others;
  spec.clear_platform();
  for (const v1::Platform& other : fleet.PlatformsFor(spec)) others.push_back(PlatformText(other));
  if (others.empty()) return "no connected worker has it";
  return absl::StrCat("no connected worker has it; there is ", absl::StrJoin(others, " and "));
}

}  // namespace

absl::StatusOr<v1::RunStatus> ViewRun(Store& store, const FleetFacts& fleet,
                                      const std::string& prefix) {
  ASSIGN_OR_RETURN(const std::string run_id, store.ResolveRun(prefix));
  ASSIGN_OR_RETURN(v1::RunStatus status, store.ReadRunStatus(run_id));
  ASSIGN_OR_RETURN(const std::vector<LedgerRow> ledger, store.ReadLedger(run_id));
  FillLedger(ledger, status.mutable_ledger());
  status.set_platform_missing(MissingPlatform(fleet, status));
  return status;
}

absl::StatusOr<v1::BestReply> ViewBest(Store& store, const std::string& prefix) {
  ASSIGN_OR_RETURN(const std::string run_id, store.ResolveRun(prefix));
  ASSIGN_OR_RETURN(const v1::RunStatus status, store.ReadRunStatus(run_id));
  if (!status.has_best()) {
    return absl::NotFoundError(absl::StrCat("run ", run_id, " has no confirmed candidate yet"));
  }
  v1::BestReply reply;
  reply.set_run_id(run_id);
  reply.set_task(status.task());
  reply.set_degenerate(status.degenerate());
  *reply.mutable_best() = status.best();
  const std::string& candidate_id = status.best().candidate_id();
  ASSIGN_OR_RETURN(CandidateRow candidate, store.ReadCandidate(run_id, candidate_id));
  *reply.mutable_sources() = std::move(candidate.sources);
  ASSIGN_OR_RETURN(const auto results, store.ReadResultsOf(run_id, candidate_id));
  for (const v1::JobResult& result : results) {
    if (result.comparisons_size() > 0) *reply.mutable_confirmation() = result;
  }
  return reply;
}

}  // namespace ksearch
