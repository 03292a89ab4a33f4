#include "gpu_worker/verifier/stages/baseline_timing.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/dialogue/trusted_ending.h"
#include "gpu_worker/verifier/timing/workload_timing.h"
#include "gpu_worker/verifier/trusted_programs.h"

namespace ksearch {
namespace {

std::string BaselineKey(const ProgramImage& baseline, const WorkloadCase& workload) {
  return absl::StrCat(baseline.sha256(), "/", workload.key());
}

}  // namespace

bool HasBaselineTimings(const JudgedJob& job) {
  const absl::Time now = job.bench.clock().SteadyNow();
  return std::all_of(job.cases.begin(), job.cases.end(), [&](const auto& each) {
    return job.bench.baselines().Find(BaselineKey(*job.baseline, *each), now).has_value();
  });
}

absl::Status TimeBaseline(JudgedJob* job) {
  if (!job->baseline.has_value()) return absl::OkStatus();
  const Clock& clock = job->bench.clock();
  const WorkloadSession::Limits limits = {kTrustedCallTime, absl::InfiniteFuture()};
  std::unique_ptr<RunnerLink> link;
  bool first = true, allow_graphs = true;
  for (size_t i = 0; i < job->cases.size(); ++i) {
    const std::shared_ptr<const WorkloadCase>& workload = job->cases[i];
    const std::string key = BaselineKey(*job->baseline, *workload);
    std::optional<BaselineCache::Timing> timing =
        job->bench.baselines().Find(key, clock.SteadyNow());
    if (!timing.has_value()) {
      RETURN_IF_ERROR(CheckTrustedTime(clock, job->trusted_deadline));
      Report(job->progress, "baseline", i, job->cases.size());
      const auto broken = [&](const Ending& ending) {
        return TaskFaultOf(ending, absl::StrCat("the baseline fails on workload ", workload->uuid(),
                                                ": ", OwnWords(ending)));
      };
      if (link == nullptr) {
        ASSIGN_OR_RETURN(
            link, job->bench.starter().Start(*job->baseline, RunnerStarter::TrustedLimits()));
        if (Ending loaded =
                link->Load(*job->baseline, clock.SteadyNow() + job->baseline->load_time());
            !loaded.passed()) {
          return broken(loaded);
        }
      }
      TimingRole role;
      role.trusted = true;
      role.first_workload = first;
      role.allow_graphs = allow_graphs;
      first = false;
      const int sets = job->bench.Sets(*workload, 2);
      ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> buffers,
                       job->bench.Buffers(workload, sets, "baseline"));
      WorkloadSession session(*link, workload, std::move(buffers), clock, RandomUint64());
      if (Ending mapped = session.Map(sets, limits); !mapped.passed()) return broken(mapped);
      CallDealer dealer(sets, TimedVariants(job->oracles[i]), Rng(RandomUint64()));
      ASSIGN_OR_RETURN(
          WorkloadTiming timed,
          TimeWorkload(job->bench, session, dealer, job->oracles[i], job->plan, limits, role));
      if (timed.spoiled) {
        allow_graphs = false;
        first = true;
        link.reset();
        --i;
        continue;
      }
      if (!timed.ending.passed()) return broken(timed.ending);
      timing = BaselineCache::Timing{timed.facts.candidate(), clock.SteadyNow()};
      job->bench.baselines().Store(key, *timing);
    }
    job->baselines.push_back(*std::move(timing));
  }
  return absl::OkStatus();
}

void ReportBaselines(JudgedJob* job) {
  const absl::Time now = job->bench.clock().SteadyNow();
  for (size_t i = 0; i < job->cases.size(); ++i) {
    v1::WorkloadResult* result = job->verdict.add_workloads();
    result->set_workload_uuid(job->cases[i]->uuid());
    result->set_outcome(v1::OUTCOME_PASSED);
    *result->mutable_baseline() = job->baselines[i].samples;
    *result->mutable_baseline_age() = ToProto(now - job->baselines[i].measured_at);
    result->set_floor_us(Floor(*job, i));
  }
}

}  // namespace ksearch
