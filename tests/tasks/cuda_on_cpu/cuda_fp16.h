// Half precision as a type of arguments only; see cuda_runtime.h.
#ifndef KSEARCH_TESTS_TASKS_CUDA_ON_CPU_CUDA_FP16_H_
#define KSEARCH_TESTS_TASKS_CUDA_ON_CPU_CUDA_FP16_H_

#include <cstdint>

struct __half {
  uint16_t bits;
};

#endif  // KSEARCH_TESTS_TASKS_CUDA_ON_CPU_CUDA_FP16_H_
