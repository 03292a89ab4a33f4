#ifndef KSEARCH_COMMON_SHUFFLE_H_
#define KSEARCH_COMMON_SHUFFLE_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "common/rng.h"

namespace ksearch {

// Puts `values` in a random order, each equally likely (Fisher-Yates). The same state of *rng gives
// the same order on every machine, unlike std::shuffle.
template <typename T>
void Shuffle(std::vector<T>* values, Rng* rng) {
  for (size_t i = values->size(); i > 1; --i) {
    std::swap((*values)[i - 1], (*values)[static_cast<size_t>(rng->NextBelow(i))]);
  }
}

}  // namespace ksearch

#endif  // KSEARCH_COMMON_SHUFFLE_H_
