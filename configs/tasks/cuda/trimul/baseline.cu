// Triangle multiplicative update in bfloat16 on the tensor cores, one kernel a step: layer norm,
// gated projections, one product per channel, second layer norm with its gate, projection out.
// 64x64 tiles, no pipelining.
#include <cuda_bf16.h>
#include <mma.h>

#include "ksearch_task.h"

namespace {

namespace wmma = nvcuda::wmma;

constexpr float kEpsilon = 1e-5f;
constexpr int kTile = 64;
constexpr int kDepth = 32;
constexpr int kPitch = kDepth + 8;  // elements between rows in shared memory: fewer bank conflicts
constexpr int kThreads = 128;       // four warps, each a 32x32 quarter of the tile

// A pair is one (batch, row, column) of the matrices. Rows of left and right are padded to
// `pitch`, a multiple of 8, with zeros.
struct Scratch {
  __nv_bfloat16* weights;  // left_proj, left_gate, right_proj, right_gate, out_gate, to_out
  __nv_bfloat16* y;        // [pairs][dim]
  __nv_bfloat16* left;     // [batch][hidden][n][pitch]
  __nv_bfloat16* right;    // [batch][hidden][n][pitch]
  __nv_bfloat16* gate;     // [pairs][hidden]
  float* o;                // [batch][hidden][n][n]
  __nv_bfloat16* z;        // [pairs][hidden]
  int64_t pitch;
  int64_t bytes;
};

Scratch Carve(const KsearchArgs* args) {
  const int64_t n = args->seq_len, hidden = args->hidden_dim, pairs = args->batch_size * n * n;
  char* base = static_cast<char*>(args->workspace);
  int64_t at = 0;
  const auto take = [&](int64_t bytes) {
    const int64_t begin = at;
    at += (bytes + 255) / 256 * 256;
    return base + begin;
  };
  const auto take_bf16 = [&](int64_t elements) {
    return reinterpret_cast<__nv_bfloat16*>(take(elements * 2));
  };
  Scratch scratch;
  scratch.pitch = (n + 7) / 8 * 8;
  scratch.weights = take_bf16(6 * hidden * args->dim);
  scratch.y = take_bf16(pairs * args->dim);
  scratch.left = take_bf16(args->batch_size * hidden * n * scratch.pitch);
  scratch.right = take_bf16(args->batch_size * hidden * n * scratch.pitch);
  scratch.gate = take_bf16(pairs * hidden);
  scratch.o = reinterpret_cast<float*>(take(pairs * hidden * 4));
  scratch.z = take_bf16(pairs * hidden);
  scratch.bytes = at;
  return scratch;
}

__device__ float Sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

__device__ float WarpSum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

__global__ void Round(const float* source, int64_t count, __nv_bfloat16* target) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) target[i] = __float2bfloat16(source[i]);
}

// One warp a row.
__global__ void LayerNorm(const float* x, const float* weight, const float* bias, int64_t rows,
                          int dim, __nv_bfloat16* y) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  x += row * dim;
  y += row * dim;
  float sum = 0;
  for (int d = threadIdx.x % 32; d < dim; d += 32) sum += x[d];
  const float mean = WarpSum(sum) / static_cast<float>(dim);
  float squares = 0;
  for (int d = threadIdx.x % 32; d < dim; d += 32) squares += (x[d] - mean) * (x[d] - mean);
  const float factor = rsqrtf(WarpSum(squares) / static_cast<float>(dim) + kEpsilon);
  for (int d = threadIdx.x % 32; d < dim; d += 32) {
    y[d] = __float2bfloat16((x[d] - mean) * factor * weight[d] + bias[d]);
  }
}

// Rows [first, first + 64) and columns [depth, depth + 32) of a matrix with `columns` columns, rows
// `pitch` (a multiple of 8) apart; zeros beyond the last row. Columns up to the next multiple of 8
// are read.
__device__ void LoadTile(const __nv_bfloat16* matrix, int64_t rows, int64_t columns, int64_t pitch,
                         int64_t first, int64_t depth, __nv_bfloat16* tile) {
  for (int i = threadIdx.x; i < kTile * kDepth / 8; i += kThreads) {
    const int row = i / (kDepth / 8), column = i % (kDepth / 8) * 8;
    uint4 eight = {0, 0, 0, 0};
    if (first + row < rows && depth + column < columns) {
      eight = *reinterpret_cast<const uint4*>(matrix + (first + row) * pitch + depth + column);
    }
    *reinterpret_cast<uint4*>(tile + row * kPitch + column) = eight;
  }
}

