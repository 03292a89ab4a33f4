// fp8 as a type of arguments only; see cuda_runtime.h.
#ifndef KSEARCH_TESTS_TASKS_CUDA_ON_CPU_CUDA_FP8_H_
#define KSEARCH_TESTS_TASKS_CUDA_ON_CPU_CUDA_FP8_H_

#include <cstdint>

struct __nv_fp8_e4m3 {
  uint8_t bits;
};
struct __nv_fp8_e5m2 {
  uint8_t bits;
};

#endif  // KSEARCH_TESTS_TASKS_CUDA_ON_CPU_CUDA_FP8_H_
