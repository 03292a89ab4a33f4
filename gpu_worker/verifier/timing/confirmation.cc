#include "gpu_worker/verifier/timing/confirmation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/confirmation_side.h"
#include "gpu_worker/verifier/timing/device/clock_watch.h"
#include "gpu_worker/verifier/timing/device/device_warm_up.h"
#include "gpu_worker/verifier/timing/device/late_work.h"
#include "gpu_worker/verifier/timing/device/roofline.h"
#include "gpu_worker/verifier/timing/sampler.h"

namespace ksearch {
namespace {

constexpr absl::Duration kLoadTime = absl::Seconds(10);
constexpr int kSides = 2;

absl::Status RivalFails(const ProgramImage& rival, const Ending& ending) {
  return absl::FailedPreconditionError(
      absl::StrCat("rival '", rival.id(), "' fails: ", ending.message));
}

// Whether every workload of every launch says the same, loud and clear.
bool IsClear(const std::vector<LaunchBlocks>& log_ratios) {
  const double clear = std::log(kClearRatio);
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const LaunchBlocks& launches : log_ratios) {
    for (const std::vector<double>& blocks : launches) {
      const double median = Median(blocks);
      least = std::min(least, median);
      most = std::max(most, median);
    }
  }
  return least > clear || most < -clear;
}

}  // namespace

int ConfirmationSets(const Bench& bench, const WorkloadCase& workload) {
  if (bench.gpu() == nullptr) return std::min(bench.Sets(workload, kSides), kMaxConfirmSets);
  // A set is mapped in no time, and a GO of many calls makes its round trip small.
  const int64_t more = kConfirmSetsBytes / std::max<int64_t>(1, workload.footprint_bytes());
  return std::max(bench.Sets(workload, 1),
                  bench.MostSets(workload, 1,
                                 static_cast<int>(std::min<int64_t>(more, kMaxConfirmDeviceSets))));
}

absl::StatusOr<std::unique_ptr<Confirmation::Side>> Confirmation::StartSide(
    const ProgramImage& program, bool is_candidate, Ending* ending) {
  auto side = std::make_unique<Side>();
  side->is_candidate = is_candidate;
  ASSIGN_OR_RETURN(
      side->link,
      bench_.starter().Start(is_candidate ? candidate_limits_ : RunnerStarter::TrustedLimits()));
  *ending = side->link->Load(program, bench_.clock().SteadyNow() + kLoadTime);
  return side;
}

Ending Confirmation::Open(Side* side, const ConfirmationCase& one, absl::Status* trouble) {
  const int sets = ConfirmationSets(bench_, *one.workload);
  absl::StatusOr<std::shared_ptr<BufferSets>> buffers =
      bench_.Buffers(one.workload, sets, absl::StrCat("side", side->buffers));
  if (!buffers.ok()) {
    *trouble = buffers.status();
    return {};
  }
  side->session = std::make_unique<WorkloadSession>(*side->link, one.workload, *std::move(buffers),
                                                    bench_.clock(), RandomUint64());
  std::vector<int64_t> oracled;
  for (const auto& [content, entry] : one.oracles) {
    if (content >= kGateContents && content < kFirstFreshContent) oracled.push_back(content);
  }
  side->dealer = std::make_unique<CallDealer>(sets, std::move(oracled), Rng(RandomUint64()));
  side->audit = ClockAudit();
  side->all_voided = 0;
  // On a GPU both sides see the same buffers, and calls of the same contents.
  if (bench_.gpu() != nullptr) side->session->WipeOutputs();
  Ending ending = side->session->Map(sets, limits_);
  if (!ending.passed()) return ending;
  if (bench_.gpu() != nullptr) {
    SessionCalls calls(*side->session, one.oracles, limits_);
    ClockWatch unwatched(nullptr, bench_.clock(), bench_.gpu()->pause);
    side->graphs = DeviceGraphs();
    side->warm = WarmUpDevice(calls, *side->dealer, kConfirmWarmUpTime, unwatched, bench_.clock());
    side->call_us = std::max(side->warm.call_us, side->warm.host_us);
    return side->warm.ending;
  }
  return WarmUp(*side->session, *side->dealer, kConfirmWarmUpCalls, kConfirmWarmUpTime, limits_,
                bench_.clock(), &side->call_us);
}

absl::StatusOr<absl::Duration> Confirmation::RoundTrip() {
  if (bench_.gpu() == nullptr) return bench_.metronome().Tick();
  ASSIGN_OR_RETURN(const Metronome::Pace pace, bench_.IdlePace());
  between_.Add(pace);
  return pace.round_trip;
}

