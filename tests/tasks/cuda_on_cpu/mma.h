// Warp-level matrix fragments; see cuda_runtime.h. Each lane holds the whole matrix and does all
// the work, so that all lanes hold and store the same.
#ifndef KSEARCH_TESTS_TASKS_CUDA_ON_CPU_MMA_H_
#define KSEARCH_TESTS_TASKS_CUDA_ON_CPU_MMA_H_

#include "cuda_bf16.h"

namespace nvcuda::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major };

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static_assert(M == 16 && N == 16 && K == 16);
  static constexpr int num_elements = 256;
  float
      x[256];  // element (row, column) of a, of b transposed, or of the result at row * 16 + column
};

template <class F>
void fill_fragment(F& fragment, float value) {
  for (float& x : fragment.x) x = value;
}
template <class F>
void load_matrix_sync(F& fragment, const __nv_bfloat16* source, unsigned pitch) {
  for (int i = 0; i < 256; ++i) {
    fragment.x[i] = __bfloat162float(source[i / 16 * static_cast<int>(pitch) + i % 16]);
  }
}
template <class F, class A, class B>
void mma_sync(F& out, const A& a, const B& b, const F& sum) {
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      float total = sum.x[i * 16 + j];
      for (int k = 0; k < 16; ++k) total += a.x[i * 16 + k] * b.x[j * 16 + k];
      out.x[i * 16 + j] = total;
    }
  }
}
template <class F>
void store_matrix_sync(float* target, const F& fragment, unsigned pitch, layout_t) {
  for (int i = 0; i < 256; ++i) target[i / 16 * static_cast<int>(pitch) + i % 16] = fragment.x[i];
}

}  // namespace nvcuda::wmma

#endif  // KSEARCH_TESTS_TASKS_CUDA_ON_CPU_MMA_H_
