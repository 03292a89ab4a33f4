// Triangle multiplicative update, step by step. Layer norms and sums run in double, but for runs of
// 32 products, which are summed in float.
#include "ksearch_task.h"

namespace {

constexpr double kEpsilon = 1e-5;
constexpr int kTile = 64;   // of a product, each way
constexpr int kDepth = 32;  // summed over at a time
constexpr int kSide = 16;   // threads each way; each owns every 16th row and column of the tile
constexpr int kOwn = kTile / kSide;
constexpr int kThreads = kSide * kSide;

// A pair is one (batch, row, column) of the matrices; cells are the pairs of one batch entry.
struct Scratch {
  float* y;      // [pairs][dim] first layer norm
  float* left;   // [batch][hidden][cells]
  float* right;  // [batch][hidden][cells]
  float* gate;   // [pairs][hidden] sigmoid of the out gate
  float* o;      // [batch][hidden][cells]; sums over k
  float* z;      // [pairs][hidden] second layer norm, gated
  int64_t bytes;
};

Scratch Carve(const KsearchArgs* args) {
  const int64_t pairs = args->batch_size * args->seq_len * args->seq_len;
  float* base = static_cast<float*>(args->workspace);
  int64_t at = 0;
  const auto take = [&](int64_t elements) {
    const int64_t begin = at;
    at += (elements + 63) / 64 * 64;
    return base + begin;
  };
  Scratch scratch;
  scratch.y = take(pairs * args->dim);
  scratch.left = take(pairs * args->hidden_dim);
  scratch.right = take(pairs * args->hidden_dim);
  scratch.gate = take(pairs * args->hidden_dim);
  scratch.o = take(pairs * args->hidden_dim);
  scratch.z = take(pairs * args->hidden_dim);
  scratch.bytes = at * static_cast<int64_t>(sizeof(float));
  return scratch;
}

__device__ double Sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

__device__ double WarpSum(double value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

// One warp a row.
__global__ void LayerNorm(const float* x, const float* weight, const float* bias, int64_t rows,
                          int64_t dim, float* y) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  x += row * dim;
  y += row * dim;
  double sum = 0;
  for (int64_t d = threadIdx.x % 32; d < dim; d += 32) sum += static_cast<double>(x[d]);
  const double mean = WarpSum(sum) / static_cast<double>(dim);
  double squares = 0;
  for (int64_t d = threadIdx.x % 32; d < dim; d += 32) {
    const double off = static_cast<double>(x[d]) - mean;
    squares += off * off;
  }
  const double factor = 1.0 / sqrt(WarpSum(squares) / static_cast<double>(dim) + kEpsilon);
  for (int64_t d = threadIdx.x % 32; d < dim; d += 32) {
    y[d] = static_cast<float>((static_cast<double>(x[d]) - mean) * factor *
                                  static_cast<double>(weight[d]) +
                              static_cast<double>(bias[d]));
  }
}

// The products of rows [a_first, a_first + 64) of a and [b_first, b_first + 64) of b, both
// row-major with `depth` columns: those that this thread owns.
__device__ void Products(const float* a, int64_t a_rows, int64_t a_first, const float* b,
                         int64_t b_rows, int64_t b_first, int64_t depth, double sum[kOwn][kOwn]) {
  __shared__ float a_tile[kDepth][kTile + 1];
  __shared__ float b_tile[kDepth][kTile + 1];
  const int x = threadIdx.x % kSide, y = threadIdx.x / kSide;
  for (int i = 0; i < kOwn; ++i) {
    for (int j = 0; j < kOwn; ++j) sum[i][j] = 0;
  }
  for (int64_t first = 0; first < depth; first += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
      const int row = i / kDepth, column = i % kDepth;
      const bool inside = first + column < depth;
      a_tile[column][row] =
          inside && a_first + row < a_rows ? a[(a_first + row) * depth + first + column] : 0.0f;
      b_tile[column][row] =
          inside && b_first + row < b_rows ? b[(b_first + row) * depth + first + column] : 0.0f;
    }
    __syncthreads();
    float part[kOwn][kOwn] = {};
    for (int d = 0; d < kDepth; ++d) {
      for (int i = 0; i < kOwn; ++i) {
        for (int j = 0; j < kOwn; ++j) {
          part[i][j] += a_tile[d][y + i * kSide] * b_tile[d][x + j * kSide];
        }
      }
    }
    for (int i = 0; i < kOwn; ++i) {
      for (int j = 0; j < kOwn; ++j) sum[i][j] += static_cast<double>(part[i][j]);
    }
    __syncthreads();
  }
}

