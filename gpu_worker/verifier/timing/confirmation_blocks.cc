// Blocks of a confirmation: how each side's calls are made and timed.
#include <algorithm>
#include <cmath>

#include "common/textproto.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/confirmation_side.h"

namespace ksearch {

// As many calls a GO on both sides, so that what a GO costs beside them is shared by as many.
int Confirmation::CallsOfGo(const ConfirmationCase& one, const Side& a, const Side& b) const {
  const double slower = std::max(a.call_us, b.call_us);
  const double calls = std::ceil(kConfirmGoMicros / std::max(slower, 0.1));
  return static_cast<int>(std::clamp<double>(calls, 1, ConfirmationSets(bench_, *one.workload)));
}

// Both sides alike: replays of graphs and calls one by one give numbers of different meaning.
Ending Confirmation::ChooseWay(const ConfirmationCase& one, Side* a, Side* b, Side** failed) {
  const bool graphs = graphs_allowed_ && (a->warm.wants_graph() || b->warm.wants_graph());
  std::vector<std::vector<int>> orders;
  if (graphs) orders = OrdersOfGraphs(*a->dealer, 0, kConfirmGraphs, CallsOfGo(one, *a, *b));
  for (Side* side : {a, b}) {
    if (!graphs) break;
    SessionCalls calls(*side->session, one.oracles, limits_);
    side->graphs = RecordGraphs(calls, *side->dealer, orders);
    *failed = side;
    if (!side->graphs.ending.passed()) return side->graphs.ending;
    if (side->graphs.spoiled) graphs_allowed_ = false;
  }
  if (a->graphs.sets.empty() || b->graphs.sets.empty()) {
    a->graphs.sets.clear();
    b->graphs.sets.clear();
  }
  return {};
}

Confirmation::Turn Confirmation::PickTurn(const Side& side) {
  // Not Deal, which stops at the end of a round.
  if (side.graphs.sets.empty()) return {0, side.dealer->PickSets(side.calls_of_go)};
  const auto graph = static_cast<size_t>(side.dealer->rng().NextBelow(side.graphs.sets.size()));
  return {graph, side.graphs.sets[graph]};
}

WorkloadSession::Batch Confirmation::RunTurn(Side* side, const ConfirmationCase& one,
                                             const Turn& turn, int oracled) {
  const bool replay = !side->graphs.sets.empty();
  const WorkloadSession::Go go = {replay ? v1::GoRequest::REPLAY : v1::GoRequest::FREE,
                                  static_cast<int>(turn.graph), true};
  return side->session->Run(side->dealer->DealTo(turn.sets, oracled), WorkloadSession::Mode::kTimed,
                            go, one.oracles, limits_);
}

// Of the candidate: calls one by one, each looked over before the next is prepared, so that work
// put off to a later call is missing.
Ending Confirmation::LockStep(Side* side, const ConfirmationCase& one) {
  for (int i = 0; i < kLockStepCalls; ++i) {
    const WorkloadSession::Batch batch =
        side->session->Run(side->dealer->Deal(1, 0), WorkloadSession::Mode::kTimed,
                           {v1::GoRequest::FREE, 0}, one.oracles, limits_);
    if (!batch.ending.passed()) return batch.ending;
  }
  return {};
}

Ending Confirmation::RunBlock(Side* side, const ConfirmationCase& one, int blocks_left,
                              double* us_per_call) {
  // Spreads the oracles over the blocks at random.
  const bool oracled = side->dealer->rng().NextBelow(static_cast<uint64_t>(blocks_left)) <
                       static_cast<uint64_t>(side->dealer->oracled_left());
  const double block_us = absl::ToDoubleMicroseconds(FromProto(plan_.min_block_time()));
  double spent_us = 0;
  size_t calls_done = 0;
  for (int go = 0; go < kMaxGosPerBlock && (go == 0 || spent_us < block_us); ++go) {
    const double missing = (block_us - spent_us) / std::max(side->call_us, 1e-3);
    const int calls = static_cast<int>(std::ceil(std::clamp<double>(missing, 1, kMaxSets)));
    const WorkloadSession::Batch batch =
        side->session->Run(side->dealer->Deal(calls, go == 0 && oracled ? 1 : 0),
                           WorkloadSession::Mode::kTimed, one.oracles, limits_);
    if (!batch.ending.passed()) return batch.ending;
    side->audit.AddGo(batch);
    // The same, trusted amount for both sides, so that short calls show.
    spent_us += absl::ToDoubleMicroseconds(
        std::max(batch.audit - side->least_round_trip, batch.audit / 10));
    calls_done += batch.calls;
  }
  *us_per_call = spent_us / static_cast<double>(calls_done);
  return {};
}

// The sides take turns from GO to GO: what a switch of contexts costs drifts.
Ending Confirmation::RunDeviceBlocks(Side* first, Side* second, const ConfirmationCase& one,
                                     int blocks_left, Side** failed) {
  const double block_us =
      kEnoughOfBlock * absl::ToDoubleMicroseconds(FromProto(plan_.min_block_time()));
  for (Side* side : {first, second}) {
    // Spreads the oracles over the blocks, and over a block's GOs as far as their number is known,
    // at random: which GO is compared must not show.
    const uint64_t usual_gos = std::max<size_t>(side->go_us.size(), 1);
    Rng& rng = side->dealer->rng();
    const bool oracled = rng.NextBelow(static_cast<uint64_t>(blocks_left)) <
                         static_cast<uint64_t>(side->dealer->oracled_left());
    side->oracle_go = oracled ? static_cast<int>(rng.NextBelow(usual_gos)) : -1;
    side->go_us.clear();
    side->event_us.clear();
    side->look_overs.clear();
    side->spent_us = 0;
    side->voided = 0;
  }
  const auto wants_more = [&](const Side& side) {
    return side.go_us.empty() ||
           (side.spent_us < block_us && side.go_us.size() < kMaxDeviceGosPerBlock);
  };
  while (wants_more(*first) || wants_more(*second)) {
    const Turn turn = PickTurn(*first);
    for (Side* side : {first, second}) {
      *failed = side;
      const size_t had = side->go_us.size();
      while (side->go_us.size() == had) {
        Ending ending = RunDeviceGo(side, one, turn, static_cast<int>(had) == side->oracle_go);
        if (!ending.passed()) return ending;
      }
    }
    std::swap(first, second);
  }
  return {};
}

Ending Confirmation::RunDeviceGo(Side* side, const ConfirmationCase& one, const Turn& turn,
                                 bool oracled) {
  const WorkloadSession::Batch batch = RunTurn(side, one, turn, oracled ? 1 : 0);
  if (!batch.ending.passed()) return batch.ending;
  side->audit.AddGo(batch);
  // In its lead-in a hostile runner could begin with work.
  // It takes longer with more processes on the device, but not whatever they please.
  const double alone_us = alone_.LeadInMicros(0.5);
  const double usual_us =
      std::clamp(between_.LeadInMicros(0.5), alone_us, kMaxCrowdedLeadIn * alone_us);
  double excess_us =
      std::max(0.0, absl::ToDoubleMicroseconds(batch.lead_in) - kMaxLeadIn * usual_us);
  // Now and then it takes long by itself.
  if (excess_us > 0 && side->voided < kMaxVoidGosPerBlock) {
    ++side->voided;
    ++side->all_voided;
    return {};
  }
  // The rival cannot be held up to the candidate's profit.
  if (!side->is_candidate) excess_us = 0;
  // The same, trusted amount for both sides, so that short calls show.
  const absl::Duration calls = std::max(batch.audit - side->least_round_trip, batch.audit / 10);
  const double go_us = absl::ToDoubleMicroseconds(calls) + excess_us;
  side->go_us.push_back(go_us / static_cast<double>(batch.calls));
  side->event_us.push_back(absl::ToDoubleMicroseconds(batch.inner) /
                           static_cast<double>(batch.calls));
  side->look_overs.push_back(batch.look_over);
  side->spent_us += go_us;
  return {};
}

}  // namespace ksearch
