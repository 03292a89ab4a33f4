#include "gpu_worker/verifier/timing/host_block_timer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/hidden_batch.h"
#include "gpu_worker/verifier/timing/late_batch.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {
namespace {

// The factor by which a candidate may claim to be slower than its rival before a block was timed.
constexpr double kMaxSlower = 8;

}  // namespace

int HostBlockTimer::Sets(const WorkloadCase& workload) const {
  return bench_.HostConfirmationSets(workload);
}

absl::Status HostBlockTimer::BeginLaunch(int launch) {
  launch_ = launch;
  return absl::OkStatus();
}

bool HostBlockTimer::RivalFirst(int turn, int) const { return turn % 2 == 0; }

Ending HostBlockTimer::OpenSide(ConfirmationSide* side, const ConfirmationCase&) {
  return WarmUp(*side->session, *side->dealer, kConfirmWarmUpCalls, kHostConfirmWarmUpTime, limits_,
                bench_.clock(), &side->call_us);
}

// There is only one way.
SideEnding HostBlockTimer::Choose(const ConfirmationCase& one, ConfirmationSide*, ConfirmationSide*,
                                  bool*) {
  in_turn_ = InTurnTimes();
  alone_ = AloneCalls(kHostAloneShare, kHostAloneMicros);
  batches_took_ = other_threads_ = absl::ZeroDuration();
  in_batch_ = SideTimes();
  extra_us_ = &all_extra_us_[one.workload->key()];
  latest_extra_us_.reset();
  return {};
}

absl::StatusOr<absl::Duration> HostBlockTimer::RoundTrip() { return bench_.metronome().Tick(); }

absl::StatusOr<BlockTimer::Pair> HostBlockTimer::RunPair(const ConfirmationCase& one,
                                                         ConfirmationSide* first,
                                                         ConfirmationSide* second, int pairs_left) {
  Pair pair;
  // Batches of both sides are alike: what a batch costs beside its calls must not fall on more
  // calls of one side. A candidate could be slow in its warm-up, or say so, to have batches of few
  // calls, where it would gain by what happens around them: that makes one block of a launch at
  // most.
  ConfirmationSide* const candidate = first->is_candidate ? first : second;
  const double rival_us = (first->is_candidate ? second : first)->call_us;
  const double slower_us = std::max(rival_us, std::min(candidate->call_us, kMaxSlower * rival_us));
  const int calls = CallsPerBatch(slower_us, &first->dealer->rng());
  // A program knows how long the other side had its turn, and so where a block begins and, about,
  // where it ends: batches that are checked come before the block or after it. On both sides alike,
  // as a block that follows calls of its own side is faster.
  CallDealer& dealer = *first->dealer;
  const bool has_late = dealer.IsTheOne(pairs_left), has_hidden = dealer.IsTheOne(pairs_left);
  const bool checked_first = dealer.IsTheOne(2);
  const auto run_checked = [&](ConfirmationSide* side) {
    Ending ending;
    if (has_late) ending = MaybeRunLateBatch(side, calls, {}, limits_);
    if (has_hidden && ending.passed()) ending = MaybeRunHiddenBatch(side, calls, {}, limits_);
    return ending;
  };
  for (ConfirmationSide* side : {first, second}) {
    pair.ended.side = side;
    if (checked_first) pair.ended.ending = run_checked(side);
    if (pair.ended.passed()) {
      pair.ended.ending = RunBlock(side, one, calls, pairs_left,
                                   side->is_candidate ? &pair.candidate_us : &pair.rival_us);
    }
    if (!checked_first && pair.ended.passed()) pair.ended.ending = run_checked(side);
    if (!pair.ended.passed()) return pair;
  }
  candidate->call_us = pair.candidate_us;
  in_batch_.Add(/*of_candidate=*/false, pair.rival_us);
  in_batch_.Add(/*of_candidate=*/true, pair.candidate_us);
  // A candidate that is no faster than its rival gains nothing by working ahead.
  if (pairs_left == 1 && Median(in_batch_.candidate_us) < Median(in_batch_.rival_us)) {
    pair.ended = RunCallsApart(first, second, one, calls);
  }
  return pair;
}

