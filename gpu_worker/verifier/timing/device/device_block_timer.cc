#include "gpu_worker/verifier/timing/device/device_block_timer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/hidden_batch.h"
#include "gpu_worker/verifier/timing/late_batch.h"
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

double DeviceBlockTimer::UsualCallsOfBatch(const ConfirmationSide& rival,
                                           const ConfirmationSide& candidate) {
  // A candidate could be slow in its warm-up to have batches of few calls, before which it works
  // ahead in the lead-in.
  const double candidate_us = std::min(candidate.call_us, kMostSlowerInWarmUp * rival.call_us);
  return kConfirmBatchMicros / std::max({rival.call_us, candidate_us, 0.1});
}

bool DeviceBlockTimer::WantsMoreSets(const ConfirmationCase& one, const ConfirmationSide& rival,
                                     const ConfirmationSide& candidate) {
  if (more_sets_.contains(one.workload->key())) return false;
  // A batch does not use all sets: some are decoys, chosen at random.
  const double wanted = std::ceil(UsualCallsOfBatch(rival, candidate) * kSetsPerCallOfBatch) + 1;
  const int sets = static_cast<int>(std::min<double>(wanted, MostSets(*one.workload)));
  if (sets <= Sets(*one.workload)) return false;
  more_sets_[one.workload->key()] = sets;
  return true;
}