absl::StatusOr<Ending> Confirmation::RunAlone(const ProgramImage& program,
                                              const ConfirmationCase& one) {
  Ending ending;
  ASSIGN_OR_RETURN(const std::unique_ptr<Side> side, StartSide(program, false, &ending));
  if (!ending.passed()) return ending;
  absl::Status trouble;
  ending = Open(side.get(), one, &trouble);
  RETURN_IF_ERROR(trouble);
  side->calls_of_go = CallsOfGo(one, *side, *side);
  for (int go = 0; ending.passed() && go < kMaxDeviceGosPerBlock; ++go) {
    ending = RunTurn(side.get(), one, PickTurn(*side), go == 0 ? 1 : 0).ending;
  }
  return ending;
}

absl::Status Confirmation::TakeFailure(bool of_candidate, Ending ending, const ProgramImage& rival,
                                       const std::vector<ConfirmationCase>& cases, size_t i,
                                       ConfirmationResult* result) {
  result->failed_case = i;
  if (!of_candidate && bench_.clock().SteadyNow() >= limits_.deadline) {
    // Tried again it would not end any sooner.
    ending = {v1::OUTCOME_TIMEOUT, "the whole job took longer than limits.total_time"};
    of_candidate = true;
  }
  if (of_candidate) {
    result->ending = std::move(ending);
    return absl::OkStatus();
  }
  if (bench_.gpu() == nullptr || ending.killed) return RivalFails(rival, ending);
  // Both used the same memory: the candidate may have left something at work there.
  ASSIGN_OR_RETURN(const Ending alone, RunAlone(rival, cases[i]));
  if (!alone.passed()) return RivalFails(rival, alone);
  // Once may be an accident.
  if (++interferences_ > 1) {
    result->ending = {v1::OUTCOME_CHEAT,
                      absl::StrCat("interferes with other programs: only beside it, rival '",
                                   rival.id(), "' fails: ", ending.message)};
  }
  return absl::OkStatus();
}