SideEnding HostBlockTimer::RunCallsApart(ConfirmationSide* first, ConfirmationSide* second,
                                         const ConfirmationCase& one, int calls) {
  double longer_us = std::numeric_limits<double>::infinity();
  clearly_longer_us_ = longer_us;
  // Other programs of this machine disturb a few calls, but hardly all three times.
  for (int tries = 0; tries < kApartTries && clearly_longer_us_ > 0; ++tries) {
    in_turn_ = InTurnTimes();
    alone_ = AloneCalls(kHostAloneShare, kHostAloneMicros);
    SideEnding ended = RunCallsInTurn(first, second, one, calls);
    if (ended.passed() && in_turn_.empty()) ended = RunCallsAlone(first, second, one, calls);
    if (!ended.passed()) return ended;
    if (in_turn_.empty() && alone_.empty()) return {};  // one call a batch
    longer_us = std::min(longer_us, LongerApart(Median(in_batch_.rival_us)));
    clearly_longer_us_ = std::min(clearly_longer_us_, ClearlyLongerApart());
  }
  extra_us_->push_back(longer_us);
  latest_extra_us_ = longer_us;
  return {};
}

double HostBlockTimer::LongerApart(double rival_us) const {
  const double candidate_us = Median(in_batch_.candidate_us);
  // Where a call alone wakes the runner, the rival pays for that too, however long it takes on a
  // busy machine.
  return in_turn_.empty()
             ? alone_.ExtraMicros(rival_us, candidate_us, std::numeric_limits<double>::infinity())
             : in_turn_.ExtraMicros(rival_us, candidate_us);
}

double HostBlockTimer::ClearlyLongerApart() const {
  // Other programs disturb blocks, too, and only ever make them longer.
  const double rival_us = Quantile(in_batch_.rival_us, 0);
  const double candidate_us = Median(in_batch_.candidate_us);
  const double longer_us =
      in_turn_.empty() ? LongerApart(rival_us) : in_turn_.LongerMicros(rival_us, candidate_us);
  return longer_us > kClearlyApartShare * candidate_us + kClearlyApartMicros ? longer_us : 0;
}

SideEnding HostBlockTimer::RunCallsInTurn(ConfirmationSide* first, ConfirmationSide* second,
                                          const ConfirmationCase& one, int calls) {
  const double longest_us = std::max(Median(in_batch_.rival_us), Median(in_batch_.candidate_us));
  const double spare_cores = static_cast<double>(std::thread::hardware_concurrency()) - 2;
  if (calls < 2 || longest_us > kMostInTurnMicros ||
      other_threads_ > std::max(kMostOtherThreads, spare_cores) * batches_took_) {
    return {};
  }
  // This process keeps a second copy of their inputs meanwhile.
  const auto fit =
      static_cast<int>(kMostInTurnBytes / std::max<int64_t>(1, one.workload->footprint_bytes()));
  calls = std::min(calls, fit);
  if (calls < 2) return {};
  const int batches = std::min((kInTurnCalls + calls - 1) / calls, kMostInTurnBatches);
  const auto kept =
      static_cast<int>(first->dealer->rng().NextBelow(static_cast<uint64_t>(batches)));
  for (int i = 0; i < batches; ++i) {
    for (ConfirmationSide* side : {first, second}) {
      const std::vector<int> sets =
          side->dealer->PickSets(std::min(calls, side->dealer->most_calls()));
      WorkloadSession::TimesInTurn made = side->session->RunInTurn(
          side->dealer->DealTo(sets, side->dealer->oracled_left() > 0 ? 1 : 0), one.oracles,
          limits_, i == kept);
      if (!made.ending.passed()) return {std::move(made.ending), side};
      for (const double us : made.us) in_turn_.Add(side->is_candidate, us);
    }
  }
  return {};
}

