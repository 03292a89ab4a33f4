#include "gpu_worker/verifier/timing/device/device_block_timer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {

int DeviceBlockTimer::Sets(const WorkloadCase& workload) const {
  const auto more = more_sets_.find(workload.key());
  return more != more_sets_.end() ? more->second : bench_.Sets(workload, 1);
}

int DeviceBlockTimer::MostSets(const WorkloadCase& workload) const {
  const int64_t more = kConfirmSetsBytes / std::max<int64_t>(1, workload.footprint_bytes());
  return bench_.MostSets(workload, 1,
                         static_cast<int>(std::min<int64_t>(more, kMaxConfirmDeviceSets)));
}

double DeviceBlockTimer::UsualCallsOfGo(const ConfirmationSide& a, const ConfirmationSide& b) {
  return kConfirmGoMicros / std::max({a.call_us, b.call_us, 0.1});
}

bool DeviceBlockTimer::WantsMoreSets(const ConfirmationCase& one, const ConfirmationSide& rival,
                                     const ConfirmationSide& candidate) {
  if (more_sets_.contains(one.workload->key())) return false;
  // Of all sets, not each is in a GO: some are decoys, and which ones is drawn.
  const double wanted = std::ceil(UsualCallsOfGo(rival, candidate) * kSetsPerCallOfGo) + 1;
  const int sets = static_cast<int>(std::min<double>(wanted, MostSets(*one.workload)));
  if (sets <= Sets(*one.workload)) return false;
  more_sets_[one.workload->key()] = sets;
  return true;
}

absl::Status DeviceBlockTimer::BeginLaunch(int launch) {
  launch_ = launch;
  between_ = IdlePaces();
  ASSIGN_OR_RETURN(alone_, bench_.IdlePacesNow());
  return absl::OkStatus();
}

Ending DeviceBlockTimer::OpenSide(ConfirmationSide* side, const ConfirmationCase& one) {
  SessionCalls calls(*side->session, one.oracles, limits_);
  ClockWatch unwatched(nullptr, bench_.clock(), bench_.gpu()->pause);
  SideState& state = StateOf(*side);
  state = SideState();
  state.warm = WarmUpDevice(calls, *side->dealer, kConfirmWarmUpTime, unwatched, bench_.clock());
  side->call_us = std::max(state.warm.call_us, state.warm.host_us);
  return state.warm.ending;
}

int DeviceBlockTimer::CallsOfGo(const ConfirmationCase& one, const ConfirmationSide& a,
                                const ConfirmationSide& b) const {
  return static_cast<int>(
      std::clamp<double>(std::ceil(UsualCallsOfGo(a, b)), 1, Sets(*one.workload)));
}

SideEnding DeviceBlockTimer::Choose(const ConfirmationCase& one, ConfirmationSide* rival,
                                    ConfirmationSide* candidate, bool* start_again) {
  calls_of_go_ = CallsOfGo(one, *rival, *candidate);
  late_work_ = LateWork();
  candidate_us_.clear();
  turns_ = 0;
  watch_.emplace(bench_.gpu()->clocks.get(), bench_.clock(), bench_.gpu()->pause);
  SideEnding ended = Record(one, rival, candidate, start_again);
  if (ended.passed() && !*start_again && launch_ == 0) {
    ended = {LockStep(candidate, one), candidate};
  }
  return ended;
}

// Both sides alike: replays of chains and calls one by one give numbers of different meaning.
SideEnding DeviceBlockTimer::Record(const ConfirmationCase& one, ConfirmationSide* rival,
                                    ConfirmationSide* candidate, bool* start_again) {
  recorded_ = false;
  if (!graphs_allowed_) return {};
  bool all_recorded = true;
  for (ConfirmationSide* side : {rival, candidate}) {
    SessionCalls calls(*side->session, one.oracles, limits_);
    RecordedCalls recorded = RecordCalls(calls, *side->dealer, calls_of_go_);
    if (!recorded.ending.passed()) return {std::move(recorded.ending), side};
    if (recorded.spoiled) *start_again = true;
    all_recorded = all_recorded && recorded.recorded;
  }
  if (*start_again) graphs_allowed_ = false;
  recorded_ = all_recorded;
  return {};
}