// Blocks: tiles of pairs, tiles of hidden. With `mask`: the gated, masked projection, hidden first;
// without: the sigmoid of the gate alone, pairs first.
__global__ void Project(const float* y, const float* weight, const float* gate_weight,
                        const uint8_t* mask, int64_t pairs, int64_t cells, int64_t dim,
                        int64_t hidden, float* out) {
  const int64_t first_pair = static_cast<int64_t>(blockIdx.x) * kTile;
  const int64_t first_column = static_cast<int64_t>(blockIdx.y) * kTile;
  double value[kOwn][kOwn], gate[kOwn][kOwn];
  if (mask != nullptr) {
    Products(y, pairs, first_pair, weight, hidden, first_column, dim, value);
  }
  Products(y, pairs, first_pair, gate_weight, hidden, first_column, dim, gate);
  for (int i = 0; i < kOwn; ++i) {
    for (int j = 0; j < kOwn; ++j) {
      const int64_t pair = first_pair + threadIdx.x / kSide + i * kSide;
      const int64_t column = first_column + threadIdx.x % kSide + j * kSide;
      if (pair >= pairs || column >= hidden) continue;
      if (mask == nullptr) {
        out[pair * hidden + column] = static_cast<float>(Sigmoid(gate[i][j]));
      } else {
        const double gated = mask[pair] != 0 ? value[i][j] * Sigmoid(gate[i][j]) : 0.0;
        out[(pair / cells * hidden + column) * cells + pair % cells] = static_cast<float>(gated);
      }
    }
  }
}

// o[m][i][j] = sum over k of left[m][i][k] right[m][j][k] for each of batch * hidden matrices m.
__global__ void Triangle(const float* left, const float* right, int64_t n, float* o) {
  const int64_t matrix = static_cast<int64_t>(blockIdx.z) * n * n;
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kTile;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * kTile;
  double sum[kOwn][kOwn];
  Products(left + matrix, n, first_row, right + matrix, n, first_column, n, sum);
  for (int i = 0; i < kOwn; ++i) {
    for (int j = 0; j < kOwn; ++j) {
      const int64_t row = first_row + threadIdx.x / kSide + i * kSide;
      const int64_t column = first_column + threadIdx.x % kSide + j * kSide;
      if (row < n && column < n) o[matrix + row * n + column] = static_cast<float>(sum[i][j]);
    }
  }
}

// One thread a pair, so that neighbours read neighbours.
__global__ void NormAndGate(Scratch scratch, const float* weight, const float* bias, int64_t pairs,
                            int64_t cells, int64_t hidden) {
  const int64_t pair = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (pair >= pairs) return;
  const float* o = scratch.o + pair / cells * hidden * cells + pair % cells;
  double sum = 0, squares = 0;
  for (int64_t d = 0; d < hidden; ++d) sum += static_cast<double>(o[d * cells]);
  const double mean = sum / static_cast<double>(hidden);
  for (int64_t d = 0; d < hidden; ++d) {
    const double off = static_cast<double>(o[d * cells]) - mean;
    squares += off * off;
  }
  const double factor = 1.0 / sqrt(squares / static_cast<double>(hidden) + kEpsilon);
  for (int64_t d = 0; d < hidden; ++d) {
    const double normed =
        (static_cast<double>(o[d * cells]) - mean) * factor * static_cast<double>(weight[d]) +
        static_cast<double>(bias[d]);
    scratch.z[pair * hidden + d] =
        static_cast<float>(normed * static_cast<double>(scratch.gate[pair * hidden + d]));
  }
}

__global__ void ProjectOut(const float* z, const float* weight, int64_t pairs, int64_t dim,
                           int64_t hidden, float* out) {
  const int64_t first_pair = static_cast<int64_t>(blockIdx.x) * kTile;
  const int64_t first_column = static_cast<int64_t>(blockIdx.y) * kTile;
  double sum[kOwn][kOwn];
  Products(z, pairs, first_pair, weight, dim, first_column, hidden, sum);
  for (int i = 0; i < kOwn; ++i) {
    for (int j = 0; j < kOwn; ++j) {
      const int64_t pair = first_pair + threadIdx.x / kSide + i * kSide;
      const int64_t column = first_column + threadIdx.x % kSide + j * kSide;
      if (pair < pairs && column < dim) out[pair * dim + column] = static_cast<float>(sum[i][j]);
    }
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
  const uint8_t* mask = reinterpret_cast<const uint8_t*>(args->mask);
  const dim3 rows(Parts(pairs, kThreads / 32));
  LayerNorm<<<rows, kThreads, 0, stream>>>(args->x, args->norm_weight, args->norm_bias, pairs, dim,
                                           scratch.y);
  const dim3 inner(Parts(pairs, kTile), Parts(hidden, kTile));
  Project<<<inner, kThreads, 0, stream>>>(scratch.y, args->left_proj, args->left_gate, mask, pairs,
                                          cells, dim, hidden, scratch.left);
  Project<<<inner, kThreads, 0, stream>>>(scratch.y, args->right_proj, args->right_gate, mask,
                                          pairs, cells, dim, hidden, scratch.right);
  Project<<<inner, kThreads, 0, stream>>>(scratch.y, nullptr, args->out_gate, nullptr, pairs, cells,
                                          dim, hidden, scratch.gate);
  const dim3 matrices(Parts(n, kTile), Parts(n, kTile),
                      static_cast<unsigned>(args->batch_size * hidden));
  Triangle<<<matrices, kThreads, 0, stream>>>(scratch.left, scratch.right, n, scratch.o);
  const dim3 threads(Parts(pairs, kThreads));
  NormAndGate<<<threads, kThreads, 0, stream>>>(scratch, args->to_out_norm_weight,
                                                args->to_out_norm_bias, pairs, cells, hidden);
  const dim3 outer(Parts(pairs, kTile), Parts(dim, kTile));
  ProjectOut<<<outer, kThreads, 0, stream>>>(scratch.z, args->to_out, pairs, dim, hidden,
                                             args->output);
  return cudaGetLastError();
}
