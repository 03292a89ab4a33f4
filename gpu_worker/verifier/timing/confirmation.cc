#include "gpu_worker/verifier/timing/confirmation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/digest.h"
#include "common/guard_factor.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/dialogue/trusted_ending.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/device/roofline.h"
#include "gpu_worker/verifier/timing/sampler.h"

namespace ksearch {
namespace {

// A confirmation with at least this many complete launches is judged even if a busy machine leaves
// no time for the rest. The scatter of fewer launches is unknown.
constexpr int kLeastLaunchesToJudge = 2;

bool HasBlocks(const std::vector<LaunchBlocks>& workloads) {
  return std::all_of(workloads.begin(), workloads.end(), [](const LaunchBlocks& launches) {
    return !launches.empty() && !launches.front().empty();
  });
}

// Empty if no case is ranked: then all of them count.
GuardFactors GuardsOf(const std::vector<ConfirmationCase>& cases, const v1::Objective& objective) {
  GuardFactors guards;
  for (const ConfirmationCase& one : cases) {
    guards.push_back(GuardFactorOf(objective, one.workload->held_out()));
  }
  const bool ranks = std::any_of(guards.begin(), guards.end(),
                                 [](const auto& guard) { return !guard.has_value(); });
  return ranks ? guards : GuardFactors();
}

// Over the workloads that are not held out, or over all; absent if there are none.
std::optional<v1::Comparison::Mean> MeanOver(const std::vector<LaunchBlocks>& measured,
                                             const std::vector<ConfirmationCase>& cases,
                                             bool official, double confidence,
                                             StartOrder start_order) {
  std::vector<LaunchBlocks> taken;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!official || !cases[i].workload->held_out()) taken.push_back(measured[i]);
  }
  if (taken.empty()) return std::nullopt;
  const LogRatio combined = EstimateSpeedup(taken, confidence, {}, start_order).combined;
  v1::Comparison::Mean mean;
  mean.set_log_speedup(combined.mean);
  mean.set_ci_low(combined.interval.low);
  mean.set_ci_high(combined.interval.high);
  mean.set_workloads(static_cast<int>(taken.size()));
  return mean;
}

// Returns true if the last launch ended before it had run all workloads.
bool HasPartLaunch(const std::vector<LaunchBlocks>& workloads) {
  return std::any_of(workloads.begin(), workloads.end(), [&](const LaunchBlocks& one) {
    return one.size() != workloads.front().size();
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<ConfirmationSide>> Confirmation::StartSide(
    const ProgramImage& program, bool is_candidate) {
  auto side = std::make_unique<ConfirmationSide>();
  side->is_candidate = is_candidate;
  ASSIGN_OR_RETURN(side->link, bench_.starter().Start(
                                   program, is_candidate ? candidate_limits_ : rival_limits_));
  return side;
}

absl::StatusOr<Ending> Confirmation::LoadSide(ConfirmationSide* side, const ProgramImage& program) {
  const absl::Time latest = bench_.clock().SteadyNow() + program.load_time();
  // A rival that the job's deadline cuts off would look as if it had failed.
  return side->link->Load(program,
                          side->is_candidate ? std::min(limits_.deadline, latest) : latest);
}

absl::StatusOr<Ending> Confirmation::Open(ConfirmationSide* side, const ConfirmationCase& one,
                                          int turn, bool late_inputs,
                                          const ConfirmationCase::Hidden* hidden) {
  const int sets = timer_->Sets(*one.workload);
  // Both sides exchange their buffers every turn: physical addresses alone make a difference of
  // some percent.
  const int buffers_of_side =
      timer_->SharesMemory() ? 0 : (turn + (side->is_candidate ? 1 : 0)) % 2;
  ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> buffers,
                   bench_.Buffers(one.workload, sets, absl::StrCat("side", buffers_of_side)));
  side->session = std::make_unique<WorkloadSession>(*side->link, one.workload, std::move(buffers),
                                                    bench_.clock(), RandomUint64());
  std::vector<int64_t> oracled;
  for (const auto& [variant, entry] : one.oracles) {
    if (variant >= kGateVariants && variant < kFirstFreshVariant) oracled.push_back(variant);
  }
  Rng rng(RandomUint64());
  const int compared = LateComparisons(one.oracles, plan_.launches(), &rng);
  // The calls of a rival decide about its task.
  side->session->CompareLater(side->is_candidate ? compared : 0);
  // One more, if its time allows any. The rival makes these calls too, and nobody checks them: what
  // only one side does makes that side faster.
  side->wants_late_inputs = late_inputs && compared > 0;
  side->hidden = hidden;
  side->dealer = std::make_unique<CallDealer>(sets, std::move(oracled), rng);
  side->audit = ClockAudit();
  // Both sides are called with the same variants.
  if (timer_->SharesMemory()) side->session->WipeOutputs();
  Ending ending = side->session->Map(sets, limits_);
  if (!ending.passed()) return ending;
  return timer_->OpenSide(side, one);
}

absl::StatusOr<Ending> Confirmation::RunAlone(const ProgramImage& program,
                                              const ConfirmationCase& one) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ConfirmationSide> side, StartSide(program, false));
  ASSIGN_OR_RETURN(Ending ending, LoadSide(side.get(), program));
  if (!ending.passed()) return ending;
  ASSIGN_OR_RETURN(ending, Open(side.get(), one, 0, /*late_inputs=*/false, /*hidden=*/nullptr));
  return ending.passed() ? timer_->RunAlone(side.get(), one) : ending;
}