SideEnding HostBlockTimer::RunCallsAlone(ConfirmationSide* first, ConfirmationSide* second,
                                         const ConfirmationCase& one, int calls) {
  // With one call a batch, the blocks' calls were alone.
  if (calls < 2) return {};
  // All threads of the program run again when the call begins, as within a batch; its inputs come
  // after that.
  WorkloadSession::BatchForm form;
  form.lead_in = form.inputs_last = true;
  const int most = launch_ == 0 ? 2 * kHostAloneCalls : kHostAloneCalls;
  for (int i = 0; i < std::min(2 * calls, most); ++i) {
    for (ConfirmationSide* side : {first, second}) {
      // The oracles that the blocks left over: these calls must be right, too.
      const WorkloadSession::Batch batch = side->session->Run(
          side->dealer->DealTo(side->dealer->PickSets(1), side->dealer->oracled_left() > 0 ? 1 : 0),
          WorkloadSession::Mode::kTimed, form, one.oracles, limits_);
      if (!batch.ending.passed()) return {batch.ending, side};
      // Few calls: one that another program of this machine delayed counts much.
      const absl::Duration took = batch.head_start + batch.audit - batch.waited_for_others;
      alone_.Add(side->is_candidate, absl::ToDoubleMicroseconds(took));
    }
  }
  return {};
}

double HostBlockTimer::ExtraMicrosACall() {
  if (!latest_extra_us_.has_value()) return 0;
  // What is not clear may be chance, so the median of all launches counts. But a program could work
  // ahead on another workload in each process, and never in most launches of one.
  return std::max(clearly_longer_us_, Median(*extra_us_));
}

std::string HostBlockTimer::Summary() const {
  if (!latest_extra_us_.has_value()) return "";
  return absl::StrCat(in_batch_.Summary("in_batch_us", 0.5), " ",
                      in_turn_.empty() ? alone_.Summary() : in_turn_.Summary(),
                      " other_threads=", absl::FDivDuration(other_threads_, batches_took_),
                      " extra_us=", *latest_extra_us_, " clearly=", clearly_longer_us_);
}

// Waking a runner takes as long as some calls: a batch has all that a block needs, as far as there
// are sets. Up to a quarter less, so that its length tells nothing.
int HostBlockTimer::CallsPerBatch(double call_us, Rng* rng) const {
  const double needed =
      absl::ToDoubleMicroseconds(FromProto(plan_.min_block_time())) / std::max(call_us, 1e-3);
  const double drawn = 1 - rng->NextDouble() / 4;
  return static_cast<int>(std::ceil(std::min<double>(needed, kMaxSets) * drawn));
}

Ending HostBlockTimer::RunBlock(ConfirmationSide* side, const ConfirmationCase& one, int calls,
                                int blocks_left, double* us_per_call) {
  // Spreads the oracles at random over the blocks and the calls alone.
  const bool oracled = side->dealer->rng().NextBelow(static_cast<uint64_t>(blocks_left) + 1) <
                       static_cast<uint64_t>(side->dealer->oracled_left());
  // And over a block's batches, as far as their number is known: a program must not know which
  // batch is compared.
  int& batches = batches_of_block_[one.workload->key()];
  const int oracle_batch = oracled ? static_cast<int>(side->dealer->rng().NextBelow(
                                         static_cast<uint64_t>(std::max(batches, 1))))
                                   : -1;
  const double block_us = absl::ToDoubleMicroseconds(FromProto(plan_.min_block_time()));
  double spent_us = 0;
  size_t calls_done = 0;
  int done = 0;
  for (; done < kMaxBatchesPerBlock && (done == 0 || spent_us < block_us); ++done) {
    const std::vector<int> sets =
        side->dealer->PickSets(std::min(calls, side->dealer->most_calls()));
    const WorkloadSession::Batch batch =
        side->session->Run(side->dealer->DealTo(sets, done == oracle_batch ? 1 : 0),
                           WorkloadSession::Mode::kTimed, one.oracles, limits_);
    if (!batch.ending.passed()) return batch.ending;
    side->audit.AddBatch(batch);
    // The same, trusted amount less for both sides, so that short calls show.
    spent_us += absl::ToDoubleMicroseconds(
        batch.head_start + std::max(batch.audit - side->least_round_trip, batch.audit / 10));
    calls_done += batch.calls;
    batches_took_ += batch.audit;
    other_threads_ += batch.other_threads;
  }
  batches = done;
  *us_per_call = spent_us / static_cast<double>(calls_done);
  return {};
}

Ending HostBlockTimer::RunAlone(ConfirmationSide* side, const ConfirmationCase& one) {
  double us_per_call = 0;
  side->least_round_trip = absl::ZeroDuration();
  return RunBlock(side, one, CallsPerBatch(side->call_us, &side->dealer->rng()), 1, &us_per_call);
}

}  // namespace ksearch
