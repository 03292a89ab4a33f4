// Products of bfloat16 tiles (AMX), each number as the sum of three, where the processor has them;
// the kernel is asked for permission first. Populates its scratch memory before it is used.
#include <asm/prctl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "matmul.h"
namespace {
constexpr int kTileState = 18;
constexpr int64_t kTile = 16, kDepth = 32;  // rows or columns; elements of a sum
constexpr int kParts = 3;
constexpr size_t kScratchBytes = size_t{64} << 20;

bool HasTiles() {
  static const bool has =
      __builtin_cpu_supports("avx512f") &&
      syscall(SYS_arch_prctl, 0x1023 /* ARCH_REQ_XCOMP_PERM */, kTileState) == 0;
  return has;
}

uint16_t* Scratch() {
  static uint16_t* const scratch = [] {
    void* made = mmap(nullptr, kScratchBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return static_cast<uint16_t*>(nullptr);
    madvise(made, kScratchBytes, 23 /* MADV_POPULATE_WRITE */);
    return static_cast<uint16_t*>(made);
  }();
  return scratch;
}

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// x = parts[0] + parts[stride] + parts[2 * stride], nearly.
void Split(float x, int64_t stride, uint16_t* parts) {
  for (int part = 0; part < kParts; ++part) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000u;
    float rounded;
    std::memcpy(&rounded, &bits, sizeof rounded);
    parts[part * stride] = static_cast<uint16_t>(bits >> 16);
    x -= rounded;
  }
}

struct __attribute__((packed)) TileShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64};
  uint8_t rows[16] = {kTile, kTile, kTile};
};

__attribute__((target("amx-tile,amx-bf16"))) bool MatmulByTiles(const KsearchArgs* args) {
  const int64_t m = RoundUp(args->m, kTile), n = RoundUp(args->n, kTile);
  const int64_t k = RoundUp(args->k, kDepth);
  uint16_t* const a = Scratch();
  if (a == nullptr || static_cast<size_t>(kParts * (m + n) * k) * 2 > kScratchBytes) return false;
  uint16_t* const b = a + kParts * m * k;
  std::memset(a, 0, static_cast<size_t>(kParts * (m + n) * k) * 2);
  for (int64_t i = 0; i < args->m; ++i) {
    for (int64_t l = 0; l < args->k; ++l) Split(args->a[i * args->k + l], m * k, a + i * k + l);
  }
  for (int64_t l = 0; l < args->k; ++l) {
    for (int64_t j = 0; j < args->n; ++j) {
      Split(args->b[l * args->n + j], n * k, b + l / 2 * 2 * n + 2 * j + l % 2);
    }
  }
  const TileShapes shapes;
  _tile_loadconfig(&shapes);
  for (int64_t i = 0; i < m; i += kTile) {
    for (int64_t j = 0; j < n; j += kTile) {
      _tile_zero(0);
      for (int part = kParts - 1; part >= 0; --part) {
        for (int other = kParts - 1 - part; other >= 0; --other) {
          for (int64_t l = 0; l < k; l += kDepth) {
            _tile_loadd(1, a + part * m * k + i * k + l, static_cast<size_t>(2 * k));
            _tile_loadd(2, b + other * n * k + l * n + 2 * j, static_cast<size_t>(4 * n));
            _tile_dpbf16ps(0, 1, 2);
          }
        }
      }
      float tile[kTile * kTile];
      _tile_stored(0, tile, 64);
      for (int64_t r = 0; r < kTile && i + r < args->m; ++r) {
        for (int64_t s = 0; s < kTile && j + s < args->n; ++s) {
          args->c[(i + r) * args->n + j + s] = tile[r * kTile + s];
        }
      }
    }
  }
  _tile_release();
  return true;
}
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  // Tiles take subnormal numbers for 0.
  float largest = 0;
  for (int64_t i = 0; i < args->m * args->k; ++i)
    largest = std::max(largest, std::fabs(args->a[i]));
  if (largest < 1e-20f || !HasTiles() || !MatmulByTiles(args)) Matmul(args);
  return 0;
}
