#ifndef KSEARCH_BENCH_BENCH_NUMBERS_H_
#define KSEARCH_BENCH_BENCH_NUMBERS_H_

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <vector>

#include "absl/strings/numbers.h"

namespace ksearch {

// Reads a benchmark's arguments: up to as many whole numbers from 1 on as there are `counts`, in
// their order; the others stay as they are. False: they are something else.
inline bool ReadCounts(int argc, char** argv, std::initializer_list<int*> counts) {
  if (argc > static_cast<int>(counts.size()) + 1) return false;
  for (int i = 1; i < argc; ++i) {
    int* const count = counts.begin()[i - 1];
    if (!absl::SimpleAtoi(argv[i], count) || *count < 1) return false;
  }
  return true;
}

// The value that a share of the sorted values is not above; 0 if there are none.
inline double QuantileOf(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1,
                         static_cast<size_t>(share * static_cast<double>(sorted.size())))];
}

}  // namespace ksearch

#endif  // KSEARCH_BENCH_BENCH_NUMBERS_H_
