#include "gpu_worker/verifier/hidden_check.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/tensors/hidden_cases.h"
#include "gpu_worker/verifier/timing/sampler.h"

namespace ksearch {
namespace {

// As float or bfloat16 about 3156, no sensible integer: what is added up of it shows.
constexpr int kHiddenWorkspaceFill = 0x45;
// On processors before the call that is compared: at most so many calls, and no more after so long.
constexpr int kMostCallsBeforeHidden = 200;
constexpr absl::Duration kCallsBeforeHiddenTime = absl::Milliseconds(100);

// The variant that has an oracle.
constexpr int64_t kCompared = 0;

using CasePtr = std::shared_ptr<const WorkloadCase>;

std::vector<double> SquaresOf(const WorkloadCase& workload, const SavedOutputs& outputs) {
  std::vector<double> squares;
  for (const TensorComparison& compared : outputs.CompareWith(workload, outputs)) {
    squares.push_back(compared.oracle_squares);
  }
  return squares;
}

// The largest share of elements of an output in which the two differ by more than is tolerated.
double AffectedShare(const WorkloadCase& workload, const SavedOutputs& without,
                     const SavedOutputs& with) {
  const std::vector<TensorComparison> compared = without.CompareWith(workload, with);
  double share = 0;
  for (size_t i = 0; i < compared.size(); ++i) {
    const TensorArgument& tensor = workload.tensors()[static_cast<size_t>(workload.inputs()) + i];
    if (tensor.elements == 0) continue;
    share = std::max(share,
                     static_cast<double>(compared[i].wrong) / static_cast<double>(tensor.elements));
  }
  return share;
}

// `without`: of a sparse case, the answer to the same inputs without their unusual places.
v1::Tolerance ToleranceFor(const WorkloadCase& workload, const SavedOutputs& usual,
                           const SavedOutputs& hidden, const SavedOutputs* without) {
  const std::vector<double> before = SquaresOf(workload, usual);
  const std::vector<double> now = SquaresOf(workload, hidden);
  double growth = 1;
  bool all_zero = false;
  for (size_t i = 0; i < now.size(); ++i) {
    all_zero = all_zero || now[i] == 0;
    if (before[i] > 0) growth = std::max(growth, std::sqrt(now[i] / before[i]));
  }
  v1::Tolerance tolerance = HiddenTolerance(workload.tolerance(), growth, all_zero);
  if (without == nullptr) return tolerance;
  return SparseTolerance(workload.tolerance(), growth, all_zero,
                         AffectedShare(*workload.WithTolerance(tolerance), *without, hidden));
}

// The same without the few places.
v1::Workload WithoutIslands(v1::Workload workload) {
  for (v1::InputRecipe& recipe : *workload.mutable_inputs()) {
    if (recipe.has_random()) recipe.mutable_random()->clear_islands();
  }
  return workload;
}

const v1::Workload* Find(const v1::Task& task, const std::string& uuid) {
  for (const v1::Workload& workload : task.workloads()) {
    if (workload.uuid() == uuid) return &workload;
  }
  return nullptr;
}

// The smallest and another one.
std::vector<size_t> Chosen(const std::vector<CasePtr>& cases, Rng* rng) {
  size_t smallest = 0;
  for (size_t i = 1; i < cases.size(); ++i) {
    if (cases[i]->footprint_bytes() < cases[smallest]->footprint_bytes()) smallest = i;
  }
  std::vector<size_t> chosen = {smallest};
  if (cases.size() > 1) {
    const size_t other = rng->NextBelow(cases.size() - 1);
    chosen.push_back(other < smallest ? other : other + 1);
  }
  return chosen;
}

// A program that minds its inputs only until it is timed must not know how long that is: neither
// the sets that it was shown, nor the calls before, nor those in a batch tell which call is
// compared. All have inputs of the hidden kind. Few calls before it are as likely as many, so that
// a program that becomes careless after some number of calls is found now and then.
Ending RunAmongOthers(const Bench& bench, WorkloadSession& session, int sets,
                      const AnsweredHiddenCase& hidden, const WorkloadSession::Limits& limits) {
  Rng rng(RandomUint64());
  CallDealer dealer(sets, {kCompared}, Rng(rng.Next()));
  const auto draw_calls = [&] {
    return 1 + static_cast<int>(rng.NextBelow(static_cast<uint64_t>(sets)));
  };
  const double before = std::exp(rng.NextDouble() * std::log(kMostCallsBeforeHidden + 1.0)) - 1;
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

absl::StatusOr<std::vector<AnsweredHiddenCase>> AnswerHiddenCases(
    Bench& bench, const v1::Task& task, const std::string& task_sha256,
    const ProgramImage& reference, const std::vector<CasePtr>& cases,
    const std::vector<OracleEntries>& oracles) {
  Rng rng(RandomUint64());
  std::vector<AnsweredHiddenCase> answered;
  absl::Duration spent;
  const std::vector<size_t> chosen = Chosen(cases, &rng);
  answered.push_back({"unwritten workspace", chosen[0], cases[chosen[0]], cases[chosen[0]],
                      oracles[chosen[0]], kHiddenWorkspaceFill, /*remaps=*/true});
  const auto answer = [&](const v1::Workload& workload, const Seed& seed,
                          CasePtr* made) -> absl::StatusOr<std::shared_ptr<const OracleEntry>> {
    ASSIGN_OR_RETURN(*made, bench.Case(task, task_sha256, workload, seed));
    absl::StatusOr<OracleEntries> entries = bench.oracle().Get(reference, *made, {kCompared});
    bench.oracle().Forget(seed);
    RETURN_IF_ERROR(entries.status());
    return entries->at(kCompared);
  };
  for (const size_t index : chosen) {
    const v1::Workload* const workload = Find(task, cases[index]->uuid());
    const OracleEntry& usual = *oracles[index].at(0);
    if (workload == nullptr) continue;
    // What looks at parts of a row only shows where there are several.
    const bool largest_too = index != chosen[0];
    for (HiddenCase& hidden : HiddenCases(task, *workload, largest_too, &rng)) {
      const std::string guess = absl::StrCat(task_sha256, "/", hidden.input);
      if (hidden.guessed && bench.WasWrongGuess(guess)) continue;
      spent += usual.reference_time * (1 + (hidden.sparse ? 1 : 0) + (hidden.guessed ? 1 : 0));
      if (spent > kHiddenCaseTime) break;
      AnsweredHiddenCase made;
      made.name = std::move(hidden.name);
      made.index = index;
      made.usual = cases[index];
      made.remaps = hidden.remaps;
      const Seed seed = Seed::Fresh();
      absl::Status taken;
      if (hidden.guessed) {
        CasePtr probe;
        taken = answer(hidden.probe, Seed::Fresh(), &probe).status();
        if (absl::IsFailedPrecondition(taken)) bench.RememberWrongGuess(guess);
      }
      absl::StatusOr<std::shared_ptr<const OracleEntry>> with =
          taken.ok() ? answer(hidden.workload, seed, &made.workload)
                     : absl::StatusOr<std::shared_ptr<const OracleEntry>>(taken);
      std::shared_ptr<const OracleEntry> without;
      if (with.ok() && hidden.guessed) {
        ASSIGN_OR_RETURN(const bool overflowed,
                         MayHaveOverflowed(*made.workload, *(*with)->outputs));
        if (overflowed) with = absl::FailedPreconditionError("its integers may have overflowed");
      }
      if (with.ok() && hidden.sparse) {
        CasePtr usual_places;
        auto answered_without = answer(WithoutIslands(hidden.workload), seed, &usual_places);
        if (answered_without.ok()) {
          without = *std::move(answered_without);
        } else {
          with = answered_without.status();
        }
      }
      if (absl::IsFailedPrecondition(with.status()) || absl::IsResourceExhausted(with.status())) {
        LOG(INFO) << "msg=\"hidden case left out\" case=\"" << made.name
                  << "\" workload=" << workload->uuid() << " error=\"" << with.status().message()
                  << "\"";
        continue;
      }
      RETURN_IF_ERROR(with.status());
      made.workload = made.workload->WithTolerance(
          ToleranceFor(*made.workload, *usual.outputs, *(*with)->outputs,
                       without == nullptr ? nullptr : without->outputs.get()));
      made.oracles[kCompared] = *std::move(with);
      answered.push_back(std::move(made));
    }
  }
  return answered;
}

bool IsAmongOthers(Bench& bench, const AnsweredHiddenCase& hidden) {
  return bench.gpu() == nullptr && hidden.workspace_fill == 0;
}

absl::StatusOr<Ending> CheckHiddenCase(Bench& bench, RunnerLink& link,
                                       const AnsweredHiddenCase& hidden,
                                       const WorkloadSession::Limits& limits) {
  const bool among_others = IsAmongOthers(bench, hidden);
  const int sets = among_others ? bench.HostConfirmationSets(*hidden.workload) : 1;
  // The buffers of timed calls, which are of the same sizes.
  ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> buffers,
                   bench.Buffers(hidden.usual, sets, among_others ? "side0" : "gate"));
  buffers->SetCase(hidden.workload);
  WorkloadSession session(link, hidden.workload, std::move(buffers), bench.clock(), RandomUint64());
  Ending ending = session.Map(sets, limits, hidden.workspace_fill);
  if (ending.passed() && among_others) {
    ending = RunAmongOthers(bench, session, sets, hidden, limits);
  } else if (ending.passed()) {
    ending =
        session.Run({{0, kCompared}}, WorkloadSession::Mode::kGate, hidden.oracles, limits).ending;
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
