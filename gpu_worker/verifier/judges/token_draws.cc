#include "gpu_worker/verifier/judges/token_draws.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
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
// The same for the number of draws with one property, in standard deviations, for 20 properties of
// normal variates.
constexpr double kChanceOfFrequency = 6;
// From this share on, a row has a likeliest token of its own.
constexpr double kLikely = 0.5;
constexpr char kWrong[] = "tokens are not drawn by their probabilities: ";

}  // namespace

void TokenDraws::Frequency::Add(bool happened, double probability) {
  ++draws_;
  happened_ += happened ? 1 : 0;
  expected_ += probability;
  variance_ += probability * (1 - probability);
}

bool TokenDraws::Frequency::Deviates(double most) const {
  // The normal approximation is none for few draws.
  const double chance = kChanceOfFrequency * std::sqrt(variance_ + 1);
  return std::fabs(happened_ - expected_) > most * static_cast<double>(draws_) + chance;
}

std::string TokenDraws::Frequency::Text() const {
  const double draws = static_cast<double>(std::max<int64_t>(draws_, 1));
  return absl::StrFormat("%.3f of %d draws, expected %.3f", happened_ / draws, draws_,
                         expected_ / draws);
}

void TokenDraws::AddFrequencies(absl::Span<const double> shares, int64_t token) {
  const auto width = static_cast<size_t>(std::bit_width(shares.size() - 1));
  if (bits_.size() < width) bits_.resize(width);
  const auto likeliest =
      static_cast<size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
  if (shares[likeliest] >= kLikely) {
    likeliest_.Add(static_cast<size_t>(token) == likeliest, shares[likeliest]);
  }
  // The shares by the token's index without its lowest bits.
  std::vector<double> folded(shares.begin(), shares.end());
  for (size_t bit = 0; bit < width; ++bit) {
    double set = 0;
    for (size_t i = 1; i < folded.size(); i += 2) set += folded[i];
    bits_[bit].Add((static_cast<uint64_t>(token) >> bit & 1) != 0, std::min(set, 1.0));
    for (size_t i = 0; 2 * i < folded.size(); ++i) {
      folded[i] = folded[2 * i] + (2 * i + 1 < folded.size() ? folded[2 * i + 1] : 0);
    }
    folded.resize((folded.size() + 1) / 2);
  }
}

absl::Status TokenDraws::Add(const WorkloadCase& workload, int64_t variant,
                             const SavedOutputs& outputs, int most_rows, Rng* rng) {
  ASSIGN_OR_RETURN(const SamplingInputs inputs, SamplingInputs::Read(workload, variant));
  ASSIGN_OR_RETURN(const std::vector<int64_t> tokens, WholeNumbersIn(workload, outputs));
  const auto first = static_cast<int64_t>(rng->NextBelow(static_cast<uint64_t>(inputs.rows())));
  for (int64_t i = 0; i < std::min<int64_t>(most_rows, inputs.rows()); ++i) {
    const int64_t row = (first + i) % inputs.rows();
    const int64_t token = tokens[static_cast<size_t>(row)];
    const std::vector<double> shares = SharesOf(inputs.Row(row), inputs.LimitsOf(row));
    places_.push_back(PlaceOf(shares, token, rng->NextDouble()));
    AddFrequencies(shares, token);
  }
  return absl::OkStatus();
}

std::string TokenDraws::Fault(double most_distance) const {
  if (places_.empty()) return "";
  const double distance = DistanceFromEven(places_);
  const double most =
      most_distance + kChanceOfPlaces / std::sqrt(static_cast<double>(places_.size()));
  if (distance > most) {
    return absl::StrFormat(
        "%sthe places of %d tokens, likeliest first, are %.3f from evenly spread, and at most %.3f "
        "is right",
        kWrong, places_.size(), distance, most);
  }
  for (size_t bit = 0; bit < bits_.size(); ++bit) {
    if (!bits_[bit].Deviates(most_distance)) continue;
    return absl::StrCat(kWrong, "bit ", bit, " of the token's index is set in ", bits_[bit].Text());
  }
  if (likeliest_.Deviates(most_distance)) {
    return absl::StrCat(kWrong, "a token with at least half of its row's probability comes in ",
                        likeliest_.Text());
  }
  return "";
}

}  // namespace ksearch
