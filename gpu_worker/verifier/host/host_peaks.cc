#include "gpu_worker/verifier/host/host_peaks.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

// Sanitizers would slow the measured kernels down.
#define KSEARCH_PEAK_KERNEL __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

namespace ksearch {
namespace {

// Fits into a core's first-level cache, which has 32 KiB or more.
constexpr size_t kCachedBytes = size_t{16} << 10;
// Reading this multiple of the last-level cache from end to end evicts all of it before the next
// sweep. Above the limit, where allocating that much would take too long, an instruction (FlushAll)
// must evict the data; without one the memory is not measured.
constexpr int64_t kCacheMultiple = 3;
constexpr int64_t kMaxStreamedBytes = int64_t{192} << 20;
// The best of this many pieces counts, each about a millisecond long.
constexpr int kPieces = 8;
constexpr int kFmaRounds = 100'000;
constexpr int kCacheSweeps = 4'000;
constexpr int kStreams = 3;

// CPU time, so that waits for a core do not count.
double CpuSeconds() {
  struct timespec now;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// For vectors of `bytes` bytes: kFmaRounds rounds of ten independent multiply-adds; and one reading
// sweep over `size` bytes, a multiple of 8 vectors.
#define KSEARCH_PEAK_KERNELS(name, bytes, target)                                          \
  target KSEARCH_PEAK_KERNEL void MultiplyAdd##name(float seed) {                          \
    typedef float Vector __attribute__((vector_size(bytes)));                              \
    const Vector scale = Vector{} + 0.999F, step = Vector{} + seed;                        \
    Vector a = step, b = a + step, c = b + step, d = c + step, e = d + step, f = e + step, \
           g = f + step, h = g + step, i = h + step, j = i + step;                         \
    for (int round = 0; round < kFmaRounds; ++round) {                                     \
      a = a * scale + step;                                                                \
      b = b * scale + step;                                                                \
      c = c * scale + step;                                                                \
      d = d * scale + step;                                                                \
      e = e * scale + step;                                                                \
      f = f * scale + step;                                                                \
      g = g * scale + step;                                                                \
      h = h * scale + step;                                                                \
      i = i * scale + step;                                                                \
      j = j * scale + step;                                                                \
    }                                                                                      \
    const Vector all = a + b + c + d + e + f + g + h + i + j;                              \
    asm volatile("" ::"m"(all));                                                           \
  }                                                                                        \
  target KSEARCH_PEAK_KERNEL void ReadAll##name(const std::byte* begin, size_t size) {     \
    typedef int64_t Vector __attribute__((vector_size(bytes), may_alias));                 \
    const auto* vectors = reinterpret_cast<const Vector*>(begin);                          \
    Vector a = {}, b = {}, c = {}, d = {}, e = {}, f = {}, g = {}, h = {};                 \
    for (size_t at = 0; at < size / (bytes); at += 8) {                                    \
      a |= vectors[at];                                                                    \
      b |= vectors[at + 1];                                                                \
      c |= vectors[at + 2];                                                                \
      d |= vectors[at + 3];                                                                \
      e |= vectors[at + 4];                                                                \
      f |= vectors[at + 5];                                                                \
      g |= vectors[at + 6];                                                                \
      h |= vectors[at + 7];                                                                \
    }                                                                                      \
    const Vector all = a | b | c | d | e | f | g | h;                                      \
    asm volatile("" ::"m"(all) : "memory");                                                \
  }

#if defined(__x86_64__)
KSEARCH_PEAK_KERNELS(512, 64, __attribute__((target("avx512f"))))
KSEARCH_PEAK_KERNELS(256, 32, __attribute__((target("avx2,fma"))))
#endif
KSEARCH_PEAK_KERNELS(128, 16, )

constexpr int kMultiplyAddsPerRound = 10;

// The widest vectors that this processor has.
struct Kernels {
  void (*multiply_add)(float seed);
  void (*read_all)(const std::byte* begin, size_t size);
  int lanes = 4;  // float32
};

Kernels WidestKernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {MultiplyAdd512, ReadAll512, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {MultiplyAdd256, ReadAll256, 8};
  }
#endif
  return {MultiplyAdd128, ReadAll128, 4};
}

bool HasTiles() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kAmxTile = 1U << 24;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kAmxTile) != 0;
#else
  return false;
#endif
}

// Evicts these bytes from all caches of the machine; false: this processor has no instruction for
// it.
KSEARCH_PEAK_KERNEL bool FlushAll([[maybe_unused]] std::byte* begin, [[maybe_unused]] size_t size) {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kFlushOptimized = 1U << 23;
  const bool optimized = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kFlushOptimized) != 0;
  constexpr size_t kLine = 64;
  for (size_t at = 0; at < size; at += kLine) {
    if (optimized) {
      asm volatile("clflushopt %0" : "+m"(begin[at]));
    } else {
      asm volatile("clflush %0" : "+m"(begin[at]));
    }
  }
  asm volatile("mfence" ::: "memory");
  return true;
