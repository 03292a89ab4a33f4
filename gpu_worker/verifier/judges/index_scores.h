#ifndef KSEARCH_GPU_WORKER_VERIFIER_JUDGES_INDEX_SCORES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_JUDGES_INDEX_SCORES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/task.pb.h"

namespace ksearch {

// One call of a top-k indexer over a paged cache of keys, as judged by v1::SuiteRule::INDEX_SCORES;
// its source is flashinfer-bench at 40e6ca78, bench/evaluators/dsa_topk_indexer.py. A page contains
// its keys in float8_e4m3fn, followed by one float32 scale for each key. A place is page *
// page_size + offset.
struct IndexerCall {
  int64_t rows = 0, heads = 0, width = 0;  // of queries: rows x heads x width
  int64_t pages = 0, page_size = 0;        // of the cache
  int64_t pages_of_row = 0;                // of the table: rows x pages_of_row
  std::vector<double> queries;
  std::vector<std::byte> keys;  // pages x page_size x (width + 4)
  std::vector<double> weights;  // rows x heads
  std::vector<double> lengths;  // rows
  std::vector<double> table;    // rows x pages_of_row
};

// Why these places are not a set of distinct places of the row; empty if they are. -1 stands for no
// place.
std::string FaultOfPlaces(const IndexerCall& call, int64_t row, absl::Span<const int64_t> places);

// The scores of the places, largest first. A score is the sum over heads of weight * max(0, query .
// key), or minus infinity for no place.
std::vector<double> SortedScores(const IndexerCall& call, int64_t row,
                                 absl::Span<const int64_t> places);

// How many of the scores differ: by more than both bounds, or because only one of the two stands
// for no place.
int64_t DifferentScores(absl::Span<const double> scores, absl::Span<const double> expected,
                        double atol, double rtol);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_JUDGES_INDEX_SCORES_H_
