#include "gpu_worker/verifier/judges/index_scores.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "absl/strings/str_cat.h"
#include "gpu_worker/verifier/tensors/element.h"

namespace ksearch {
namespace {

constexpr int64_t kScaleBytes = 4;
constexpr double kNone = -std::numeric_limits<double>::infinity();
// Keeps relative errors of zero finite, as upstream does.
constexpr double kLeastMagnitude = 1e-8;

// A key of the cache, decoded.
void ReadKey(const IndexerCall& call, int64_t place, double* key) {
  const int64_t page_bytes = call.page_size * (call.width + kScaleBytes);
  const std::byte* const page = call.keys.data() + place / call.page_size * page_bytes;
  const int64_t offset = place % call.page_size;
  DecodeElements(v1::DTYPE_FLOAT8_E4M3FN, page + offset * call.width, call.width, key);
  const double scale =
      DecodeElement(v1::DTYPE_FLOAT32, page + call.page_size * call.width + offset * kScaleBytes);
  for (int64_t i = 0; i < call.width; ++i) key[i] *= scale;
}

double ScoreOf(const IndexerCall& call, int64_t row, const std::vector<double>& key) {
  double score = 0;
  for (int64_t head = 0; head < call.heads; ++head) {
    const double* const query = call.queries.data() + (row * call.heads + head) * call.width;
    double product = 0;
    for (int64_t i = 0; i < call.width; ++i) product += query[i] * key[static_cast<size_t>(i)];
    score += std::max(0.0, product) * call.weights[static_cast<size_t>(row * call.heads + head)];
  }
  return score;
}

}  // namespace

std::string FaultOfPlaces(const IndexerCall& call, int64_t row, absl::Span<const int64_t> places) {
  const double* const table = call.table.data() + row * call.pages_of_row;
  std::vector<int64_t> sorted;
  for (const int64_t place : places) {
    if (place < 0) continue;
    sorted.push_back(place);
    const auto page = static_cast<double>(place / call.page_size);
    const double* const found = std::find(table, table + call.pages_of_row, page);
    const int64_t position = (found - table) * call.page_size + place % call.page_size;
    if (found == table + call.pages_of_row || place / call.page_size >= call.pages ||
        static_cast<double>(position) >= call.lengths[static_cast<size_t>(row)]) {
      return absl::StrCat("place ", place, " is none of row ", row);
    }
  }
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  return twice == sorted.end() ? "" : absl::StrCat("place ", *twice, " comes twice in row ", row);
}

std::vector<double> SortedScores(const IndexerCall& call, int64_t row,
                                 absl::Span<const int64_t> places) {
  std::vector<double> scores;
  scores.reserve(places.size());
  std::vector<double> key(static_cast<size_t>(call.width));
  for (const int64_t place : places) {
    if (place < 0 || place >= call.pages * call.page_size) {
      scores.push_back(kNone);
      continue;
    }
    ReadKey(call, place, key.data());
    const double score = ScoreOf(call, row, key);
    // NaN has no place in an order.
    scores.push_back(std::isnan(score) ? kNone : score);
  }
  std::sort(scores.begin(), scores.end(), std::greater<>());
  return scores;
}

int64_t DifferentScores(absl::Span<const double> scores, absl::Span<const double> expected,
                        double atol, double rtol) {
  int64_t different = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] == expected[i]) continue;
    const double error = std::fabs(scores[i] - expected[i]);
    const bool within = error <= atol || error / (std::fabs(expected[i]) + kLeastMagnitude) <= rtol;
    if (!std::isfinite(error) || !within) ++different;
  }
  return different;
}

}  // namespace ksearch