#else
  return false;
#endif
}

// Returns the best rate, per second, of pieces of `work` each; runs `before` each, untimed.
template <typename Piece, typename Before>
double BestRate(int pieces, double work, const Piece& piece, const Before& before) {
  double best = 0;
  for (int i = 0; i < pieces; ++i) {
    before();
    const double start = CpuSeconds();
    piece();
    best = std::max(best, work / std::max(CpuSeconds() - start, 1e-9));
  }
  return best;
}

template <typename Piece>
double BestRate(int pieces, double work, const Piece& piece) {
  return BestRate(pieces, work, piece, [] {});
}

struct FreeBytes {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using AlignedBytes = std::unique_ptr<std::byte, FreeBytes>;

AlignedBytes TakeBytes(size_t size) {
  constexpr size_t kAlignment = 4096;
  AlignedBytes bytes(static_cast<std::byte*>(
      std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment)));
  if (bytes != nullptr) std::memset(bytes.get(), 1, size);
  return bytes;
}

// Measures the peaks of one core; `streamed`: this core's share of the memory to read, 0: none. All
// cores read at the same time, so that none has the memory to itself.
HostPeaks MeasureCore(size_t streamed, std::barrier<>* together) {
  const Kernels kernels = WidestKernels();
  HostPeaks peaks;
  peaks.single_flops_per_second =
      BestRate(kPieces, 2.0 * kFmaRounds * kMultiplyAddsPerRound * kernels.lanes,
               [&] { kernels.multiply_add(0.5F); });
  if (const AlignedBytes cached = TakeBytes(kCachedBytes); cached != nullptr) {
    peaks.cache_bytes_per_second =
        BestRate(kPieces, static_cast<double>(kCachedBytes) * kCacheSweeps, [&] {
          for (int i = 0; i < kCacheSweeps; ++i) kernels.read_all(cached.get(), kCachedBytes);
        });
  }
  if (streamed == 0) return peaks;
  const AlignedBytes bytes = TakeBytes(streamed);
  const double rate = BestRate(
      kStreams, bytes == nullptr ? 0 : static_cast<double>(streamed),
      [&] {
        if (bytes != nullptr) kernels.read_all(bytes.get(), streamed);
      },
      [&] {
        if (bytes != nullptr) FlushAll(bytes.get(), streamed);
        together->arrive_and_wait();
      });
  peaks.memory_bytes_per_second = rate;
  return peaks;
}

int Processors() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

HostPeaks MeasureHostPeaks(int64_t last_level_cache_bytes) {
  const int processors = Processors();
  const int64_t all = kCacheMultiple * last_level_cache_bytes;
  constexpr int64_t kGrain = 4096;
  const int64_t wanted = all <= kMaxStreamedBytes        ? all
                         : FlushAll(nullptr, /*size=*/0) ? kMaxStreamedBytes
                                                         : 0;
  const auto streamed = static_cast<size_t>((wanted / processors + kGrain - 1) / kGrain * kGrain);
  std::barrier<> together(processors);
  std::vector<HostPeaks> cores(static_cast<size_t>(processors));
  std::vector<std::thread> threads;
  threads.reserve(cores.size());
  for (HostPeaks& core : cores) {
    threads.emplace_back([&core, streamed, &together] { core = MeasureCore(streamed, &together); });
  }
  for (std::thread& thread : threads) thread.join();
  HostPeaks peaks;
  for (const HostPeaks& core : cores) {
    peaks.cache_bytes_per_second += core.cache_bytes_per_second;
    peaks.memory_bytes_per_second += core.memory_bytes_per_second;
    peaks.single_flops_per_second += core.single_flops_per_second;
  }
  peaks.last_level_cache_bytes = last_level_cache_bytes;
  peaks.has_tiles = HasTiles();
  return peaks;
}

double Raise(const HostPeaks& other, HostPeaks* peaks) {
  double most = 1;
  const auto raise = [&most](double to, double* value) {
    if (*value > 0) most = std::max(most, to / *value);
    *value = std::max(*value, to);
  };
  raise(other.cache_bytes_per_second, &peaks->cache_bytes_per_second);
  raise(other.memory_bytes_per_second, &peaks->memory_bytes_per_second);
  raise(other.single_flops_per_second, &peaks->single_flops_per_second);
  return most;
}

}  // namespace ksearch
