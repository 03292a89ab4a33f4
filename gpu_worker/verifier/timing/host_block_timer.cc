#include "gpu_worker/verifier/timing/host_block_timer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/hidden_batch.h"
#include "gpu_worker/verifier/timing/late_batch.h"

namespace ksearch {
namespace {

// The factor by which a candidate may claim to be slower than its rival before a block was timed.
constexpr double kMaxSlower = 8;

}  // namespace

int HostBlockTimer::Sets(const WorkloadCase& workload) const {
  return bench_.HostConfirmationSets(workload);
}

absl::Status HostBlockTimer::BeginLaunch(int) { return absl::OkStatus(); }

bool HostBlockTimer::RivalFirst(int turn, int) const { return turn % 2 == 0; }

Ending HostBlockTimer::OpenSide(ConfirmationSide* side, const ConfirmationCase&) {
  return WarmUp(*side->session, *side->dealer, kConfirmWarmUpCalls, kHostConfirmWarmUpTime, limits_,
                bench_.clock(), &side->call_us);
}

// There is only one way.
SideEnding HostBlockTimer::Choose(const ConfirmationCase&, ConfirmationSide*, ConfirmationSide*,
                                  bool*) {
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
  for (ConfirmationSide* side : {first, second}) {
    Ending ending = RunBlock(side, one, calls, pairs_left,
                             side->is_candidate ? &pair.candidate_us : &pair.rival_us);
    pair.ended = {std::move(ending), side};
    // After the side's own block, so that the other's comes next whatever these calls leave behind.
    if (pair.ended.passed()) {
      pair.ended.ending = MaybeRunLateBatch(side, calls, {}, pairs_left, limits_);
    }
    if (pair.ended.passed()) {
      pair.ended.ending = MaybeRunHiddenBatch(side, calls, {}, pairs_left, limits_);
    }
    if (!pair.ended.passed()) return pair;
  }
  candidate->call_us = pair.candidate_us;
  return pair;
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
  // Spreads the oracles over the blocks at random.
  const bool oracled = side->dealer->rng().NextBelow(static_cast<uint64_t>(blocks_left)) <
                       static_cast<uint64_t>(side->dealer->oracled_left());
  const double block_us = absl::ToDoubleMicroseconds(FromProto(plan_.min_block_time()));
  double spent_us = 0;
  size_t calls_done = 0;
  for (int i = 0; i < kMaxBatchesPerBlock && (i == 0 || spent_us < block_us); ++i) {
    const std::vector<int> sets =
        side->dealer->PickSets(std::min(calls, side->dealer->most_calls()));
    const WorkloadSession::Batch batch =
        side->session->Run(side->dealer->DealTo(sets, i == 0 && oracled ? 1 : 0),
                           WorkloadSession::Mode::kTimed, one.oracles, limits_);
    if (!batch.ending.passed()) return batch.ending;
    side->audit.AddBatch(batch);
    // The same, trusted amount for both sides, so that short calls show.
    spent_us += absl::ToDoubleMicroseconds(
        batch.head_start + std::max(batch.audit - side->least_round_trip, batch.audit / 10));
    calls_done += batch.calls;
  }
  *us_per_call = spent_us / static_cast<double>(calls_done);
  return {};
}

Ending HostBlockTimer::RunAlone(ConfirmationSide* side, const ConfirmationCase& one) {
  double us_per_call = 0;
  side->least_round_trip = absl::ZeroDuration();
  return RunBlock(side, one, CallsPerBatch(side->call_us, &side->dealer->rng()), 1, &us_per_call);
}

}  // namespace ksearch
