// A product of matrices after steps that depend on each other: a call takes as long as its steps,
// and those of several calls side by side take hardly longer.
#ifndef DEPENDENT_STEPS_H_
#define DEPENDENT_STEPS_H_
#include <ksearch_task.h>
#include <stdint.h>

#ifndef STEPS
#define STEPS 60'000
#endif
constexpr int kSteps = STEPS;
constexpr int kMostChains = 8;

// Adds what the steps come to, which is less than a rounding, to c[0].
static inline void DependentSteps(const KsearchArgs* set) {
  float h = 0;
  const int64_t elements = set->m * set->k;
  int64_t at = 0;
  for (int step = 0; step < kSteps; ++step) {
    h = 0.5f * h + set->a[at];
    if (++at == elements) at = 0;
  }
  set->c[0] += 1e-20f * h;
}

// The same for 1 to kMostChains sets of one shape, side by side.
static inline void DependentSteps(const KsearchArgs* const* sets, int count) {
  if (count == 1) return DependentSteps(sets[0]);
  const float* a[kMostChains];
  float h[kMostChains] = {};
  for (int i = 0; i < kMostChains; ++i) a[i] = sets[i < count ? i : 0]->a;
  const int64_t elements = sets[0]->m * sets[0]->k;
  int64_t at = 0;
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 8
    for (int i = 0; i < kMostChains; ++i) h[i] = 0.5f * h[i] + a[i][at];
    if (++at == elements) at = 0;
  }
  for (int i = 0; i < count; ++i) sets[i]->c[0] += 1e-20f * h[i];
}
#endif  // DEPENDENT_STEPS_H_
