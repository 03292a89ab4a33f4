// Rows are made in memory of its own and leave it by stores that pass the caches by.
#include <immintrin.h>
#include <string.h>

#include <vector>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  static std::vector<float> scratch;
  scratch.resize(static_cast<size_t>(args->m * args->n));
  KsearchArgs apart = *args;
  apart.c = scratch.data();
  Matmul(&apart);
  for (size_t i = 0; i < scratch.size(); ++i) {
    int word;
    memcpy(&word, &scratch[i], sizeof word);
    _mm_stream_si32(reinterpret_cast<int*>(args->c) + i, word);
  }
  _mm_sfence();
  return 0;
}
