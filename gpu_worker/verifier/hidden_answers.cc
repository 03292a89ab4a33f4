#include "gpu_worker/verifier/hidden_answers.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/shuffle.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/tensors/hidden_cases.h"

namespace ksearch {
namespace {

// As float or bfloat16 about 3156, and not a plausible integer, so that sums that include it are
// visibly wrong.
constexpr int kHiddenWorkspaceFill = 0x45;

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

struct PlacedCase {
  size_t index = 0;
  HiddenCase hidden;
};

// Cases of all other workloads, since a program may tell them by their shapes: of each in turn one,
// as many as are cheap. First come those that `had`, the names of cases, lacks.
std::vector<PlacedCase> CasesOfOthers(const v1::Task& task, const std::vector<CasePtr>& cases,
                                      const std::vector<size_t>& chosen,
                                      const std::set<std::string>& had, Rng* rng) {
  std::vector<std::vector<PlacedCase>> others;
  for (size_t i = 0; i < cases.size(); ++i) {
    const v1::Workload* const workload = Find(task, cases[i]->uuid());
    if (workload == nullptr || std::find(chosen.begin(), chosen.end(), i) != chosen.end()) continue;
    std::vector<PlacedCase> placed;
    for (HiddenCase& hidden : HiddenCases(task, *workload, /*largest_too=*/true, rng)) {
      placed.push_back({i, std::move(hidden)});
    }
    Shuffle(&placed, rng);
    std::stable_partition(placed.begin(), placed.end(),
                          [&](const PlacedCase& one) { return had.count(one.hidden.name) == 0; });
    others.push_back(std::move(placed));
  }
  Shuffle(&others, rng);
  std::vector<PlacedCase> taken;
  int64_t bytes = 0;
  bool more = true;
  for (size_t turn = 0; more; ++turn) {
    more = false;
    for (std::vector<PlacedCase>& placed : others) {
      if (turn >= placed.size()) continue;
      bytes += cases[placed[turn].index]->footprint_bytes();
      if (taken.size() == kMostOtherHiddenCases || bytes > kMostOtherHiddenBytes) {
        more = false;
        break;
      }
      taken.push_back(std::move(placed[turn]));
      more = true;
    }
  }
  // A runner maps each workload's buffers once.
  std::stable_sort(taken.begin(), taken.end(),
                   [](const PlacedCase& a, const PlacedCase& b) { return a.index < b.index; });
  return taken;
}

// Computes the reference's answers to hidden cases.
class HiddenCaseAnswerer {
 public:
  HiddenCaseAnswerer(Bench& bench, const v1::Task& task, const std::string& task_sha256,
                     const ProgramImage& reference)
      : bench_(bench), task_(task), task_sha256_(task_sha256), reference_(reference) {}

  // The number of reference runs for `hidden`.
  static int Runs(const HiddenCase& hidden) {
    return 1 + (hidden.sparse ? 1 : 0) + (hidden.guessed ? 1 : 0);
  }

  // Returns true if an earlier answer showed that inputs of this kind are none that the task
  // allows.
  bool IsWrongGuess(const HiddenCase& hidden) const {
    return hidden.guessed && bench_.WasWrongGuess(GuessName(hidden));
  }

  // `usual`, the case of the job, and the reference's answer to it. FailedPrecondition or
  // ResourceExhausted: there is no answer with numbers.
  absl::StatusOr<AnsweredHiddenCase> Answer(HiddenCase hidden, const CasePtr& usual,
                                            const SavedOutputs& usual_outputs) {
    if (hidden.guessed) RETURN_IF_ERROR(TryGuess(hidden));
    const Seed seed = Seed::Fresh();
    ASSIGN_OR_RETURN(Answered with, Ask(hidden.workload, seed));
    if (hidden.guessed) {
      ASSIGN_OR_RETURN(const bool overflowed, MayHaveOverflowed(*with.workload, with.outputs()));
      if (overflowed) return absl::FailedPreconditionError("its integers may have overflowed");
    }
    std::optional<Answered> without;
    if (hidden.sparse) {
      ASSIGN_OR_RETURN(without, Ask(WithoutIslands(hidden.workload), seed));
    }
    AnsweredHiddenCase made;
    made.name = std::move(hidden.name);
    made.usual = usual;
    made.remaps = hidden.remaps;
    made.workload = with.workload->WithTolerance(
        ToleranceFor(*with.workload, usual_outputs, with.outputs(),
                     without.has_value() ? &without->outputs() : nullptr));
    made.oracles[kHiddenVariant] = std::move(with.entry);
    return made;
  }

