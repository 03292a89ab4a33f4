#include "gpu_worker/verifier/timing/student_t.h"

#include <algorithm>
#include <cmath>

#include "common/log.h"

namespace ksearch {
namespace {

// The continued fraction of the incomplete beta function (NIST DLMF 8.17.22), by Lentz's method.
double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 500;
  double c = 1;
  double d = 1 / std::max(1 - (a + b) * x / (a + 1), kTiny);
  double fraction = d;
  for (int m = 1; m < kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / std::max(1 + even * d, kTiny);
    c = std::max(1 + even / c, kTiny);
    fraction *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / std::max(1 + odd * d, kTiny);
    c = std::max(1 + odd / c, kTiny);
    fraction *= c * d;
    if (std::abs(c * d - 1) < 1e-14) break;
  }
  return fraction;
}

// Regularized incomplete beta function I_x(a, b).
double IncompleteBeta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast only on this side of the mean.
  if (x < (a + 1) / (a + b + 2)) return front * BetaFraction(a, b, x) / a;
  return 1 - front * BetaFraction(b, a, 1 - x) / b;
}

// P(T > t) for t >= 0.
double Tail(double t, double degrees) {
  return IncompleteBeta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2;
}

}  // namespace

double StudentQuantile(double tail, int degrees_of_freedom) {
  CHECK(tail > 0 && tail <= 0.5 && degrees_of_freedom >= 1);
  double low = 0, high = 1;
  while (Tail(high, degrees_of_freedom) > tail) {
    low = high;
    high *= 2;
  }
  while (high - low > 1e-10 * high) {
    const double middle = (low + high) / 2;
    (Tail(middle, degrees_of_freedom) > tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace ksearch
