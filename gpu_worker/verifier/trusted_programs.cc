#include "gpu_worker/verifier/trusted_programs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/checker.h"
#include "gpu_worker/verifier/dialogue/trusted_ending.h"

namespace ksearch {

absl::Status TryTrustedProgram(Bench& bench, const ProgramImage& program, absl::string_view what,
                               bool is_tasks_own,
                               const std::vector<std::shared_ptr<const WorkloadCase>>& cases,
                               const std::vector<OracleEntries>& oracles, absl::Time deadline) {
  const Clock& clock = bench.clock();
  const WorkloadSession::Limits limits = {kTrustedCallTime, absl::InfiniteFuture()};
  std::unique_ptr<RunnerLink> link;
  for (size_t i = 0; i < cases.size(); ++i) {
    RETURN_IF_ERROR(CheckTrustedTime(clock, deadline));
    if (i == 0) {
      ASSIGN_OR_RETURN(link, bench.starter().Start(program, RunnerStarter::TrustedLimits()));
      const absl::Duration load_time = std::max(kTrustedCallTime, program.load_time());
      const Ending loaded = link->Load(program, clock.SteadyNow() + load_time);
      if (!loaded.passed()) {
        return TaskFaultOf(loaded, absl::StrCat(what, " fails: ", loaded.message));
      }
    }
    Ending ending;
    RETURN_IF_ERROR(
        CheckWorkload(bench, *link, cases[i], oracles[i], {}, limits, &ending).status());
    if (!ending.passed()) {
      return TaskFaultOf(ending, absl::StrCat(what, " fails on workload ", cases[i]->uuid(), ": ",
                                              is_tasks_own ? OwnWords(ending) : ending.message));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTrustedTime(const Clock& clock, absl::Time deadline) {
  if (clock.SteadyNow() < deadline) return absl::OkStatus();
  return TaskFault(
      absl::StrCat("the task's own programs take longer than ", absl::FormatDuration(kTrustedTime),
                   " on the job's workloads; give smaller workloads or a faster reference"));
}

}  // namespace ksearch
