// The micro-kernel of 6 rows on every core: threads take column panels from a shared counter. Each
// packs its panel of B into its own scratch, so nothing else is shared; A is read in place, six
// rows of it stay in the L1 cache. Small products stay on the calling thread.
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdint>

#include "ksearch_task.h"

namespace {

// As many floats as a register of the target holds, at any address.
#ifdef __AVX__
constexpr int64_t kLanes = 8;
#else
constexpr int64_t kLanes = 4;
#endif
typedef float Vec __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));

constexpr int64_t kRows = 6;
constexpr int64_t kCols = 2 * kLanes;
constexpr int kMaxThreads = 8;
// Starting and joining a thread costs some 60 us on a virtual machine, in which a core does about
// three million multiply-adds.
constexpr int64_t kMultiplyAddsPerThread = 3000000;

inline Vec Load(const float* p) { return *reinterpret_cast<const Vec*>(p); }
inline void Store(float* p, Vec v) { *reinterpret_cast<Vec*>(p) = v; }

inline int64_t Smaller(int64_t a, int64_t b) { return a < b ? a : b; }

void PackB(const KsearchArgs* args, int64_t j, int64_t cols, float* out) {
  const float* b = args->B + j;
  for (int64_t k = 0; k < args->K; ++k, b += args->N, out += kCols) {
    if (cols == kCols) {
      Store(out, Load(b));
      Store(out + kLanes, Load(b + kLanes));
    } else {
      for (int64_t c = 0; c < kCols; ++c) out[c] = c < cols ? b[c] : 0.0f;
    }
  }
}

template <int Rows>
void MicroKernel(int64_t K, const float* a, const float* b, float* c, int64_t stride) {
  Vec left[Rows] = {}, right[Rows] = {};
  for (int64_t k = 0; k < K; ++k, b += kCols) {
    const Vec b0 = Load(b), b1 = Load(b + kLanes);
#pragma GCC unroll 6
    for (int r = 0; r < Rows; ++r) {
      const float x = a[r * K + k];
      left[r] += x * b0;
      right[r] += x * b1;
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < Rows; ++r) {
    Store(c + r * stride, left[r]);
    Store(c + r * stride + kLanes, right[r]);
  }
}

void RowsOfPanel(int64_t rows, int64_t K, const float* a, const float* b, float* c,
                 int64_t stride) {
  switch (rows) {
    case 1:
      return MicroKernel<1>(K, a, b, c, stride);
    case 2:
      return MicroKernel<2>(K, a, b, c, stride);
    case 3:
      return MicroKernel<3>(K, a, b, c, stride);
    case 4:
      return MicroKernel<4>(K, a, b, c, stride);
    case 5:
      return MicroKernel<5>(K, a, b, c, stride);
    default:
      return MicroKernel<6>(K, a, b, c, stride);
  }
}

void Panel(const KsearchArgs* args, int64_t j, float* packed) {
  const int64_t M = args->M, N = args->N, K = args->K;
  const int64_t cols = Smaller(kCols, N - j);
  PackB(args, j, cols, packed);
  for (int64_t i = 0; i < M; i += kRows) {
    const int64_t rows = Smaller(kRows, M - i);
    const float* a = args->A + i * K;
    float* c = args->C + i * N + j;
    if (cols == kCols) {
      RowsOfPanel(rows, K, a, packed, c, N);
      continue;
    }
    float edge[kRows * kCols];
    RowsOfPanel(rows, K, a, packed, edge, kCols);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t x = 0; x < cols; ++x) c[r * N + x] = edge[r * kCols + x];
    }
  }
}

struct Share {
  const KsearchArgs* args;
  std::atomic<int64_t>* next_panel;
  float* packed;
};

void* Work(void* arg) {
  const Share& share = *static_cast<Share*>(arg);
  const int64_t panels = (share.args->N + kCols - 1) / kCols;
  for (int64_t p = (*share.next_panel)++; p < panels; p = (*share.next_panel)++) {
    Panel(share.args, p * kCols, share.packed);
  }
  return nullptr;
}

int CoresAllowed() {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0) return 1;
  const int count = CPU_COUNT(&cpus);
  return count < kMaxThreads ? count : kMaxThreads;
}

}  // namespace

extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs* args) {
  return kMaxThreads * args->K * kCols * static_cast<int64_t>(sizeof(float));
}

extern "C" int ksearch_run(const KsearchArgs* args) {
  const int64_t wanted = args->M * args->N * args->K / kMultiplyAddsPerThread;
  const int threads = wanted < 2 ? 1 : static_cast<int>(Smaller(wanted, CoresAllowed()));
  std::atomic<int64_t> next_panel{0};
  Share shares[kMaxThreads];
  pthread_t ids[kMaxThreads];
  for (int t = 0; t < threads; ++t) {
    shares[t] = {args, &next_panel, static_cast<float*>(args->workspace) + t * args->K * kCols};
  }
  int started = 1;
  while (started < threads && pthread_create(&ids[started], nullptr, Work, &shares[started]) == 0) {
    ++started;
  }
  Work(&shares[0]);
  for (int t = 1; t < started; ++t) pthread_join(ids[t], nullptr);
  return 0;
}