// Of the candidate: calls one by one, each looked over before the next is prepared, so that work
// put off to a later call is missing.
Ending DeviceBlockTimer::LockStep(ConfirmationSide* side, const ConfirmationCase& one) {
  for (int i = 0; i < kLockStepCalls; ++i) {
    const WorkloadSession::Batch batch =
        side->session->Run(side->dealer->Deal(1, 0), WorkloadSession::Mode::kTimed,
                           {v1::GoRequest::FREE, 0}, one.oracles, limits_);
    if (!batch.ending.passed()) return batch.ending;
  }
  return {};
}

absl::StatusOr<absl::Duration> DeviceBlockTimer::RoundTrip() {
  ASSIGN_OR_RETURN(const Metronome::Pace pace, bench_.IdlePace());
  between_.Add(pace);
  return pace.round_trip;
}

DeviceBlockTimer::Turn DeviceBlockTimer::PickTurn(const ConfirmationSide& side) const {
  // Not Deal, which stops at the end of a round.
  return {OrderOfChain(*side.dealer, calls_of_go_)};
}

WorkloadSession::Batch DeviceBlockTimer::RunTurn(ConfirmationSide* side,
                                                 const ConfirmationCase& one, const Turn& turn,
                                                 int oracled) {
  const WorkloadSession::Go go = {recorded_ ? v1::GoRequest::REPLAY : v1::GoRequest::FREE, 0, true};
  return side->session->Run(side->dealer->DealTo(turn.sets, oracled), WorkloadSession::Mode::kTimed,
                            go, one.oracles, limits_);
}

void DeviceBlockTimer::BeginBlock(ConfirmationSide* side, int blocks_left) {
  Block& block = StateOf(*side).block;
  // Spreads the oracles over the blocks, and over a block's GOs as far as their number is known,
  // at random: which GO is compared must not show.
  const uint64_t usual_gos = std::max<size_t>(block.go_us.size(), 1);
  Rng& rng = side->dealer->rng();
  const bool oracled = rng.NextBelow(static_cast<uint64_t>(blocks_left)) <
                       static_cast<uint64_t>(side->dealer->oracled_left());
  block = Block();
  block.oracle_go = oracled ? static_cast<int>(rng.NextBelow(usual_gos)) : -1;
}

bool DeviceBlockTimer::WantsMore(const Block& block) const {
  const double block_us =
      kEnoughOfBlock * absl::ToDoubleMicroseconds(FromProto(plan_.min_block_time()));
  return block.go_us.empty() ||
         (block.spent_us < block_us && block.go_us.size() < kMaxDeviceGosPerBlock);
}

bool DeviceBlockTimer::IsClear(const Block& a, const Block& b) {
  if (a.go_us.empty() || b.go_us.empty()) return false;
  const auto differ = [](const std::vector<double>& one, const std::vector<double>& other) {
    return std::abs(std::log(std::max(Median(one), 1e-3) / std::max(Median(other), 1e-3))) >=
           std::log(kClearRatio);
  };
  return differ(a.go_us, b.go_us) && differ(a.event_us, b.event_us);
}

absl::StatusOr<BlockTimer::Pair> DeviceBlockTimer::RunPair(const ConfirmationCase& one,
                                                           ConfirmationSide* first,
                                                           ConfirmationSide* second,
                                                           int pairs_left) {
  Pair pair;
  BeginBlock(first, pairs_left);
  BeginBlock(second, pairs_left);
  const Block& rival = states_[0].block;
  const Block& candidate = states_[1].block;
  while ((WantsMore(rival) || WantsMore(candidate)) && !IsClear(rival, candidate)) {
    ++turns_;
    const Turn turn = PickTurn(*first);
    for (ConfirmationSide* side : {first, second}) {
      const Block& block = StateOf(*side).block;
      const size_t had = block.go_us.size();
      while (block.go_us.size() == had) {
        pair.ended = {RunGo(side, one, turn, static_cast<int>(had) == block.oracle_go), side};
        if (!pair.ended.passed()) return pair;
      }
    }
    std::swap(first, second);
  }
  // What was measured while heat or power pulled the clocks down does not count.
  switch (watch_->Judge()) {
    case ClockWatch::Fit::kDegraded:
      return absl::UnavailableError("the GPU is degraded: its clocks stay down (heat or power)");
    case ClockWatch::Fit::kThrottled:
      pair.counts = false;
      return pair;
    case ClockWatch::Fit::kGood:
      break;
  }
  pair.rival_us = Median(rival.go_us);
  pair.candidate_us = Median(candidate.go_us);
  candidate_us_.push_back(pair.candidate_us);
  pair.log_ratio_by_runners =
      std::log(std::max(Median(rival.event_us), 1e-3) / std::max(Median(candidate.event_us), 1e-3));
  for (size_t go = 0; go < std::min(rival.look_overs.size(), candidate.look_overs.size()); ++go) {
    late_work_.Add(candidate.look_overs[go], rival.look_overs[go]);
  }
  return pair;
}