absl::Status DeviceBlockTimer::BeginLaunch(int launch) {
  launch_ = launch;
  idle_between_ = IdlePaces();
  ASSIGN_OR_RETURN(idle_before_, bench_.IdlePacesNow());
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

int DeviceBlockTimer::CallsOfBatch(const ConfirmationCase& one, const ConfirmationSide& rival,
                                   const ConfirmationSide& candidate) const {
  return static_cast<int>(
      std::clamp<double>(std::ceil(UsualCallsOfBatch(rival, candidate)), 1, Sets(*one.workload)));
}

SideEnding DeviceBlockTimer::Choose(const ConfirmationCase& one, ConfirmationSide* rival,
                                    ConfirmationSide* candidate, bool* start_again) {
  calls_of_batch_ = CallsOfBatch(one, *rival, *candidate);
  deferred_work_ = DeferredWork();
  alone_calls_ = AloneCalls(kAloneShare, kAloneMicros);
  by_verifier_ = by_runners_ = SideTimes();
  turns_ = 0;
  late_inputs_seen_ = 0;
  watch_.emplace(bench_.gpu()->clocks.get(), bench_.clock(), bench_.gpu()->pause);
  SideEnding ended = Record(one, rival, candidate, start_again);
  alone_audits_ = NewAloneAudits();
  alone_extra_us_ = 0;
  if (ended.passed() && !*start_again) ended = RunCallsAlone(one, rival, candidate);
  return ended;
}

// Both sides use the same method: replayed chains and single calls measure different things.
SideEnding DeviceBlockTimer::Record(const ConfirmationCase& one, ConfirmationSide* rival,
                                    ConfirmationSide* candidate, bool* start_again) {
  recorded_ = false;
  if (!graphs_allowed_ || unrecorded_.contains(one.workload->key())) return {};
  bool all_recorded = true;
  for (ConfirmationSide* side : {rival, candidate}) {
    SessionCalls calls(*side->session, one.oracles, limits_);
    RecordedCalls recorded = RecordCalls(calls, *side->dealer, calls_of_batch_);
    if (!recorded.ending.passed()) return {std::move(recorded.ending), side};
    if (recorded.spoiled) *start_again = true;
    all_recorded = all_recorded && recorded.recorded;
  }
  if (*start_again) graphs_allowed_ = false;
  if (!all_recorded) unrecorded_.insert(one.workload->key());
  recorded_ = all_recorded;
  return {};
}

SideEnding DeviceBlockTimer::RunCallsAlone(const ConfirmationCase& one, ConfirmationSide* rival,
                                           ConfirmationSide* candidate) {
  // Calls that cannot be recorded are queued first, so that the host's time does not count. After a
  // lead-in the verifier's clock counts little besides the call.
  const WorkloadSession::BatchForm form = {
      recorded_ ? v1::BatchRequest::REPLAY : v1::BatchRequest::EVENTS, 0, true};
  const int calls = launch_ == 0 ? kLockStepCalls : kLaterLockStepCalls;
  // These calls must be right, too, and are too few beside all others to be compared by chance.
  const auto compared =
      static_cast<int>(candidate->dealer->rng().NextBelow(static_cast<uint64_t>(calls)));
  for (int i = 0; i < calls; ++i) {
    for (ConfirmationSide* side : {rival, candidate}) {
      SideState& state = StateOf(*side);
      while (true) {
        const int oracled = i == compared && SparesOracle(side) ? 1 : 0;
        const WorkloadSession::Batch batch =
            side->session->Run(side->dealer->DealTo(side->dealer->PickSets(1), oracled),
                               WorkloadSession::Mode::kTimed, form, one.oracles, limits_);
        if (!batch.ending.passed()) return {batch.ending, side};
        const double excess_us = LeadInExcess(batch);
        if (excess_us > 0 && state.voided_alone < kMaxVoidBatchesPerBlock) {
          ++state.voided_alone;
          continue;
        }
        alone_calls_.Add(side->is_candidate, absl::ToDoubleMicroseconds(batch.inner));
        alone_audits_.Add(side->is_candidate, absl::ToDoubleMicroseconds(batch.audit) +
                                                  (side->is_candidate ? excess_us : 0));
        break;
      }
    }
  }
  return {};
}

// As BeginBlock does with one of several blocks: calls alone have the same chance as a block.
bool DeviceBlockTimer::SparesOracle(ConfirmationSide* side) const {
  return side->dealer->rng().NextBelow(static_cast<uint64_t>(plan_.blocks_per_launch()) + 1) <
         static_cast<uint64_t>(side->dealer->oracled_left());
}

double DeviceBlockTimer::LeadInExcess(const WorkloadSession::Batch& batch) const {
  // A hostile runner could begin to work in its lead-in. More processes on the device make a
  // lead-in longer, but only within this limit.
  const double alone_us = idle_before_.LeadInMicros(0.5);
  const double crowded_us = idle_between_.count() == 0 ? alone_us : idle_between_.LeadInMicros(0.5);
  const double usual_us = std::clamp(crowded_us, alone_us, kMaxCrowdedLeadIn * alone_us);
  return std::max(0.0, absl::ToDoubleMicroseconds(batch.lead_in) - kMaxLeadIn * usual_us);
}

absl::StatusOr<absl::Duration> DeviceBlockTimer::RoundTrip() {
  ASSIGN_OR_RETURN(const Metronome::Pace pace, bench_.IdlePace());
  idle_between_.Add(pace);
  return pace.round_trip;
}

WorkloadSession::BatchForm DeviceBlockTimer::Form() const {
  return {recorded_ ? v1::BatchRequest::REPLAY : v1::BatchRequest::FREE, 0, true};
}

std::vector<int> DeviceBlockTimer::PickSets(const ConfirmationSide& side) const {
  // Not Deal, which stops at the end of a round.
  return OrderOfChain(*side.dealer, calls_of_batch_);
}

WorkloadSession::Batch DeviceBlockTimer::RunOn(const std::vector<int>& sets, ConfirmationSide* side,
                                               const ConfirmationCase& one, int oracled) {
  return side->session->Run(side->dealer->DealTo(sets, oracled), WorkloadSession::Mode::kTimed,
                            Form(), one.oracles, limits_);
}

void DeviceBlockTimer::BeginBlock(ConfirmationSide* side, int blocks_left) {
  Block& block = StateOf(*side).block;
  // Spreads the oracles at random over the blocks, and over a block's batches as far as their
  // number is known: a program must not know which batch is compared.
  const uint64_t usual_batches = std::max<size_t>(block.batch_us.size(), 1);
  Rng& rng = side->dealer->rng();
  const bool oracled = rng.NextBelow(static_cast<uint64_t>(blocks_left)) <
                       static_cast<uint64_t>(side->dealer->oracled_left());
  block = Block();
  block.oracle_batch = oracled ? static_cast<int>(rng.NextBelow(usual_batches)) : -1;
}

bool DeviceBlockTimer::WantsMore(const Block& block) const {
  const double block_us =
      kEnoughOfBlock * absl::ToDoubleMicroseconds(FromProto(plan_.min_block_time()));
  return block.batch_us.empty() ||
         (block.spent_us < block_us && block.batch_us.size() < kMaxDeviceBatchesPerBlock);
}

bool DeviceBlockTimer::IsClear(const Block& a, const Block& b) {
  if (a.batch_us.empty() || b.batch_us.empty()) return false;
  const auto differ = [](const std::vector<double>& one, const std::vector<double>& other) {
    return std::abs(std::log(std::max(Median(one), 1e-3) / std::max(Median(other), 1e-3))) >=
           std::log(kClearRatio);
  };
  return differ(a.batch_us, b.batch_us) && differ(a.event_us, b.event_us);
}

absl::StatusOr<BlockTimer::Pair> DeviceBlockTimer::RunPair(const ConfirmationCase& one,
                                                           ConfirmationSide* first,
                                                           ConfirmationSide* second,
                                                           int pairs_left) {
  Pair pair;
  for (ConfirmationSide* side : {first, second}) {
    const bool wanted = side->wants_late_inputs;
    pair.ended.side = side;
    if (side->dealer->IsTheOne(pairs_left)) {
      pair.ended.ending = MaybeRunLateBatch(side, calls_of_batch_, Form(), limits_);
    }
    if (!pair.ended.passed()) return pair;
    if (side->is_candidate && wanted && !side->wants_late_inputs) ++late_inputs_seen_;
    if (side->dealer->IsTheOne(pairs_left)) {
      pair.ended.ending = MaybeRunHiddenBatch(side, calls_of_batch_, Form(), limits_);
    }
    if (!pair.ended.passed()) return pair;
  }
  BeginBlock(first, pairs_left);
  BeginBlock(second, pairs_left);
  const Block& rival = states_[0].block;
  const Block& candidate = states_[1].block;
  while ((WantsMore(rival) || WantsMore(candidate)) && !IsClear(rival, candidate)) {
    ++turns_;
    const std::vector<int> sets = PickSets(*first);
    for (ConfirmationSide* side : {first, second}) {
      const Block& block = StateOf(*side).block;
      const size_t had = block.batch_us.size();
      if (!side->is_candidate) RETURN_IF_ERROR(AddCopy());
      while (block.batch_us.size() == had) {
        pair.ended = {RunBatch(sets, side, one, static_cast<int>(had) == block.oracle_batch), side};
        if (!pair.ended.passed()) return pair;
      }
      if (!side->is_candidate) RETURN_IF_ERROR(AddCopy());
    }
    std::swap(first, second);
  }
  // Measurements made while heat or power lowered the clocks do not count.
  switch (watch_->Judge()) {
    case ClockWatch::Fit::kDegraded:
      return absl::UnavailableError("the GPU is degraded: its clocks stay down (heat or power)");
    case ClockWatch::Fit::kThrottled:
      pair.counts = false;
      return pair;
    case ClockWatch::Fit::kGood:
      break;
  }
  pair.rival_us = Median(rival.batch_us);
  pair.candidate_us = Median(candidate.batch_us);
  by_verifier_.Add(/*of_candidate=*/false, pair.rival_us);
  by_verifier_.Add(/*of_candidate=*/true, pair.candidate_us);
  by_runners_.Add(/*of_candidate=*/false, Median(rival.event_us));
  by_runners_.Add(/*of_candidate=*/true, Median(candidate.event_us));
  pair.log_ratio_by_runners =
      std::log(std::max(Median(rival.event_us), 1e-3) / std::max(Median(candidate.event_us), 1e-3));
  for (size_t i = 0; i < std::min(rival.output_checks.size(), candidate.output_checks.size());
       ++i) {
    deferred_work_.Add(candidate.output_checks[i], rival.output_checks[i]);
  }
  if (pairs_left > 1) return pair;
  // A busy host delays a few calls, and the verifier's clock counts that: the least of several
  // measurements counts.
  const bool first_is_candidate = first->is_candidate;
  double extra_us = AloneByVerifier();
  for (int tries = 1; extra_us > 0 && tries < kAloneTries; ++tries) {
    alone_audits_ = NewAloneAudits();
    pair.ended = RunCallsAlone(one, first_is_candidate ? second : first,
                               first_is_candidate ? first : second);
    if (!pair.ended.passed()) return pair;
    extra_us = std::min(extra_us, AloneByVerifier());
  }
  alone_extra_us_ = extra_us;
  return pair;
}

absl::Status DeviceBlockTimer::AddCopy() {
  ASSIGN_OR_RETURN(const absl::Duration copy, bench_.gpu()->copy());
  idle_between_.AddCopy(copy);
  return absl::OkStatus();
}

Ending DeviceBlockTimer::RunBatch(const std::vector<int>& sets, ConfirmationSide* side,
                                  const ConfirmationCase& one, bool oracled) {
  const WorkloadSession::Batch batch = RunOn(sets, side, one, oracled ? 1 : 0);
  if (!batch.ending.passed()) return batch.ending;
  WorkloadSession::Batch audited = batch;
  if (!recorded_) {
    // Calls made one by one include queueing each call and waiting for it.
    double beside_us =
        static_cast<double>(batch.calls - 1) *
        std::max(idle_between_.RoundTripMicros(0.9), idle_before_.RoundTripMicros(0.9));
    for (const double us : batch.host_us) beside_us += us;
    audited.inner += absl::Microseconds(beside_us);
  }
  side->audit.AddBatch(audited);
  double excess_us = LeadInExcess(batch);
  // A lead-in is occasionally long by itself.
  SideState& state = StateOf(*side);
  Block& block = state.block;
  if (excess_us > 0 && block.voided < kMaxVoidBatchesPerBlock) {
    ++block.voided;
    ++state.voided;
    return {};
  }
  // The candidate must not profit from delaying the rival.
  if (!side->is_candidate) excess_us = 0;
  // Subtracts the same trusted amount from both sides, so that differences of short calls show.
  const absl::Duration calls = std::max(batch.audit - side->least_round_trip, batch.audit / 10);
  const double batch_us = absl::ToDoubleMicroseconds(calls) + excess_us;
  block.batch_us.push_back(batch_us / static_cast<double>(batch.calls));
  block.event_us.push_back(absl::ToDoubleMicroseconds(batch.inner) /
                           static_cast<double>(batch.calls));
  block.output_checks.push_back(batch.output_check);
  block.spent_us += batch_us;
  return {};
}

AloneCalls DeviceBlockTimer::NewAloneAudits() const {
  return recorded_ ? AloneCalls(kAloneShare, kAloneAuditMicros)
                   : AloneCalls(kUnrecordedAloneShare, kUnrecordedAloneMicros);
}

// A program can write to the separators' stamps, so that its calls alone seem short. What the
// verifier's clock counts besides them is the same for both sides, and if a busy machine or a
// stopped program makes it longer than this, that shows otherwise (IdlePaces::ShowsBusyDevice).
double DeviceBlockTimer::AloneByVerifier() const {
  return alone_audits_.ExtraMicros(Median(by_verifier_.rival_us), Median(by_verifier_.candidate_us),
                                   absl::ToDoubleMicroseconds(kBusyRoundTrip));
}

double DeviceBlockTimer::ExtraMicrosACall() {
  // The runner cannot report calls of a batch as longer than they were by the verifier's clock.
  const double by_runners = alone_calls_.ExtraMicros(
      Median(by_runners_.rival_us),
      std::min(Median(by_runners_.candidate_us), Median(by_verifier_.candidate_us)));
  return std::max(by_runners, alone_extra_us_) +
         deferred_work_.MicrosPerBatch(calls_of_batch_ * Median(by_verifier_.candidate_us)) /
             calls_of_batch_;
}

std::string DeviceBlockTimer::Summary() const {
  return absl::StrCat(
      "calls=", calls_of_batch_, " turns=", turns_, " recorded=", recorded_,
      " late_inputs=", late_inputs_seen_, " late_us=", deferred_work_.RawMicrosPerBatch(),
      " voided=", states_[0].voided, "+", states_[1].voided,
      " lead_in_us=", idle_before_.LeadInMicros(0.5), "/", idle_between_.LeadInMicros(0.5),
      " copy_us=", idle_before_.CopyMicros(1), "/", idle_between_.CopyMicros(0.9), " ",
      alone_calls_.Summary(), " by_verifier_", alone_audits_.Summary());
}

std::string DeviceBlockTimer::EndLaunch() {
  return idle_between_.ShowsBusyDevice(idle_before_) ? BusyDeviceText(idle_between_, idle_before_)
                                                     : "";
}

Ending DeviceBlockTimer::RunAlone(ConfirmationSide* side, const ConfirmationCase& one) {
  recorded_ = false;  // recordings belong to a process that has ended
  calls_of_batch_ = CallsOfBatch(one, *side, *side);
  Ending ending;
  for (int i = 0; ending.passed() && i < kMaxDeviceBatchesPerBlock; ++i) {
    ending = RunOn(PickSets(*side), side, one, i == 0 ? 1 : 0).ending;
  }
  return ending;
}

}  // namespace ksearch
