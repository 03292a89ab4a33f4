#include "gpu_worker/verifier/sampling_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/digest.h"
#include "common/rng.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/judges/named_inputs.h"
#include "gpu_worker/verifier/judges/sampling_inputs.h"
#include "gpu_worker/verifier/judges/sampling_rule.h"
#include "gpu_worker/verifier/judges/token_draws.h"
#include "gpu_worker/verifier/tensors/suite_verdict.h"

namespace ksearch {
namespace {

struct Time {
  absl::Time fresh, equal;  // until then
};

// The rest of the time must suffice for further workloads and for timing.
Time TimeFor(const Clock& clock, const WorkloadSession::Limits& limits) {
  const absl::Time now = clock.SteadyNow();
  const absl::Duration left = (limits.deadline - now) / 4;
  const absl::Time fresh = now + std::min(kFreshDrawsTime, left / 4);
  return {fresh, fresh + std::min(kEqualDrawsTime, left * 3 / 4)};
}

absl::StatusOr<Ending> CheckFreshDraws(WorkloadSession& session, const Clock& clock,
                                       absl::Time until, const WorkloadSession::Limits& limits,
                                       Rng* rng) {
  const WorkloadCase& workload = session.workload();
  TokenDraws draws;
  for (int call = 0; call < kFreshDrawCalls && clock.SteadyNow() < until; ++call) {
    WorkloadSession::KeptCall made = session.RunOnceForSuite({}, limits);
    if (!made.ending.passed()) return std::move(made.ending);
    if (!made.kept.has_value()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory to keep the outputs of a call on workload ", workload.uuid()));
    }
    const WorkloadSession::Suspect& kept = *made.kept;
    const OutputComparison judged =
        workload.judge()->Judge(workload, kept.variant, *kept.outputs, *kept.outputs);
    if (!judged.right) return Ending{v1::OUTCOME_INCORRECT, judged.message};
    RETURN_IF_ERROR(draws.Add(workload, kept.variant, *kept.outputs, kFreshDrawRows, rng));
  }
  std::string fault = draws.Fault(workload.suite_rule().sampling().most_distance());
  if (fault.empty()) return Ending();
  return Ending{v1::OUTCOME_INCORRECT, std::move(fault)};
}

absl::StatusOr<Ending> CheckEqualDraws(WorkloadSession& session, int sets, const Clock& clock,
                                       absl::Time until, const WorkloadSession::Limits& limits,
                                       v1::SuiteVerdict* verdict) {
  const WorkloadCase& workload = session.workload();
  const v1::SuiteRule::Sampling& rule = workload.suite_rule().sampling();
  const int64_t variant = session.FillForSuite(sets);
  ASSIGN_OR_RETURN(const SamplingInputs inputs, SamplingInputs::Read(workload, variant));
  const auto width = static_cast<size_t>(inputs.tokens());
  std::vector<int64_t> counts(static_cast<size_t>(inputs.rows()) * width);
  int64_t drawn = 0;
  while (drawn < rule.tokens() && (drawn == 0 || clock.SteadyNow() < until)) {
    WorkloadSession::SuiteCalls made = session.RunOnEachForSuite(sets, limits);
    if (!made.ending.passed()) return std::move(made.ending);
    for (int set = 0; set < sets; ++set) {
      ASSIGN_OR_RETURN(const auto outputs, session.Outputs(set));
      ASSIGN_OR_RETURN(const std::vector<int64_t> tokens, WholeNumbersIn(workload, *outputs));
      for (size_t row = 0; row < tokens.size(); ++row) {
        if (tokens[row] < 0 || tokens[row] >= inputs.tokens()) {
          return Ending{v1::OUTCOME_INCORRECT, absl::StrCat("token ", tokens[row], " of row ", row,
                                                            " is none of the ", width, " tokens")};
        }
        ++counts[row * width + static_cast<size_t>(tokens[row])];
      }
      ++drawn;
    }
  }
  double worst = 0, worst_beyond_chance = 0;
  for (int64_t row = 0; row < inputs.rows(); ++row) {
    const std::vector<double> shares = SharesOf(inputs.Row(row), inputs.LimitsOf(row));
    const double distance =
        DistanceOf(absl::MakeConstSpan(counts).subspan(static_cast<size_t>(row) * width, width),
                   drawn, shares);
    const double chance = DistanceByChance(shares, drawn);
    const double of_rule = drawn >= rule.tokens()
                               ? distance
                               : distance - chance + DistanceByChance(shares, rule.tokens());
    worst = std::max(worst, of_rule);
    worst_beyond_chance = std::max(worst_beyond_chance, distance - chance);
  }
  const std::string fault = absl::StrFormat(
      "tokens are not drawn by their probabilities: their distance is %.3f (%d tokens of each "
      "row), "
      "and at most %g is right",
      worst, drawn, rule.most_distance());
  AddTrial(worst > rule.most_distance() ? fault : "", verdict);
  if (worst_beyond_chance > rule.most_distance()) return Ending{v1::OUTCOME_INCORRECT, fault};
  return Ending();
}

}  // namespace

absl::StatusOr<Ending> CheckSampling(Bench& bench, RunnerLink& link,
                                     const std::shared_ptr<const WorkloadCase>& workload,
                                     const WorkloadSession::Limits& limits,
                                     v1::SuiteVerdict* verdict) {
  const int sets = bench.MostSets(*workload, 1, kEqualDrawSets);
  ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> buffers, bench.Buffers(workload, sets, "sampling"));
  WorkloadSession session(link, workload, std::move(buffers), bench.clock(), RandomUint64());
  if (Ending mapped = session.Map(sets, limits); !mapped.passed()) return mapped;
  const Time time = TimeFor(bench.clock(), limits);
  Rng rng(RandomUint64());
  ASSIGN_OR_RETURN(Ending fresh, CheckFreshDraws(session, bench.clock(), time.fresh, limits, &rng));
  if (!fresh.passed() && fresh.outcome != v1::OUTCOME_INCORRECT) return fresh;
  // The suite's verdict rests on these alone.
  ASSIGN_OR_RETURN(Ending equal,
                   CheckEqualDraws(session, sets, bench.clock(), time.equal, limits, verdict));
  return fresh.passed() ? equal : fresh;
}

}  // namespace ksearch