// result[i][j] = sum over columns of a's row a_first + i and b's row b_first + j.
__device__ void Products(const __nv_bfloat16* a, int64_t a_rows, int64_t a_first,
                         const __nv_bfloat16* b, int64_t b_rows, int64_t b_first, int64_t columns,
                         int64_t pitch, float* result) {
  __shared__ __align__(32) __nv_bfloat16 a_tile[kTile * kPitch];
  __shared__ __align__(32) __nv_bfloat16 b_tile[kTile * kPitch];
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
  }
  for (int64_t depth = 0; depth < columns; depth += kDepth) {
    LoadTile(a, a_rows, columns, pitch, a_first, depth, a_tile);
    LoadTile(b, b_rows, columns, pitch, b_first, depth, b_tile);
    __syncthreads();
    for (int d = 0; d < kDepth; d += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a_part[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b_part[2];
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(a_part[i], a_tile + (warp_row + 16 * i) * kPitch + d, kPitch);
        wmma::load_matrix_sync(b_part[i], b_tile + (warp_column + 16 * i) * kPitch + d, kPitch);
      }
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], a_part[i], b_part[j], sum[i][j]);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      wmma::store_matrix_sync(result + (warp_row + 16 * i) * kTile + warp_column + 16 * j,
                              sum[i][j], kTile, wmma::mem_row_major);
    }
  }
  __syncthreads();
}

// Blocks: tiles of pairs, tiles of hidden. With `mask`: the gated, masked projection, hidden first;
// without: the sigmoid of the gate alone, pairs first.
__global__ void Project(const __nv_bfloat16* y, const __nv_bfloat16* weight,
                        const __nv_bfloat16* gate_weight, const uint8_t* mask, int64_t pairs,
                        int64_t n, int64_t pitch, int64_t dim, int64_t hidden, __nv_bfloat16* out) {
  __shared__ __align__(32) float value[kTile * kTile];
  __shared__ __align__(32) float gate[kTile * kTile];
  const int64_t first_pair = static_cast<int64_t>(blockIdx.x) * kTile;
  const int64_t first_column = static_cast<int64_t>(blockIdx.y) * kTile;
  Products(y, pairs, first_pair, gate_weight, hidden, first_column, dim, dim, gate);
  if (mask == nullptr) {
    for (int i = threadIdx.x; i < kTile * kTile; i += kThreads) {
      const int64_t pair = first_pair + i / kTile, column = first_column + i % kTile;
      if (pair < pairs) out[pair * hidden + column] = __float2bfloat16(Sigmoid(gate[i]));
    }
    return;
  }
  Products(y, pairs, first_pair, weight, hidden, first_column, dim, dim, value);
  for (int i = threadIdx.x; i < kTile * kTile; i += kThreads) {
    const int at = i % kTile * kTile + i / kTile;  // neighbours write neighbours
    const int64_t pair = first_pair + i % kTile, column = first_column + i / kTile;
    if (pair >= pairs) continue;
    const int64_t batch = pair / (n * n), row = pair / n % n, k = pair % n;
    out[((batch * hidden + column) * n + row) * pitch + k] =
        __float2bfloat16(mask[pair] != 0 ? value[at] * Sigmoid(gate[at]) : 0.0f);
  }
}

// o[m][i][j] = sum over k of left[m][i][k] right[m][j][k] for each of batch * hidden matrices m.
__global__ void Triangle(const __nv_bfloat16* left, const __nv_bfloat16* right, int64_t n,
                         int64_t pitch, float* o) {
  __shared__ __align__(32) float result[kTile * kTile];
  const int64_t matrix = blockIdx.z;
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kTile;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * kTile;
  Products(left + matrix * n * pitch, n, first_row, right + matrix * n * pitch, n, first_column, n,
           pitch, result);
  for (int i = threadIdx.x; i < kTile * kTile; i += kThreads) {
    const int64_t row = first_row + i / kTile, column = first_column + i % kTile;
    if (row < n && column < n) o[(matrix * n + row) * n + column] = result[i];
  }
}

