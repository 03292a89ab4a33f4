#ifndef KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_MATH_H_
#define KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_MATH_H_

#include <cmath>
#include <cstdint>
#include <cstring>

// Arithmetic of the trusted kernels, compiled for the device and, for tests, for the host. Plain
// C++17 without the project's other headers, since nvcc reads it too.
#ifdef __CUDACC__
#define KSEARCH_BOTH __host__ __device__ __forceinline__
#else
#define KSEARCH_BOTH inline
#endif

namespace ksearch {
namespace device {

enum class Kind : int32_t {
  kFloat32,
  kFloat16,
  kBfloat16,
  kE4m3,
  kE5m2,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kBool,
};

KSEARCH_BOTH uint32_t BitsOf(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

KSEARCH_BOTH float FloatOf(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

struct Four {
  uint32_t v[4];
};

// Philox4x32-10, as ksearch::Philox.
KSEARCH_BOTH Four PhiloxBlock(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  uint32_t c0 = static_cast<uint32_t>(counter_low), c1 = static_cast<uint32_t>(counter_low >> 32);
  uint32_t c2 = static_cast<uint32_t>(counter_high);
  uint32_t c3 = static_cast<uint32_t>(counter_high >> 32);
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c0;
    const uint64_t p1 = uint64_t{0xCD9E8D57} * c2;
    const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    const uint32_t n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(p1);
    c3 = static_cast<uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {{c0, c1, c2, c3}};
}

KSEARCH_BOTH float FastLog(float x) {
#ifdef __CUDA_ARCH__
  return __logf(x);
#else
  return std::log(x);
#endif
}

KSEARCH_BOTH void FastSinCos(float x, float* sine, float* cosine) {
#ifdef __CUDA_ARCH__
  __sincosf(x, sine, cosine);
#else
  *sine = std::sin(x);
  *cosine = std::cos(x);
#endif
}

// Four uniforms to four normals (Box-Muller). The angle is kept within [-pi, pi), where the fast
// functions are accurate.
KSEARCH_BOTH void FourNormals(const Four& block, float* out) {
  constexpr float kPi = 3.14159265358979f;
  for (int pair = 0; pair < 2; ++pair) {
    const float u = (static_cast<float>(block.v[2 * pair] >> 8) + 1.0f) * 0x1.0p-24f;
    const float v = static_cast<float>(block.v[2 * pair + 1] >> 8) * 0x1.0p-24f;
    // The fast logarithm of a number close to 1 may be positive.
    const float square = -2.0f * FastLog(u);
    const float radius = square > 0 ? sqrtf(square) : 0.0f;
    float sine, cosine;
    FastSinCos(2.0f * kPi * (v - 0.5f), &sine, &cosine);
    out[2 * pair] = -radius * cosine;
    out[2 * pair + 1] = -radius * sine;
  }
}

// Maps a uniform to a Cauchy variate: tan(pi (u - 1/2)) as a quotient that is exact near 0 and 1.
KSEARCH_BOTH float Cauchy(uint32_t random) {
  const uint32_t k = random >> 8;
  const bool low = k < (1u << 23);
  const uint32_t distance = low ? k : (1u << 24) - 1 - k;  // to the nearer end
  const float t = static_cast<float>(2 * distance + 1) * 0x1.0p-25f;
#ifdef __CUDA_ARCH__
  const float magnitude = cospif(t) / sinpif(t);
#else
  const double angle = 3.14159265358979323846 * static_cast<double>(t);
  const float magnitude = static_cast<float>(std::cos(angle) / std::sin(angle));
#endif
  return low ? -magnitude : magnitude;
}

// Maps a uniform to a variate of Student's t with 2 degrees of freedom: (2u - 1) / sqrt(2u (1 -
// u)). The uniform is never 0 or 1, so the result stays below 2897.
KSEARCH_BOTH float Student2(uint32_t random) {
  const float u = (static_cast<float>(random >> 9) + 0.5f) * 0x1.0p-23f;
  return (2.0f * u - 1.0f) / sqrtf(2.0f * u * (1.0f - u));
}

// Converts to a small binary float, rounding to nearest with ties to even; overflow is as in
// ksearch::EncodeElement. Subnormal floats become zero.
KSEARCH_BOTH uint32_t EncodeSmall(float value, int exponent_bits, int mantissa_bits,
                                  bool finite_only) {
  const uint32_t bits = BitsOf(value);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  const uint32_t sign = (bits >> 31) << (exponent_bits + mantissa_bits);
  const uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  const uint32_t nan = finite_only ? (1u << (exponent_bits + mantissa_bits)) - 1
                                   : infinity | (1u << (mantissa_bits - 1));
  const uint32_t overflow = finite_only ? nan : infinity;
  if (magnitude > 0x7F800000u) return sign | nan;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  uint32_t scaled;  // the code, followed by `shift` bits to be rounded away
  int shift = 23 - mantissa_bits;
  if (exponent < 1 - bias) {
    shift += 1 - bias - exponent;
    if (shift > 24) return sign;
    scaled = (magnitude & 0x7FFFFFu) | 0x800000u;
  } else {
    scaled = magnitude - (static_cast<uint32_t>(127 - bias) << 23);
  }
  const uint32_t code = (scaled + (1u << (shift - 1)) - 1 + ((scaled >> shift) & 1)) >> shift;
  return sign | (code >= overflow ? overflow : code);
}

KSEARCH_BOTH uint32_t EncodeBrain(float value) {
  const uint32_t bits = BitsOf(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (bits >> 16) | 0x40u;
  return (bits + 0x7FFFu + ((bits >> 16) & 1)) >> 16;
}

KSEARCH_BOTH float DecodeSmall(uint32_t code, int exponent_bits, int mantissa_bits,
                               bool finite_only) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t sign = (code >> (exponent_bits + mantissa_bits)) << 31;
  const uint32_t mantissa = code & ((1u << mantissa_bits) - 1);
  const uint32_t top = (1u << exponent_bits) - 1;
  const uint32_t exponent = (code >> mantissa_bits) & top;
  if (exponent == top) {
    if (!finite_only) return FloatOf(sign | 0x7F800000u | (mantissa << (23 - mantissa_bits)));
    if (mantissa == (1u << mantissa_bits) - 1) return FloatOf(sign | 0x7FC00000u);
  }
  if (exponent == 0) {
    const float unit = FloatOf(static_cast<uint32_t>(127 + 1 - bias - mantissa_bits) << 23);
    return FloatOf(sign | BitsOf(static_cast<float>(mantissa) * unit));
  }
  return FloatOf(sign | ((exponent + static_cast<uint32_t>(127 - bias)) << 23) |
                 (mantissa << (23 - mantissa_bits)));
}

// Element `index` of an array.
KSEARCH_BOTH double DecodeAt(Kind kind, const void* array, int64_t index) {
  switch (kind) {
    case Kind::kFloat32:
      return static_cast<double>(static_cast<const float*>(array)[index]);
    case Kind::kFloat16:
      return static_cast<double>(
          DecodeSmall(static_cast<const uint16_t*>(array)[index], 5, 10, false));
    case Kind::kBfloat16:
      return static_cast<double>(
          FloatOf(static_cast<uint32_t>(static_cast<const uint16_t*>(array)[index]) << 16));
    case Kind::kE4m3:
      return static_cast<double>(
          DecodeSmall(static_cast<const uint8_t*>(array)[index], 4, 3, true));
    case Kind::kE5m2:
      return static_cast<double>(
          DecodeSmall(static_cast<const uint8_t*>(array)[index], 5, 2, false));
    case Kind::kInt64:
      return static_cast<double>(static_cast<const int64_t*>(array)[index]);
    case Kind::kInt32:
      return static_cast<double>(static_cast<const int32_t*>(array)[index]);
    case Kind::kInt16:
      return static_cast<double>(static_cast<const int16_t*>(array)[index]);
    case Kind::kInt8:
      return static_cast<double>(static_cast<const int8_t*>(array)[index]);
    case Kind::kBool:
      return static_cast<double>(static_cast<const uint8_t*>(array)[index]);
  }
  return 0;
}

}  // namespace device
}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_MATH_H_