absl::Status Confirmation::TakeFailure(bool of_candidate, Ending ending, const ProgramImage& rival,
                                       const std::vector<ConfirmationCase>& cases, size_t i,
                                       ConfirmationResult* result) {
  result->failed_case = i;
  if (!of_candidate && bench_.clock().SteadyNow() >= limits_.deadline) {
    // A second attempt would not end any sooner.
    ending = {v1::OUTCOME_TIMEOUT, "the whole job took longer than limits.total_time"};
    of_candidate = true;
  }
  if (ending.machine_failed) return MachineFailure(ending);
  if (of_candidate) {
    result->ending = std::move(ending);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const Ending alone, RunAlone(rival, cases[i]));
  if (!alone.passed()) {
    return TaskFaultOf(alone, absl::StrCat("rival '", rival.id(), "' fails: ", alone.message));
  }
  // Once may be an accident.
  if (++interferences_ <= 1) return absl::OkStatus();
  if (timer_->SharesMemory() && !ending.killed) {
    // The candidate has left something at work in the memory of both.
    result->ending = {v1::OUTCOME_CHEAT,
                      absl::StrCat("interferes with other programs: only beside it, rival '",
                                   rival.id(), "' fails: ", ending.message)};
    return absl::OkStatus();
  }
  // The cause is unknown: this blames neither the candidate nor the task.
  result->ending = {
      v1::OUTCOME_TASK_ERROR,
      absl::StrCat("rival '", rival.id(),
                   "' fails beside the candidate, though not alone: ", ending.message)};
  return absl::OkStatus();
}

bool Confirmation::IsOutOfTime(const Ending& ending) const {
  return ending.outcome == v1::OUTCOME_TIMEOUT && bench_.clock().SteadyNow() >= limits_.deadline;
}

