// bfloat16 as the task programs use it; see cuda_runtime.h.
#ifndef KSEARCH_TESTS_TASKS_CUDA_ON_CPU_CUDA_BF16_H_
#define KSEARCH_TESTS_TASKS_CUDA_ON_CPU_CUDA_BF16_H_

#include <cstdint>
#include <cstring>

struct __nv_bfloat16 {
  uint16_t bits;
};

inline float __bfloat162float(__nv_bfloat16 value) {
  const uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

// To nearest, ties to even.
inline __nv_bfloat16 __float2bfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (value != value) return {0x7fff};
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

#endif  // KSEARCH_TESTS_TASKS_CUDA_ON_CPU_CUDA_BF16_H_