absl::Status Confirmation::RunLaunch(int launch, const ProgramImage& candidate,
                                     const ProgramImage& rival,
                                     const std::vector<ConfirmationCase>& cases,
                                     std::vector<LaunchBlocks>* log_ratios,
                                     ConfirmationResult* result) {
  if (bench_.gpu() != nullptr) {
    ASSIGN_OR_RETURN(alone_, bench_.IdlePacesNow());
    between_ = IdlePaces();
  }
  // Who starts first, who begins and, on the CPU, who has which buffers changes from launch to
  // launch: physical addresses alone make a difference of some percent.
  std::unique_ptr<Side> a, b;
  for (const bool is_candidate : {launch % 2 == 1, launch % 2 == 0}) {
    Ending loaded;
    ASSIGN_OR_RETURN((is_candidate ? b : a),
                     StartSide(is_candidate ? candidate : rival, is_candidate, &loaded));
    if (loaded.passed()) continue;
    if (!is_candidate) return RivalFails(rival, loaded);
    // It loaded in the gate, a moment ago: still no fault of this machine.
    result->ending = std::move(loaded);
    return absl::OkStatus();
  }
  if (bench_.gpu() == nullptr) {
    a->buffers = launch % 2;
    b->buffers = 1 - launch % 2;
  }
  absl::Duration least_round_trip = absl::InfiniteDuration();
  for (size_t i = 0; i < cases.size(); ++i) {
    absl::Status trouble;
    const auto again = [&] {
      a.reset();
      b.reset();
      for (LaunchBlocks& launches : *log_ratios) launches.resize(static_cast<size_t>(launch));
      return RunLaunch(launch, candidate, rival, cases, log_ratios, result);
    };
    const auto fail = [&](const Side& side, const Ending& ending) -> absl::Status {
      const bool of_candidate = side.is_candidate;
      a.reset();
      b.reset();
      RETURN_IF_ERROR(TakeFailure(of_candidate, ending, rival, cases, i, result));
      return result->ending.passed() ? again() : absl::OkStatus();
    };
    for (Side* side : {a.get(), b.get()}) {
      const Ending ending = Open(side, cases[i], &trouble);
      RETURN_IF_ERROR(trouble);
      if (!ending.passed()) return fail(*side, ending);
    }
    if (bench_.gpu() != nullptr) {
      Side* failed = nullptr;
      Ending ending = ChooseWay(cases[i], a.get(), b.get(), &failed);
      if (!ending.passed()) return fail(*failed, ending);
      if (a->graphs.spoiled || b->graphs.spoiled) {
        // New processes, without graphs from now on.
        return again();
      }
      if (launch == 0) ending = LockStep(b.get(), cases[i]);
      if (!ending.passed()) return fail(*b, ending);
    }
    a->calls_of_go = b->calls_of_go = CallsOfGo(cases[i], *a, *b);
    ClockWatch watch(bench_.gpu() == nullptr ? nullptr : bench_.gpu()->clocks.get(), bench_.clock(),
                     bench_.gpu() == nullptr ? nullptr : bench_.gpu()->pause);
    std::vector<double> a_blocks, b_blocks, event_blocks;
    LateWork late_work;
    for (int pair = 0; pair < plan_.blocks_per_launch(); ++pair) {
      double a_us = 0, b_us = 0;
      ASSIGN_OR_RETURN(const absl::Duration round_trip, RoundTrip());
      b->audit.AddRoundTrip(round_trip);
      least_round_trip = std::min(least_round_trip, round_trip);
      a->least_round_trip = b->least_round_trip = least_round_trip;
      // A B, B A, A B, ...: a drift hits both alike.
      const bool a_first = (pair + launch) % 2 == 0;
      if (bench_.gpu() != nullptr) {
        Side* failed = nullptr;
        const Ending ending =
            RunDeviceBlocks(a_first ? a.get() : b.get(), a_first ? b.get() : a.get(), cases[i],
                            plan_.blocks_per_launch() - pair, &failed);
        if (!ending.passed()) return fail(*failed, ending);
        a_us = Median(a->go_us);
        b_us = Median(b->go_us);
      }
      for (const bool first : {true, false}) {
        if (bench_.gpu() != nullptr) break;
        Side* side = a_first == first ? a.get() : b.get();
        const Ending ending = RunBlock(side, cases[i], plan_.blocks_per_launch() - pair,
                                       side->is_candidate ? &b_us : &a_us);
        if (!ending.passed()) return fail(*side, ending);
      }
      // What was measured while heat or power pulled the clocks down does not count.
      const ClockWatch::Fit fit = watch.Judge();
      if (fit == ClockWatch::Fit::kDegraded) {
        return absl::UnavailableError("the GPU is degraded: its clocks stay down (heat or power)");
      }
      if (fit == ClockWatch::Fit::kThrottled) {
        --pair;
        continue;
      }
      a_blocks.push_back(a_us);
      b_blocks.push_back(b_us);
      if (bench_.gpu() == nullptr) continue;
      event_blocks.push_back(
          std::log(std::max(Median(a->event_us), 1e-3) / std::max(Median(b->event_us), 1e-3)));
      for (size_t go = 0; go < std::min(a->look_overs.size(), b->look_overs.size()); ++go) {
        late_work.Add(b->look_overs[go], a->look_overs[go]);
      }
    }
    if (bench_.gpu() != nullptr) {
      LOG(INFO) << "msg=\"launch compared\" workload=" << cases[i].workload->uuid()
                << " launch=" << launch << " calls=" << b->calls_of_go
                << " rival_us=" << Median(a_blocks) << " candidate_us=" << Median(b_blocks)
                << " events_log_ratio=" << Median(event_blocks)
                << " spread=" << Quantile(event_blocks, 1) - Quantile(event_blocks, 0)
                << " late_us=" << late_work.RawMicrosAGo() << " voided=" << a->all_voided << "+"
                << b->all_voided << " lead_in_us=" << alone_.LeadInMicros(0.5) << "/"
                << between_.LeadInMicros(0.5);
    }
    std::vector<double> blocks;
    for (size_t block = 0; block < b_blocks.size(); ++block) {
      b_blocks[block] += late_work.MicrosAGo() / b->calls_of_go;
      blocks.push_back(std::log(a_blocks[block] / b_blocks[block]));
    }
    result->rival_us[i].insert(result->rival_us[i].end(), a_blocks.begin(), a_blocks.end());
    result->candidate_us[i].insert(result->candidate_us[i].end(), b_blocks.begin(), b_blocks.end());
    (*log_ratios)[i].push_back(std::move(blocks));
    event_log_ratios_[i].resize((*log_ratios)[i].size());
    event_log_ratios_[i].back() = std::move(event_blocks);
    result->audit_ratio[i] = std::max(result->audit_ratio[i], b->audit.Ratio());
    if (b->audit.TimeEscaped()) ++result->escaped_launches[i];
    for (const WorkloadSession::Suspect& suspect : b->session->suspects()) {
      result->suspects.emplace_back(i, suspect);
    }
  }
  if (between_.KeptBusy(alone_)) {
    ++busy_launches_;
    LOG(WARNING) << "msg=\"the device is kept busy\" launch=" << launch << " "
                 << KeptBusyText(between_, alone_);
  }
  return absl::OkStatus();
}