// One thread a pair, so that neighbours read neighbours.
__global__ void NormAndGate(Scratch scratch, const float* weight, const float* bias, int64_t pairs,
                            int64_t cells, int hidden) {
  const int64_t pair = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (pair >= pairs) return;
  const float* o = scratch.o + pair / cells * hidden * cells + pair % cells;
  float sum = 0, squares = 0;
  for (int d = 0; d < hidden; ++d) sum += o[d * cells];
  const float mean = sum / static_cast<float>(hidden);
  for (int d = 0; d < hidden; ++d) squares += (o[d * cells] - mean) * (o[d * cells] - mean);
  const float factor = rsqrtf(squares / static_cast<float>(hidden) + kEpsilon);
  for (int d = 0; d < hidden; ++d) {
    const float normed = (o[d * cells] - mean) * factor * weight[d] + bias[d];
    const float gate = __bfloat162float(scratch.gate[pair * hidden + d]);
    scratch.z[pair * hidden + d] = __float2bfloat16(normed * gate);
  }
}

__global__ void ProjectOut(const __nv_bfloat16* z, const __nv_bfloat16* weight, int64_t pairs,
                           int64_t dim, int64_t hidden, float* out) {
  __shared__ __align__(32) float result[kTile * kTile];
  const int64_t first_pair = static_cast<int64_t>(blockIdx.x) * kTile;
  const int64_t first_column = static_cast<int64_t>(blockIdx.y) * kTile;
  Products(z, pairs, first_pair, weight, dim, first_column, hidden, hidden, result);
  for (int i = threadIdx.x; i < kTile * kTile; i += kThreads) {
    const int64_t pair = first_pair + i / kTile, column = first_column + i % kTile;
    if (pair < pairs && column < dim) out[pair * dim + column] = result[i];
  }
}

unsigned Parts(int64_t extent, int64_t size) {
  return static_cast<unsigned>((extent + size - 1) / size);
}

}  // namespace

extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs* args) { return Carve(args).bytes; }

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  const Scratch scratch = Carve(args);
  const int64_t n = args->seq_len, dim = args->dim, hidden = args->hidden_dim;
  const int64_t cells = n * n, pairs = args->batch_size * cells;
  if (pairs == 0) return 0;
  if (dim % 8 != 0 || hidden % kTile != 0) return cudaErrorInvalidValue;
  const uint8_t* mask = reinterpret_cast<const uint8_t*>(args->mask);

  const float* const sources[] = {args->left_proj,  args->left_gate, args->right_proj,
                                  args->right_gate, args->out_gate,  args->to_out};
  const int64_t size = hidden * dim;
  const dim3 elements(Parts(size, kThreads));
  for (int i = 0; i < 6; ++i) {
    __nv_bfloat16* target = scratch.weights + i * size;
    Round<<<elements, kThreads, 0, stream>>>(sources[i], size, target);
  }
  if (scratch.pitch != n) {
    const int64_t bytes = args->batch_size * hidden * n * scratch.pitch * 2;
    cudaMemsetAsync(scratch.left, 0, static_cast<size_t>(bytes), stream);
    cudaMemsetAsync(scratch.right, 0, static_cast<size_t>(bytes), stream);
  }
  const dim3 rows(Parts(pairs, kThreads / 32));
  LayerNorm<<<rows, kThreads, 0, stream>>>(args->x, args->norm_weight, args->norm_bias, pairs,
                                           static_cast<int>(dim), scratch.y);
  const dim3 inner(Parts(pairs, kTile), Parts(hidden, kTile));
  const __nv_bfloat16* w = scratch.weights;
  Project<<<inner, kThreads, 0, stream>>>(scratch.y, w, w + size, mask, pairs, n, scratch.pitch,
                                          dim, hidden, scratch.left);
  Project<<<inner, kThreads, 0, stream>>>(scratch.y, w + 2 * size, w + 3 * size, mask, pairs, n,
                                          scratch.pitch, dim, hidden, scratch.right);
  Project<<<inner, kThreads, 0, stream>>>(scratch.y, nullptr, w + 4 * size, nullptr, pairs, n,
                                          scratch.pitch, dim, hidden, scratch.gate);
  const dim3 matrices(Parts(n, kTile), Parts(n, kTile),
                      static_cast<unsigned>(args->batch_size * hidden));
  Triangle<<<matrices, kThreads, 0, stream>>>(scratch.left, scratch.right, n, scratch.pitch,
                                              scratch.o);
  const dim3 threads(Parts(pairs, kThreads));
  NormAndGate<<<threads, kThreads, 0, stream>>>(scratch, args->to_out_norm_weight,
                                                args->to_out_norm_bias, pairs, cells,
                                                static_cast<int>(hidden));
  const dim3 outer(Parts(pairs, kTile), Parts(dim, kTile));
  ProjectOut<<<outer, kThreads, 0, stream>>>(scratch.z, w + 5 * size, pairs, dim, hidden,
                                             args->output);
  return cudaGetLastError();
}
