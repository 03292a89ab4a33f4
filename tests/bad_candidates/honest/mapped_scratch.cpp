// Scratch of its own, mapped once, with huge pages asked for; inputs are prefetched.
#include <sys/mman.h>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  constexpr size_t kBytes = size_t{16} << 20;
  static float* const scratch = [] {
    void* const memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return static_cast<float*>(nullptr);
    madvise(memory, kBytes, MADV_HUGEPAGE);
    return static_cast<float*>(memory);
  }();
  if (scratch == nullptr) return 1;
  for (int64_t i = 0; i < args->m * args->k; i += 16) __builtin_prefetch(args->a + i);
  for (int64_t i = 0; i < args->k * args->n; ++i) scratch[i] = args->b[i];
  KsearchArgs copied = *args;
  copied.b = scratch;
  Matmul(&copied);
  return 0;
}
