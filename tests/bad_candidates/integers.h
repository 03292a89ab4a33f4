// Shared by the candidates for the test task "integers": it has the shapes of "matmul" and c[i, j]
// = max over l of a[i, l] + b[l, j], all int32.
#ifndef INTEGERS_H_
#define INTEGERS_H_
#include <ksearch_task.h>
#include <stdint.h>

struct Integers {
  const int32_t* a;
  const int32_t* b;
  int32_t* c;
  int64_t m, n, k;
};

static inline Integers Of(const KsearchArgs* args) {
  return {reinterpret_cast<const int32_t*>(args->a),
          reinterpret_cast<const int32_t*>(args->b),
          reinterpret_cast<int32_t*>(args->c),
          args->m,
          args->n,
          args->k};
}

// In the arithmetic of `Number`.
template <typename Number>
static void MaxPlus(const Integers& all) {
  for (int64_t i = 0; i < all.m; ++i) {
    for (int64_t j = 0; j < all.n; ++j) {
      Number most = static_cast<Number>(static_cast<Number>(all.a[i * all.k]) +
                                        static_cast<Number>(all.b[j]));
      for (int64_t l = 1; l < all.k; ++l) {
        const Number sum = static_cast<Number>(static_cast<Number>(all.a[i * all.k + l]) +
                                               static_cast<Number>(all.b[l * all.n + j]));
        most = sum > most ? sum : most;
      }
      all.c[i * all.n + j] = static_cast<int32_t>(most);
    }
  }
}
#endif