Confirmation::Judgement Confirmation::Judge(const std::vector<LaunchBlocks>& log_ratios,
                                            double confidence) const {
  Rng rng(RandomUint64());
  Judgement judged;
  judged.bootstrap = HierarchicalBootstrap(log_ratios, confidence, kBootstrapDraws, &rng);
  judged.verdict = ksearch::Judge(judged.bootstrap, plan_.min_effect(), kWorstRegression);
  if (bench_.gpu() == nullptr || judged.verdict != v1::Comparison::UNDECIDED) return judged;
  BootstrapResult by_events =
      HierarchicalBootstrap(event_log_ratios_, confidence, kBootstrapDraws, &rng);
  judged.verdict =
      JudgeUndecided(judged.bootstrap, by_events, plan_.min_effect(), kWorstRegression);
  if (judged.verdict != v1::Comparison::UNDECIDED) judged.bootstrap = std::move(by_events);
  return judged;
}

absl::StatusOr<ConfirmationResult> Confirmation::Compare(const ProgramImage& candidate,
                                                         const ProgramImage& rival,
                                                         const std::vector<ConfirmationCase>& cases,
                                                         const std::function<void(int)>& progress) {
  ConfirmationResult result;
  result.candidate_us.resize(cases.size());
  result.audit_ratio.resize(cases.size());
  std::vector<LaunchBlocks> log_ratios(cases.size());
  event_log_ratios_.assign(cases.size(), {});
  busy_launches_ = interferences_ = 0;
  result.rival_us.resize(cases.size());
  result.escaped_launches.resize(cases.size());
  const int looks = bench_.gpu() == nullptr ? 1 : kMaxLooks;
  const double confidence = 1 - (1 - plan_.confidence()) / looks;
  const absl::Time start = bench_.clock().SteadyNow();
  Judgement judged;
  int launches = 0;
  for (int look = 1; look <= looks; ++look) {
    bool clear = false;
    for (int launch = 0; launch < plan_.launches() && !clear; ++launch, ++launches) {
      progress(std::min(launches, plan_.launches()));
      RETURN_IF_ERROR(RunLaunch(launches, candidate, rival, cases, &log_ratios, &result));
      if (!result.ending.passed()) return result;
      clear = launches + 1 >= kClearLaunches && IsClear(log_ratios);
    }
    judged = Judge(log_ratios, confidence);
    const absl::Time now = bench_.clock().SteadyNow();
    const bool time_left = now + 2 * (now - start) / look < limits_.deadline;
    if (judged.verdict != v1::Comparison::UNDECIDED || !time_left) break;
  }
  if (busy_launches_ >= launches) {
    result.ending = {v1::OUTCOME_CHEAT, KeptBusyText(between_, alone_)};
    return result;
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    const double candidate_us = Median(result.candidate_us[i]);
    // A rival below it shows that the task's formulas, or the peaks, are wrong.
    if (candidate_us >= kImpossible * cases[i].floor_us ||
        Median(result.rival_us[i]) < cases[i].floor_us) {
      continue;
    }
    result.failed_case = i;
    result.ending = {v1::OUTCOME_CHEAT, FasterThanFloorText(candidate_us, cases[i].floor_us)};
    return result;
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    if (result.escaped_launches[i] < launches) continue;
    result.failed_case = i;
    result.ending = {v1::OUTCOME_CHEAT,
                     absl::StrFormat("audit clock: calls took up to %.2fx the time that they "
                                     "reported; work outside the timed call, or a forged clock",
                                     result.audit_ratio[i])};
    return result;
  }
  const BootstrapResult& bootstrap = judged.bootstrap;
  v1::Comparison& comparison = result.comparison;
  comparison.set_rival_id(rival.id());
  comparison.set_verdict(judged.verdict);
  comparison.set_log_speedup(bootstrap.combined.mean);
  comparison.set_ci_low(bootstrap.combined.interval.low);
  comparison.set_ci_high(bootstrap.combined.interval.high);
  comparison.set_launches(launches);
  comparison.set_blocks(plan_.blocks_per_launch());
  for (size_t i = 0; i < cases.size(); ++i) {
    v1::Comparison::PerWorkload* workload = comparison.add_workloads();
    workload->set_workload_uuid(cases[i].workload->uuid());
    workload->set_held_out(cases[i].workload->held_out());
    workload->set_log_speedup(bootstrap.workloads[i].mean);
    workload->set_ci_low(bootstrap.workloads[i].interval.low);
    workload->set_ci_high(bootstrap.workloads[i].interval.high);
    workload->set_candidate_median_us(Median(result.candidate_us[i]));
    workload->set_rival_median_us(Median(result.rival_us[i]));
  }
  return result;
}

}  // namespace ksearch
