#include "gpu_worker/verifier/timing/workload_timing.h"

#include <utility>

#include "common/status_macros.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/device/device_sampler.h"
#include "gpu_worker/verifier/timing/device/roofline.h"

namespace ksearch {
namespace {

absl::StatusOr<WorkloadTiming> TimeOnHost(Bench& bench, WorkloadSession& session,
                                          CallDealer& dealer, const OracleEntries& oracles,
                                          const v1::MeasurePlan& plan,
                                          const WorkloadSession::Limits& limits,
                                          const TimingRole& role) {
  ASSIGN_OR_RETURN(Sampling sampling, Sample(session, dealer, oracles, plan,
                                             role.trusted ? nullptr : &bench.metronome(),
                                             role.late_comparisons, limits, bench.clock()));
  WorkloadTiming timing;
  timing.ending = std::move(sampling.ending);
  *timing.facts.mutable_candidate() = std::move(sampling.samples);
  timing.facts.set_audit_ratio(sampling.audit_ratio);
  timing.facts.set_timing("clock");
  timing.facts.set_floor_us(role.floor_us);
  const double call_us = timing.facts.candidate().median_us();
  if (timing.ending.passed() && !role.trusted && bench.IsImpossible(call_us, role.floor_us)) {
    timing.ending = {v1::OUTCOME_CHEAT, FasterThanFloorText(call_us, role.floor_us)};
  }
  return timing;
}

}  // namespace

absl::StatusOr<WorkloadTiming> TimeWorkload(Bench& bench, WorkloadSession& session,
                                            CallDealer& dealer, const OracleEntries& oracles,
                                            const v1::MeasurePlan& plan,
                                            const WorkloadSession::Limits& limits,
                                            const TimingRole& role) {
  const GpuTiming* const gpu = bench.gpu();
  if (gpu == nullptr) return TimeOnHost(bench, session, dealer, oracles, plan, limits, role);
  SessionCalls calls(session, oracles, limits, role.late_comparisons);
  ClockWatch watch(gpu->clocks.get(), bench.clock(), gpu->pause);
  DeviceSampler::Options options;
  options.plan = plan;
  options.warm_up = role.first_workload ? kWarmUpTime : kRewarmTime;
  options.trusted = role.trusted;
  options.late_inputs = role.late_comparisons > 0;
  options.allow_graphs = role.allow_graphs;
  options.coarse = role.coarse;
  options.slow_us = role.slow_us;
  options.floor_us = role.floor_us;
  options.alone = role.alone;
  DeviceSampler sampler(
      calls, dealer, watch, [&bench] { return bench.IdlePace(); }, bench.clock(), options);
  ASSIGN_OR_RETURN(DeviceSampler::Sampled sampled, sampler.Sample());
  WorkloadTiming timing;
  timing.ending = std::move(sampled.ending);
  timing.slow = sampled.slow;
  timing.spoiled = sampled.spoiled;
  *timing.facts.mutable_candidate() = std::move(sampled.samples);
  timing.facts.set_audit_ratio(sampled.audit_ratio);
  timing.facts.set_timing(sampled.timing);
  timing.facts.set_host_bound(sampled.host_bound);
  timing.facts.set_host_us(sampled.host_us);
  timing.facts.set_floor_us(role.floor_us);
  timing.facts.set_sm_clock_mhz(sampled.sm_clock_mhz);
  timing.facts.set_throttle_reasons(sampled.throttle_reasons);
  timing.facts.set_stopped_early(role.coarse);
  return timing;
}

}  // namespace ksearch