absl::Status Confirmation::RunLaunch(int launch, std::optional<double> confidence,
                                     const ProgramImage& candidate, const ProgramImage& rival,
                                     const std::vector<ConfirmationCase>& cases, Measured* measured,
                                     ConfirmationResult* result) {
  const std::vector<size_t> order = DecidingFirst(measured->by_verifier);
  const auto decides = [&](const CaseBlocks& blocks) {
    return confidence.has_value() &&
           DecidesAlone(measured->by_verifier, blocks.index, LogRatios(blocks), *confidence,
                        plan_.min_effect(), kWorstRegression, GuardsOf(cases, objective_));
  };
  while (true) {
    ASSIGN_OR_RETURN(Launch tried, TryLaunch(launch, candidate, rival, cases, order, decides));
    if (tried.start_again) continue;
    if (tried.ending.passed() && tried.disturbance.empty()) {
      Keep(std::move(tried), measured, result);
      return absl::OkStatus();
    }
    if (tried.ending.passed()) {
      if (++disturbed_launches_ < kMaxDisturbedLaunches) continue;
      result->ending = {v1::OUTCOME_CHEAT, std::move(tried.disturbance)};
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(TakeFailure(tried.ended_by_candidate, std::move(tried.ending), rival, cases,
                                tried.failed_case, result));
    if (!result->ending.passed()) return absl::OkStatus();
  }
}

absl::StatusOr<Confirmation::Launch> Confirmation::TryLaunch(
    int launch, const ProgramImage& candidate, const ProgramImage& rival,
    const std::vector<ConfirmationCase>& cases, const std::vector<size_t>& order,
    const std::function<bool(const CaseBlocks&)>& decides) {
  Launch tried;
  RETURN_IF_ERROR(timer_->BeginLaunch(launch));
  // Both at the same time, where they are slow to start.
  bench_.starter().Foresee(candidate, candidate_limits_);
  bench_.starter().Foresee(rival, rival_limits_);
  // The side that is started first alternates between launches, as does the side that begins. On a
  // GPU the order shows in the times of short calls (StartOrder), so it must not be a matter of
  // luck.
  const absl::Time start = bench_.clock().SteadyNow();
  LaunchSides sides;
  for (const bool is_candidate : {launch % 2 == 1, launch % 2 == 0}) {
    ASSIGN_OR_RETURN(sides.Of(is_candidate),
                     StartSide(is_candidate ? candidate : rival, is_candidate));
  }
  for (const bool is_candidate : {launch % 2 == 1, launch % 2 == 0}) {
    ASSIGN_OR_RETURN(tried.ending,
                     LoadSide(sides.Of(is_candidate).get(), is_candidate ? candidate : rival));
    if (tried.ending.passed()) continue;
    // Both loaded a moment ago, alone: no fault of this machine.
    tried.ended_by_candidate = is_candidate;
    return tried;
  }
  bench_.starter().Settle();
  const absl::Time started = bench_.clock().SteadyNow();
  for (const size_t i : order) {
    CaseBlocks blocks;
    blocks.index = i;
    ASSIGN_OR_RETURN(SideEnding ended, RunCase(launch, cases[i], sides.Of(false).get(),
                                               sides.Of(true).get(), &tried.start_again, &blocks));
    if (tried.start_again) return tried;
    if (!ended.passed()) {
      tried.ending = std::move(ended.ending);
      tried.ended_by_candidate = ended.side->is_candidate;
      tried.failed_case = i;
      return tried;
    }
    tried.cases.push_back(std::move(blocks));
    if (decides(tried.cases.back())) break;
  }
  const absl::Time timed = bench_.clock().SteadyNow();
  sides.End();
  LOG(INFO) << "msg=\"launch over\" launch=" << launch << " starting=" << started - start
            << " timing=" << timed - started << " ending=" << bench_.clock().SteadyNow() - timed;
  tried.disturbance = timer_->EndLaunch();
  if (!tried.disturbance.empty()) {
    LOG(WARNING) << "msg=\"the device is kept busy\" launch=" << launch << " " << tried.disturbance;
  }
  return tried;
}

absl::StatusOr<SideEnding> Confirmation::RunCase(int launch, const ConfirmationCase& one,
                                                 ConfirmationSide* rival,
                                                 ConfirmationSide* candidate, bool* start_again,
                                                 CaseBlocks* blocks) {
  const absl::Time start = bench_.clock().SteadyNow();
  // The luck of a turn cancels out within a launch of several workloads.
  const int turn = launch + static_cast<int>(blocks->index);
  // The side that begins is opened first, so that its first block, like all others, follows the
  // other side's calls.
  const bool rival_opens = timer_->RivalFirst(turn, 0);
  Rng rng(RandomUint64());
  const bool late_inputs = rng.NextDouble() < timer_->LateInputShare();
  const ConfirmationCase::Hidden* hidden = nullptr;
  if (!one.hidden.empty() && rng.NextDouble() < kHiddenShare) {
    hidden = &one.hidden[rng.NextBelow(one.hidden.size())];
  }
  do {
    for (ConfirmationSide* side :
         {rival_opens ? rival : candidate, rival_opens ? candidate : rival}) {
      ASSIGN_OR_RETURN(Ending opened, Open(side, one, turn, late_inputs, hidden));
      if (!opened.passed()) return SideEnding{std::move(opened), side};
    }
  } while (timer_->WantsMoreSets(one, *rival, *candidate));
  const absl::Time opened_at = bench_.clock().SteadyNow();
  SideEnding chosen = timer_->Choose(one, rival, candidate, start_again);
  if (!chosen.passed() || *start_again) return chosen;
  const absl::Time chosen_at = bench_.clock().SteadyNow();
  while (static_cast<int>(blocks->rival_us.size()) < plan_.blocks_per_launch()) {
    const int done = static_cast<int>(blocks->rival_us.size());
    ASSIGN_OR_RETURN(const absl::Duration round_trip, timer_->RoundTrip());
    candidate->audit.AddRoundTrip(round_trip);
    rival->least_round_trip = candidate->least_round_trip =
        std::min(candidate->least_round_trip, round_trip);
    const bool rival_first = timer_->RivalFirst(turn, done);
    ASSIGN_OR_RETURN(BlockTimer::Pair pair, timer_->RunPair(one, rival_first ? rival : candidate,
                                                            rival_first ? candidate : rival,
                                                            plan_.blocks_per_launch() - done));
    if (!pair.ended.passed()) return std::move(pair.ended);
    if (!pair.counts) continue;
    blocks->rival_us.push_back(pair.rival_us);
    blocks->candidate_us.push_back(pair.candidate_us);
    if (pair.log_ratio_by_runners.has_value()) {
      blocks->by_runners.push_back(*pair.log_ratio_by_runners);
    }
  }
  const double extra_us = timer_->ExtraMicrosACall();
  for (double& candidate_us : blocks->candidate_us) candidate_us += extra_us;
  blocks->audit_ratio = candidate->audit.Ratio();
  // If the runners' clocks decide nothing, it would only be a false alarm.
  blocks->time_escaped = !blocks->by_runners.empty() && candidate->audit.TimeEscaped();
  blocks->suspects = candidate->session->suspects();
  LOG(INFO) << "msg=\"launch compared\" workload=" << one.workload->uuid() << " launch=" << launch
            << " rival_us=" << Median(blocks->rival_us)
            << " candidate_us=" << Median(blocks->candidate_us)
            << " by_runners=" << Median(blocks->by_runners)
            << " spread=" << Quantile(blocks->by_runners, 1) - Quantile(blocks->by_runners, 0)
            << " opening=" << opened_at - start << " recording=" << chosen_at - opened_at
            << " blocks_took=" << bench_.clock().SteadyNow() - chosen_at << " "
            << timer_->Summary();
  return SideEnding{};
}

std::vector<double> Confirmation::LogRatios(const CaseBlocks& blocks) {
  std::vector<double> log_ratios;
  for (size_t block = 0; block < blocks.rival_us.size(); ++block) {
    log_ratios.push_back(std::log(blocks.rival_us[block] / blocks.candidate_us[block]));
  }
  return log_ratios;
}

void Confirmation::Keep(Launch launch, Measured* measured, ConfirmationResult* result) {
  for (CaseBlocks& blocks : launch.cases) {
    const size_t i = blocks.index;
    measured->by_verifier[i].push_back(LogRatios(blocks));
    measured->by_runners[i].push_back(std::move(blocks.by_runners));
    std::vector<double>& rival_us = result->rival_us[i];
    rival_us.insert(rival_us.end(), blocks.rival_us.begin(), blocks.rival_us.end());
    std::vector<double>& candidate_us = result->candidate_us[i];
    candidate_us.insert(candidate_us.end(), blocks.candidate_us.begin(), blocks.candidate_us.end());
    result->audit_ratio[i] = std::max(result->audit_ratio[i], blocks.audit_ratio);
    if (blocks.time_escaped) ++result->escaped_launches[i];
    for (WorkloadSession::Suspect& suspect : blocks.suspects) {
      result->suspects.emplace_back(i, std::move(suspect));
    }
  }
}

Confirmation::Judgment Confirmation::Judge(const Measured& measured, const GuardFactors& guards,
                                           double confidence) const {
  Judgment judged;
  judged.rests_on = &measured.by_verifier;
  judged.estimate = EstimateSpeedup(measured.by_verifier, confidence, guards);
  judged.verdict = ksearch::Judge(judged.estimate, plan_.min_effect(), kWorstRegression);
  if (judged.verdict != v1::Comparison::UNDECIDED || !HasBlocks(measured.by_runners)) return judged;
  SpeedupEstimate by_runners =
      EstimateSpeedup(measured.by_runners, confidence, guards, StartOrder::kRemoved);
  judged.verdict =
      JudgeUndecided(judged.estimate, by_runners, plan_.min_effect(), kWorstRegression);
  if (judged.verdict != v1::Comparison::UNDECIDED) {
    judged.rests_on = &measured.by_runners;
    judged.start_order = StartOrder::kRemoved;
    judged.estimate = std::move(by_runners);
  }
  return judged;
}

Ending Confirmation::JudgeCandidate(const std::vector<ConfirmationCase>& cases,
                                    const Measured& measured, ConfirmationResult* result) const {
  for (size_t i = 0; i < cases.size(); ++i) {
    const double candidate_us = Median(result->candidate_us[i]);
    // A rival below it shows that the task's formulas, or the peaks, are wrong.
    const bool believable = Median(result->rival_us[i]) >= cases[i].floor_us;
    if (!believable || !bench_.IsImpossible(candidate_us, cases[i].floor_us)) continue;
    result->failed_case = i;
    return {v1::OUTCOME_CHEAT, FasterThanFloorText(candidate_us, cases[i].floor_us)};
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    if (result->escaped_launches[i] < static_cast<int>(measured.by_verifier[i].size())) continue;
    result->failed_case = i;
    return {v1::OUTCOME_CHEAT,
            absl::StrFormat("audit clock: calls took up to %.2fx the time that they reported; work "
                            "outside the timed call, or a forged clock",
                            result->audit_ratio[i])};
  }
  return {};
}

absl::StatusOr<ConfirmationResult> Confirmation::Compare(const ProgramImage& candidate,
                                                         const ProgramImage& rival,
                                                         bool rival_was_candidate,
                                                         const std::vector<ConfirmationCase>& cases,
                                                         const std::function<void(int)>& progress) {
  rival_limits_ = rival_was_candidate ? candidate_limits_ : RunnerStarter::TrustedLimits();
  ConfirmationResult result;
  result.candidate_us.resize(cases.size());
  result.audit_ratio.resize(cases.size());
  result.rival_us.resize(cases.size());
  result.escaped_launches.resize(cases.size());
  Measured measured{std::vector<LaunchBlocks>(cases.size()),
                    std::vector<LaunchBlocks>(cases.size())};
  disturbed_launches_ = interferences_ = 0;
  const GuardFactors guards = GuardsOf(cases, objective_);
  const std::vector<int> looks = InterimLooks(plan_.launches());
  const double confidence = ConfidenceOfLook(plan_.confidence(), static_cast<int>(looks.size()));
  const absl::Time start = bench_.clock().SteadyNow();
  Judgment judged;
  int launches = 0;  // through all workloads
  bool decided_within = false, out_of_time = false;
  // Whether there is time for so many more launches, should they take twice as long as the others.
  const auto has_time_for = [&](int more) {
    const absl::Time now = bench_.clock().SteadyNow();
    return now + 2 * (now - start) * more / launches < limits_.deadline;
  };
  for (size_t look = 0; look < looks.size(); ++look) {
    while (launches < looks[look] && !decided_within && !out_of_time) {
      progress(launches);
      const bool is_last = launches + 1 == looks[look];
      RETURN_IF_ERROR(RunLaunch(launches, is_last ? std::optional(confidence) : std::nullopt,
                                candidate, rival, cases, &measured, &result));
      if (launches >= kLeastLaunchesToJudge && IsOutOfTime(result.ending)) {
        // What was measured until then says as much as it says.
        result.ending = {};
        out_of_time = true;
        break;
      }
      if (!result.ending.passed()) return result;
      decided_within = HasPartLaunch(measured.by_verifier);
      if (decided_within) break;
      ++launches;
      out_of_time = launches >= kLeastLaunchesToJudge && !has_time_for(1);
    }
    judged = Judge(measured, guards, confidence);
    if (decided_within || out_of_time || look + 1 == looks.size()) break;
    if (IsSettled(judged.estimate, judged.verdict, kWorstRegression)) break;
    if (!has_time_for(looks[look + 1] - launches)) break;
  }
  result.ending = JudgeCandidate(cases, measured, &result);
  if (!result.ending.passed()) return result;
  const SpeedupEstimate& estimate = judged.estimate;
  v1::Comparison& comparison = result.comparison;
  comparison.set_rival_id(rival.id());
  comparison.set_verdict(judged.verdict);
  comparison.set_log_speedup(estimate.combined.mean);
  comparison.set_ci_low(estimate.combined.interval.low);
  comparison.set_ci_high(estimate.combined.interval.high);
  comparison.set_confidence(plan_.confidence());
  comparison.set_ranked(
      std::any_of(guards.begin(), guards.end(), [](const auto& guard) { return guard.has_value(); })
          ? v1::Objective::RANKED_OFFICIAL
          : v1::Objective::RANKED_ALL);
  if (auto mean =
          MeanOver(*judged.rests_on, cases, /*official=*/true, confidence, judged.start_order)) {
    *comparison.mutable_official() = *std::move(mean);
  }
  if (auto mean =
          MeanOver(*judged.rests_on, cases, /*official=*/false, confidence, judged.start_order)) {
    *comparison.mutable_all() = *std::move(mean);
  }
  comparison.set_launches(launches);
  comparison.set_blocks(plan_.blocks_per_launch());
  for (size_t i = 0; i < cases.size(); ++i) {
    v1::Comparison::PerWorkload* workload = comparison.add_workloads();
    workload->set_workload_uuid(cases[i].workload->uuid());
    workload->set_held_out(cases[i].workload->held_out());
    workload->set_log_speedup(estimate.workloads[i].mean);
    workload->set_ci_low(estimate.workloads[i].interval.low);
    workload->set_ci_high(estimate.workloads[i].interval.high);
    workload->set_candidate_median_us(Median(result.candidate_us[i]));
    workload->set_rival_median_us(Median(result.rival_us[i]));
    const int own = static_cast<int>(measured.by_verifier[i].size());
    if (own != launches) workload->set_launches(own);
  }
  return result;
}

}  // namespace ksearch
