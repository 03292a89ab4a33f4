#include "gpu_worker/verifier/hidden_check.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/timing/sampler.h"

namespace ksearch {
namespace {

// Before the call that is compared: at most so many calls, and no more after so long. On a GPU,
// where hidden inputs come among timed calls too, so many that a program that remembers what it
// computed has something to remember.
constexpr int kMostCallsBeforeHidden = 200;
constexpr int kMostDeviceCallsBeforeHidden = 8;
constexpr absl::Duration kCallsBeforeHiddenTime = absl::Milliseconds(100);

// A program that minds its inputs only until it is timed must not know how long that is: neither
// the sets that it was shown, nor the calls before, nor those in a batch tell which call is
// compared. All have inputs of the hidden kind. Few calls before it are as likely as many, so that
// a program that becomes careless after some number of calls is found now and then.
Ending RunAmongOthers(const Bench& bench, WorkloadSession& session, int sets,
                      const AnsweredHiddenCase& hidden, const WorkloadSession::Limits& limits) {
  Rng rng(RandomUint64());
  CallDealer dealer(sets, {kHiddenVariant}, Rng(rng.Next()));
  const auto draw_calls = [&] {
    return 1 + static_cast<int>(rng.NextBelow(static_cast<uint64_t>(sets)));
  };
  const int most = bench.gpu() != nullptr ? kMostDeviceCallsBeforeHidden : kMostCallsBeforeHidden;
  const double before = std::exp(rng.NextDouble() * std::log(most + 1.0)) - 1;
  const absl::Time end = bench.clock().SteadyNow() + kCallsBeforeHiddenTime;
  double done = 0;
  while (done + 1 <= before && bench.clock().SteadyNow() < end) {
    const int calls = std::min(draw_calls(), static_cast<int>(before - done));
    const WorkloadSession::Batch batch =
        session.Run(dealer.Deal(calls, 0), WorkloadSession::Mode::kGate, {}, limits);
    if (!batch.ending.passed()) return batch.ending;
    done += static_cast<double>(batch.calls);
  }
  return session
      .Run(dealer.Deal(draw_calls(), 1), WorkloadSession::Mode::kGate, hidden.oracles, limits)
      .ending;
}

}  // namespace

bool IsLikeTimed(Bench& bench, const AnsweredHiddenCase& hidden) {
  return bench.gpu() == nullptr && hidden.workspace_fill == 0;
}

absl::StatusOr<Ending> CheckHiddenCase(Bench& bench, RunnerLink& link,
                                       const AnsweredHiddenCase& hidden,
                                       const WorkloadSession::Limits& limits) {
  const bool like_timed = IsLikeTimed(bench, hidden);
  const int sets = like_timed ? bench.HostConfirmationSets(*hidden.workload) : 1;
  // The buffers of timed calls, which are of the same sizes.
  ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> buffers,
                   bench.Buffers(hidden.usual, sets, like_timed ? "side0" : "gate"));
  buffers->SetCase(hidden.workload);
  WorkloadSession session(link, hidden.workload, std::move(buffers), bench.clock(), RandomUint64());
  Ending ending = session.Map(sets, limits, hidden.workspace_fill);
  if (ending.passed() && hidden.workspace_fill == 0) {
    ending = RunAmongOthers(bench, session, sets, hidden, limits);
  } else if (ending.passed()) {
    ending =
        session.Run({{0, kHiddenVariant}}, WorkloadSession::Mode::kGate, hidden.oracles, limits)
            .ending;
  }
  if (const auto& seen = session.correctness(); seen.has_value()) {
    LOG(INFO) << "msg=\"hidden case\" case=\"" << hidden.name
              << "\" workload=" << hidden.workload->uuid() << " matched=" << seen->matched_ratio()
              << " rms_ratio=" << seen->rms_error_ratio()
              << " of=" << hidden.workload->tolerance().max_rms_error_ratio();
  }
  if (!ending.passed()) {
    ending.message = absl::StrCat("hidden case '", hidden.name, "': ", ending.message);
  }
  return ending;
}

}  // namespace ksearch
