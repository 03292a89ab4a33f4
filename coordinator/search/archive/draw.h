#ifndef KSEARCH_COORDINATOR_SEARCH_ARCHIVE_DRAW_H_
#define KSEARCH_COORDINATOR_SEARCH_ARCHIVE_DRAW_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "common/log.h"
#include "common/rng.h"

namespace ksearch {

// An index with a probability proportional to its weight. Weights below zero and NaN count as zero;
// if all are zero, every index is equally likely. `weights` must not be empty.
size_t DrawWeighted(const std::vector<double>& weights, Rng& rng);

// A random element; all are equally likely. `from` must not be empty.
template <typename T>
const T& DrawOne(const std::vector<T>& from, Rng& rng) {
  CHECK(!from.empty());
  return from[static_cast<size_t>(rng.NextBelow(from.size()))];
}

// `count` elements from different positions, or all if there are fewer, in the order in which they
// are drawn.
template <typename T>
std::vector<T> DrawSome(std::vector<T> from, size_t count, Rng& rng) {
  std::vector<T> drawn;
  while (drawn.size() < count && !from.empty()) {
    const size_t at = static_cast<size_t>(rng.NextBelow(from.size()));
    drawn.push_back(std::move(from[at]));
    from[at] = std::move(from.back());
    from.pop_back();
  }
  return drawn;
}

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ARCHIVE_DRAW_H_
