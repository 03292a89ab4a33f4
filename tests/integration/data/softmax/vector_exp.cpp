// An exponential of a whole vector, without calls or branches.
#include <cstdint>

#include "ksearch_task.h"

namespace {

// As many values as a register of the target holds, at any address.
#ifdef __AVX2__
constexpr int64_t kLanes = 8;
#else
constexpr int64_t kLanes = 4;
#endif
typedef float Vec __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));
typedef int32_t IntVec __attribute__((vector_size(kLanes * 4)));

inline Vec Load(const float* p) { return *reinterpret_cast<const Vec*>(p); }
inline void Store(float* p, Vec v) { *reinterpret_cast<Vec*>(p) = v; }
inline Vec Larger(Vec a, Vec b) { return a > b ? a : b; }

// exp(x) for x <= 0: 2^n * e^r with |r| <= ln(2) / 2, e^r by its Taylor polynomial.
inline Vec Exp(Vec x) {
  x = Larger(x, x * 0 - 87.0f);
  const IntVec n = __builtin_convertvector(x * 1.44269504f - 0.5f, IntVec);
  const Vec whole = __builtin_convertvector(n, Vec);
  const Vec r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
  Vec p = r * (1.0f / 5040) + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * reinterpret_cast<Vec>((n + 127) << 23);
}

// Exponentials of `count` <= kLanes values, the rest of the vector unused.
inline float ExpOfRest(const float* x, int64_t count, float max, float* y) {
  float padded[kLanes] = {};
  for (int64_t i = 0; i < count; ++i) padded[i] = x[i] - max;
  Store(padded, Exp(Load(padded)));
  float sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += y[i] = padded[i];
  return sum;
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t cols = args->cols, whole = cols - cols % kLanes;
  for (int64_t r = 0; r < args->rows; ++r) {
    const float* x = args->x + r * cols;
    float* y = args->y + r * cols;
    Vec maxima = Vec{} + x[0];
    for (int64_t c = 0; c < whole; c += kLanes) maxima = Larger(maxima, Load(x + c));
    float max = x[0];
    for (int64_t lane = 0; lane < kLanes; ++lane) max = maxima[lane] > max ? maxima[lane] : max;
    for (int64_t c = whole; c < cols; ++c) max = x[c] > max ? x[c] : max;
    Vec sums = {};
    for (int64_t c = 0; c < whole; c += kLanes) {
      const Vec e = Exp(Load(x + c) - max);
      Store(y + c, e);
      sums += e;
    }
    float sum = ExpOfRest(x + whole, cols - whole, max, y + whole);
    for (int64_t lane = 0; lane < kLanes; ++lane) sum += sums[lane];
    const float scale = 1.0f / sum;
    for (int64_t c = 0; c < cols; ++c) y[c] *= scale;
  }
  return 0;
}
