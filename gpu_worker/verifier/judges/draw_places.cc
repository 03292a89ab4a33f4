#include "gpu_worker/verifier/judges/draw_places.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/judges/named_inputs.h"
#include "gpu_worker/verifier/judges/sampling_inputs.h"
#include "gpu_worker/verifier/judges/sampling_rule.h"

namespace ksearch {
namespace {

// Of the distance that an honest program has by chance, in units of 1 / sqrt(places): beyond it
// lies one of 3e-8 (Kolmogorov: 2 exp(-2 x^2)).
constexpr double kChanceOfPlaces = 3;

}  // namespace

absl::Status DrawPlaces::Add(const WorkloadCase& workload, int64_t variant,
                             const SavedOutputs& outputs, int most_rows, Rng* rng) {
  ASSIGN_OR_RETURN(const SamplingInputs inputs, SamplingInputs::Read(workload, variant));
  ASSIGN_OR_RETURN(const std::vector<int64_t> tokens, WholeNumbersIn(workload, outputs));
  const auto first = static_cast<int64_t>(rng->NextBelow(static_cast<uint64_t>(inputs.rows())));
  for (int64_t i = 0; i < std::min<int64_t>(most_rows, inputs.rows()); ++i) {
    const int64_t row = (first + i) % inputs.rows();
    const std::vector<double> shares = SharesOf(inputs.Row(row), inputs.LimitsOf(row));
    places_.push_back(PlaceOf(shares, tokens[static_cast<size_t>(row)], rng->NextDouble()));
  }
  return absl::OkStatus();
}

std::string DrawPlaces::Fault(double most_distance) const {
  if (places_.empty()) return "";
  const double distance = DistanceFromEven(places_);
  const double most =
      most_distance + kChanceOfPlaces / std::sqrt(static_cast<double>(places_.size()));
  if (distance <= most) return "";
  return absl::StrFormat(
      "tokens are not drawn by their probabilities: the places of %d tokens, likeliest first, are "
      "%.3f from evenly spread, and at most %.3f is right",
      places_.size(), distance, most);
}

}  // namespace ksearch