 private:
  struct Answered {
    CasePtr workload;
    std::shared_ptr<const OracleEntry> entry;
    const SavedOutputs& outputs() const { return *entry->outputs; }
  };

  std::string GuessName(const HiddenCase& hidden) const {
    return absl::StrCat(task_sha256_, "/", hidden.input);
  }

  absl::StatusOr<Answered> Ask(const v1::Workload& workload, const Seed& seed) {
    Answered answered;
    ASSIGN_OR_RETURN(answered.workload, bench_.Case(task_, task_sha256_, workload, seed));
    absl::StatusOr<OracleEntries> entries =
        bench_.oracle().Get(reference_, answered.workload, {kHiddenVariant});
    bench_.oracle().Forget(seed);
    RETURN_IF_ERROR(entries.status());
    answered.entry = entries->at(kHiddenVariant);
    return answered;
  }

  absl::Status TryGuess(const HiddenCase& hidden) {
    const absl::Status tried = Ask(hidden.probe, Seed::Fresh()).status();
    if (absl::IsFailedPrecondition(tried)) bench_.RememberWrongGuess(GuessName(hidden));
    return tried;
  }

  Bench& bench_;
  const v1::Task& task_;
  const std::string& task_sha256_;
  const ProgramImage& reference_;
};

}  // namespace

absl::StatusOr<std::vector<AnsweredHiddenCase>> AnswerHiddenCases(
    Bench& bench, const v1::Task& task, const std::string& task_sha256,
    const ProgramImage& reference, const std::vector<CasePtr>& cases,
    const std::vector<OracleEntries>& oracles) {
  Rng rng(RandomUint64());
  HiddenCaseAnswerer answerer(bench, task, task_sha256, reference);
  std::vector<AnsweredHiddenCase> answered;
  absl::Duration spent;
  const std::vector<size_t> chosen = Chosen(cases, &rng);
  answered.push_back({"unwritten workspace", chosen[0], cases[chosen[0]], cases[chosen[0]],
                      oracles[chosen[0]], kHiddenWorkspaceFill, /*remaps=*/true});
  // Answers one case. Returns false once the time for all hidden cases is used up.
  const auto answer = [&](size_t index, HiddenCase hidden) -> absl::StatusOr<bool> {
    const OracleEntry& usual = *oracles[index].at(0);
    if (answerer.IsWrongGuess(hidden)) return true;
    spent += usual.reference_time * HiddenCaseAnswerer::Runs(hidden);
    if (spent > kHiddenCaseTime) return false;
    const std::string name = hidden.name;
    absl::StatusOr<AnsweredHiddenCase> made =
        answerer.Answer(std::move(hidden), cases[index], *usual.outputs);
    if (absl::IsFailedPrecondition(made.status()) || absl::IsResourceExhausted(made.status())) {
      LOG(INFO) << "msg=\"hidden case left out\" case=\"" << name
                << "\" workload=" << cases[index]->uuid() << " error=\"" << made.status().message()
                << "\"";
      return true;
    }
    RETURN_IF_ERROR(made.status());
    made->index = index;
    answered.push_back(*std::move(made));
    return true;
  };
  std::set<std::string> had;
  for (const size_t index : chosen) {
    const v1::Workload* const workload = Find(task, cases[index]->uuid());
    if (workload == nullptr) continue;
    // Checks that look at parts of a row find something only if there are several parts.
    const bool largest_too = index != chosen[0];
    for (HiddenCase& hidden : HiddenCases(task, *workload, largest_too, &rng)) {
      had.insert(hidden.name);
      ASSIGN_OR_RETURN(const bool in_time, answer(index, std::move(hidden)));
      if (!in_time) break;
    }
  }
  for (PlacedCase& one : CasesOfOthers(task, cases, chosen, had, &rng)) {
    ASSIGN_OR_RETURN(const bool in_time, answer(one.index, std::move(one.hidden)));
    if (!in_time) break;
  }
  return answered;
}

}  // namespace ksearch