Ending DeviceBlockTimer::RunGo(ConfirmationSide* side, const ConfirmationCase& one,
                               const Turn& turn, bool oracled) {
  const WorkloadSession::Batch batch = RunTurn(side, one, turn, oracled ? 1 : 0);
  if (!batch.ending.passed()) return batch.ending;
  WorkloadSession::Batch audited = batch;
  if (!recorded_) {
    // Made one by one: queueing a call comes before it, and waiting for it before the next.
    double beside_us = static_cast<double>(batch.calls - 1) *
                       std::max(between_.RoundTripMicros(0.9), alone_.RoundTripMicros(0.9));
    for (const double us : batch.host_us) beside_us += us;
    audited.inner += absl::Microseconds(beside_us);
  }
  side->audit.AddGo(audited);
  // In its lead-in a hostile runner could begin with work.
  // It takes longer with more processes on the device, but not whatever they please.
  const double alone_us = alone_.LeadInMicros(0.5);
  const double usual_us =
      std::clamp(between_.LeadInMicros(0.5), alone_us, kMaxCrowdedLeadIn * alone_us);
  double excess_us =
      std::max(0.0, absl::ToDoubleMicroseconds(batch.lead_in) - kMaxLeadIn * usual_us);
  // Now and then it takes long by itself.
  SideState& state = StateOf(*side);
  Block& block = state.block;
  if (excess_us > 0 && block.voided < kMaxVoidGosPerBlock) {
    ++block.voided;
    ++state.voided;
    return {};
  }
  // The rival cannot be held up to the candidate's profit.
  if (!side->is_candidate) excess_us = 0;
  // The same, trusted amount for both sides, so that short calls show.
  const absl::Duration calls = std::max(batch.audit - side->least_round_trip, batch.audit / 10);
  const double go_us = absl::ToDoubleMicroseconds(calls) + excess_us;
  block.go_us.push_back(go_us / static_cast<double>(batch.calls));
  block.event_us.push_back(absl::ToDoubleMicroseconds(batch.inner) /
                           static_cast<double>(batch.calls));
  block.look_overs.push_back(batch.look_over);
  block.spent_us += go_us;
  return {};
}

double DeviceBlockTimer::LateMicrosACall() const {
  return late_work_.MicrosAGo(calls_of_go_ * Median(candidate_us_)) / calls_of_go_;
}

std::string DeviceBlockTimer::Summary() const {
  return absl::StrCat("calls=", calls_of_go_, " turns=", turns_, " recorded=", recorded_,
                      " late_us=", late_work_.RawMicrosAGo(), " voided=", states_[0].voided, "+",
                      states_[1].voided, " lead_in_us=", alone_.LeadInMicros(0.5), "/",
                      between_.LeadInMicros(0.5));
}

std::string DeviceBlockTimer::EndLaunch() {
  return between_.KeptBusy(alone_) ? KeptBusyText(between_, alone_) : "";
}

Ending DeviceBlockTimer::RunAlone(ConfirmationSide* side, const ConfirmationCase& one) {
  recorded_ = false;  // they were of a process that is gone
  calls_of_go_ = CallsOfGo(one, *side, *side);
  Ending ending;
  for (int go = 0; ending.passed() && go < kMaxDeviceGosPerBlock; ++go) {
    ending = RunTurn(side, one, PickTurn(*side), go == 0 ? 1 : 0).ending;
  }
  return ending;
}

}  // namespace ksearch
