#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SUITE_RULES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SUITE_RULES_H_

#include <cmath>
#include <cstdint>

// Decides which elements are wrong by a suite's own rule (v1::SuiteRule), bit for bit: with the
// rounding of torch, which the suites use. Shared by device and host code; plain C++17 without the
// project's other headers, since nvcc compiles it too.
#ifdef __CUDACC__
#define KSEARCH_RULE __host__ __device__ __forceinline__
#else
#define KSEARCH_RULE inline
#endif

namespace ksearch {
namespace device {

// The values of v1::SuiteRule::Rule that judge element by element.
enum class Rule : int32_t {
  kNone = 0,
  kFiniteAndMatched = 1,
  kTorchAllclose = 2,
  kSameNonFinite = 3
};

// How torch computes with a tensor on a GPU: operations on the small types are computed in float32,
// also with numbers such as tolerances, and then rounded to them; integers become float32.
enum class Arithmetic : int32_t { kFloat32, kFloat16, kBfloat16 };

struct ElementRule {
  Rule rule;
  Arithmetic arithmetic;
  float atol;
  float rtol;
};

KSEARCH_RULE bool IsFinite(double value) { return value - value == 0; }

// Rounds to the nearest number with `bits` significant bits (ties to even) whose last bit is at
// least 2^`least`; infinite beyond `largest`.
KSEARCH_RULE float RoundedTo(float value, int bits, int least, float largest) {
  if (!IsFinite(value) || value == 0) return value;
  int exponent;
  frexpf(value, &exponent);
  const int unit = exponent - bits > least ? exponent - bits : least;
  const float rounded = ldexpf(rintf(ldexpf(value, -unit)), unit);
  return fabsf(rounded) <= largest ? rounded : copysignf(HUGE_VALF, rounded);
}

KSEARCH_RULE float Rounded(Arithmetic arithmetic, double value) {
  const float single = static_cast<float>(value);
  if (arithmetic == Arithmetic::kFloat16) return RoundedTo(single, 11, -24, 65504.0f);
  if (arithmetic == Arithmetic::kBfloat16) return RoundedTo(single, 8, -133, 0x1.FEp127f);
  return single;
}

// atol + rtol * |oracle|. Rounds twice: the product of two float32 is exact in double, so rounding
// their sum gives the same result as a single rounding.
KSEARCH_RULE float Allowed(const ElementRule& rule, double oracle) {
  const float magnitude = fabsf(static_cast<float>(oracle));
  const float scaled =
      Rounded(rule.arithmetic, static_cast<double>(rule.rtol) * static_cast<double>(magnitude));
  return Rounded(rule.arithmetic, static_cast<double>(rule.atol) + static_cast<double>(scaled));
}

KSEARCH_RULE float Distance(Arithmetic arithmetic, double got, double oracle) {
  const double difference = static_cast<double>(static_cast<float>(got)) -
                            static_cast<double>(static_cast<float>(oracle));
  return fabsf(Rounded(arithmetic, difference));
}

KSEARCH_RULE bool IsWrongBy(const ElementRule& rule, double got, double oracle) {
  switch (rule.rule) {
    case Rule::kNone:
      return false;
    case Rule::kFiniteAndMatched: {
      // Comparisons with NaN are false: where the oracle is infinite or NaN, nothing finite is
      // wrong.
      const float reference = static_cast<float>(oracle);
      const float error = Distance(Arithmetic::kFloat32, got, oracle);
      const float base =
          static_cast<float>(static_cast<double>(fabsf(reference)) + static_cast<double>(1e-8f));
      const float relative =
          static_cast<float>(static_cast<double>(error) / static_cast<double>(base));
      return error > rule.atol && relative > rule.rtol;
    }
    case Rule::kTorchAllclose: {
      if (got == oracle) return false;
      if (rule.atol == 0 && rule.rtol == 0) return true;
      const float error = Distance(rule.arithmetic, got, oracle);
      return !(IsFinite(error) && error <= Allowed(rule, oracle));
    }
    case Rule::kSameNonFinite: {
      // Without bounds the suite compares for equality.
      if (rule.atol == 0 && rule.rtol == 0) return !(got == oracle);
      if (!IsFinite(got) || !IsFinite(oracle)) {
        return !(got == oracle || (got != got && oracle != oracle));
      }
      return Distance(Arithmetic::kFloat32, got, oracle) > Allowed(rule, oracle);
    }
  }
  return false;
}

}  // namespace device
}  // namespace ksearch

#undef KSEARCH_RULE

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SUITE_RULES_H_
