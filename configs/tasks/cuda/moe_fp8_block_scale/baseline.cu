// Mixture of experts on the tensor cores: operands are dequantised to bfloat16 on their way into
// shared memory; 64x64 tiles, no pipelining. One thread routes a token.
#include <cuda_bf16.h>
#include <mma.h>

#include "ksearch_task.h"

namespace {

namespace wmma = nvcuda::wmma;

constexpr int kGroups = 8;
constexpr int kKeptGroups = 4;
constexpr int kTop = 8;
constexpr int kMaxExperts = 256;
constexpr int kBlock = 128;  // elements that share a scale, each way

constexpr int kTile = 64;
constexpr int kDepth = 32;
constexpr int kPitch = kDepth + 8;  // elements between rows in shared memory: fewer bank conflicts
constexpr int kThreads = 128;       // four warps, each a 32x32 quarter of the tile

// A choice is one of the eight of a token: choice = token * 8 + place.
struct Scratch {
  int32_t* expert;            // [choices] local expert, or -1
  float* weight;              // [choices]
  int32_t* count;             // [experts] choices of a local expert
  int32_t* list;              // [experts][tokens] those choices, in any order
  __nv_bfloat16* activation;  // [choices][intermediate]
  float* down;                // [choices][hidden]
  int64_t bytes;
};

Scratch Carve(const KsearchArgs* args) {
  char* base = static_cast<char*>(args->workspace);
  int64_t at = 0;
  const auto take = [&](int64_t elements) {
    const int64_t begin = at;
    at += (elements * 4 + 255) / 256 * 256;
    return base + begin;
  };
  const int64_t choices = args->seq_len * kTop;
  Scratch scratch;
  scratch.expert = reinterpret_cast<int32_t*>(take(choices));
  scratch.weight = reinterpret_cast<float*>(take(choices));
  scratch.count = reinterpret_cast<int32_t*>(take(args->num_local_experts));
  scratch.list = reinterpret_cast<int32_t*>(take(args->num_local_experts * args->seq_len));
  scratch.activation = reinterpret_cast<__nv_bfloat16*>(take(choices * args->intermediate_size));
  scratch.down = reinterpret_cast<float*>(take(choices * args->hidden_size));
  scratch.bytes = at;
  return scratch;
}

// The value of an e4m3 number: its bits shifted to where a float has them, and the difference of
// the exponent biases (127 - 7) made up for.
__device__ float FromE4m3(uint8_t value) {
  return __uint_as_float((value & 0x80u) << 24 | (value & 0x7fu) << 20) * 0x1p120f;
}

__global__ void Route(const float* logits, const __nv_bfloat16* bias, int64_t tokens, int experts,
                      int64_t local_first, int64_t local_experts, float factor, Scratch scratch) {
  const int64_t token = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (token >= tokens) return;
  const int group_size = experts / kGroups;
  float score[kMaxExperts], choice[kMaxExperts];
  for (int e = 0; e < experts; ++e) {
    score[e] = 1.0f / (1.0f + expf(-logits[token * experts + e]));
    choice[e] = score[e] + __bfloat162float(bias[e]);
  }
  float group_score[kGroups];
  for (int g = 0; g < kGroups; ++g) {
    float best = -INFINITY, second = -INFINITY;
    for (int e = g * group_size; e < (g + 1) * group_size; ++e) {
      if (choice[e] > best) {
        second = best;
        best = choice[e];
      } else if (choice[e] > second) {
        second = choice[e];
      }
    }
    group_score[g] = best + second;
  }
  bool kept[kGroups] = {};
  for (int n = 0; n < kKeptGroups; ++n) {
    int best = -1;
    for (int g = 0; g < kGroups; ++g) {
      if (!kept[g] && (best < 0 || group_score[g] > group_score[best])) best = g;
    }
    kept[best] = true;
  }
  int chosen[kTop];
  float sum = 0;
  for (int n = 0; n < kTop; ++n) {
    int best = -1;
    for (int e = 0; e < experts; ++e) {
      if (!kept[e / group_size] || choice[e] == -INFINITY) continue;
      if (best < 0 || choice[e] > choice[best]) best = e;
    }
    chosen[n] = best;
    choice[best] = -INFINITY;
    sum += score[best];
  }
  for (int n = 0; n < kTop; ++n) {
    const int64_t local = chosen[n] - local_first;
    const bool here = local >= 0 && local < local_experts;
    scratch.expert[token * kTop + n] = here ? static_cast<int32_t>(local) : -1;
    if (here) {
      const int place = atomicAdd(scratch.count + local, 1);
      scratch.list[local * tokens + place] = static_cast<int32_t>(token * kTop + n);
    }
    scratch.weight[token * kTop + n] = score[chosen[n]] / (sum + 1e-20f) * factor;
  }
}

using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

// Adds the products of two tiles of shared memory to a warp's quarter of the result.
__device__ void AddProducts(const __nv_bfloat16* a, const __nv_bfloat16* b, Sum sum[2][2]) {
  const int warp = threadIdx.x / 32;
  for (int d = 0; d < kDepth; d += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a_part[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b_part[2];
    for (int i = 0; i < 2; ++i) {
      wmma::load_matrix_sync(a_part[i], a + (warp / 2 * 32 + 16 * i) * kPitch + d, kPitch);
      wmma::load_matrix_sync(b_part[i], b + (warp % 2 * 32 + 16 * i) * kPitch + d, kPitch);
    }
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], a_part[i], b_part[j], sum[i][j]);
    }
  }
}

__device__ void Clear(Sum sum[2][2]) {
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
  }
}

__device__ void Store(Sum sum[2][2], float* tile) {
  const int warp = threadIdx.x / 32;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      wmma::store_matrix_sync(tile + (warp / 2 * 32 + 16 * i) * kTile + warp % 2 * 32 + 16 * j,
                              sum[i][j], kTile, wmma::mem_row_major);
    }
  }
}

// Eight e4m3 numbers in a row, times their scale. `source` is 8-byte aligned.
__device__ void Dequantize(const uint8_t* source, float scale, __nv_bfloat16* target) {
  const uint2 bytes = *reinterpret_cast<const uint2*>(source);
  for (int i = 0; i < 8; ++i) {
    const unsigned word = i < 4 ? bytes.x : bytes.y;
    target[i] = __float2bfloat16(FromE4m3(word >> i % 4 * 8 & 0xffu) * scale);
  }
}

// Rows [first, first + 64) and columns [depth, depth + 32) of one expert's weights.
__device__ void LoadWeights(const uint8_t* weights, const float* scales, int64_t columns,
                            int64_t first, int64_t depth, __nv_bfloat16* tile) {
  for (int i = threadIdx.x; i < kTile * kDepth / 8; i += kThreads) {
    const int row = i / (kDepth / 8), column = i % (kDepth / 8) * 8;
    const float scale =
        scales[(first + row) / kBlock * (columns / kBlock) + (depth + column) / kBlock];
    Dequantize(weights + (first + row) * columns + depth + column, scale,
               tile + row * kPitch + column);
  }
}

// Blocks: tiles of intermediate columns, tiles of the expert's choices, experts.
__global__ void UpAndGate(KsearchArgs args, Scratch scratch) {
  __shared__ __align__(32) __nv_bfloat16 x_tile[kTile * kPitch];
  __shared__ __align__(32) __nv_bfloat16 up_tile[kTile * kPitch];
  __shared__ __align__(32) __nv_bfloat16 gate_tile[kTile * kPitch];
  __shared__ __align__(32) float result[kTile * kTile];
  const int64_t expert = blockIdx.z, first_row = static_cast<int64_t>(blockIdx.y) * kTile;
  const int64_t count = scratch.count[expert];
  if (first_row >= count) return;
  const int64_t hidden = args.hidden_size, inter = args.intermediate_size;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * kTile;
  const int32_t* list = scratch.list + expert * args.seq_len + first_row;
  const uint8_t* x = reinterpret_cast<const uint8_t*>(args.hidden_states);
  const uint8_t* w =
      reinterpret_cast<const uint8_t*>(args.gemm1_weights) + expert * args.gemm1_out_size * hidden;
  const float* w_scale =
      args.gemm1_weights_scale + expert * args.num_gemm1_out_blocks * args.num_hidden_blocks;

  Sum up[2][2], gate[2][2];
  Clear(up);
  Clear(gate);
  for (int64_t depth = 0; depth < hidden; depth += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth / 8; i += kThreads) {
      const int row = i / (kDepth / 8), column = i % (kDepth / 8) * 8;
      const bool inside = first_row + row < count;
      const int64_t token = inside ? list[row] / kTop : list[0] / kTop;
      const float scale =
          args.hidden_states_scale[(depth + column) / kBlock * args.seq_len + token];
      Dequantize(x + token * hidden + depth + column, inside ? scale : 0.0f,
                 x_tile + row * kPitch + column);
    }
    LoadWeights(w, w_scale, hidden, first_column, depth, up_tile);
    LoadWeights(w, w_scale, hidden, inter + first_column, depth, gate_tile);
    __syncthreads();
    AddProducts(x_tile, up_tile, up);
    AddProducts(x_tile, gate_tile, gate);
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < up[i][j].num_elements; ++k) {
        const float g = gate[i][j].x[k];
        up[i][j].x[k] *= g / (1.0f + expf(-g));
      }
    }
  }
  Store(up, result);
  __syncthreads();
  for (int i = threadIdx.x; i < kTile * kTile; i += kThreads) {
    if (first_row + i / kTile >= count) continue;
    scratch.activation[list[i / kTile] * inter + first_column + i % kTile] =
        __float2bfloat16(result[i]);
  }
}

// Blocks: tiles of hidden columns, tiles of the expert's choices, experts.
__global__ void Down(KsearchArgs args, Scratch scratch) {
  __shared__ __align__(32) __nv_bfloat16 a_tile[kTile * kPitch];
  __shared__ __align__(32) __nv_bfloat16 w_tile[kTile * kPitch];
  __shared__ __align__(32) float result[kTile * kTile];
  const int64_t expert = blockIdx.z, first_row = static_cast<int64_t>(blockIdx.y) * kTile;
  const int64_t count = scratch.count[expert];
  if (first_row >= count) return;
  const int64_t hidden = args.hidden_size, inter = args.intermediate_size;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * kTile;
  const int32_t* list = scratch.list + expert * args.seq_len + first_row;
  const uint8_t* w = reinterpret_cast<const uint8_t*>(args.gemm2_weights) + expert * hidden * inter;
  const float* w_scale =
      args.gemm2_weights_scale + expert * args.num_hidden_blocks * args.num_intermediate_blocks;
  Sum sum[2][2];
  Clear(sum);
  for (int64_t depth = 0; depth < inter; depth += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth / 8; i += kThreads) {
      const int row = i / (kDepth / 8), column = i % (kDepth / 8) * 8;
      const int32_t choice = list[first_row + row < count ? row : 0];
      *reinterpret_cast<uint4*>(a_tile + row * kPitch + column) =
          *reinterpret_cast<const uint4*>(scratch.activation + choice * inter + depth + column);
    }
    LoadWeights(w, w_scale, inter, first_column, depth, w_tile);
    __syncthreads();
    AddProducts(a_tile, w_tile, sum);
    __syncthreads();
  }
  Store(sum, result);
  __syncthreads();
  for (int i = threadIdx.x; i < kTile * kTile; i += kThreads) {
    if (first_row + i / kTile >= count) continue;
    scratch.down[list[i / kTile] * hidden + first_column + i % kTile] = result[i];
  }
}

__global__ void Combine(int64_t hidden, Scratch scratch, __nv_bfloat16* output) {
  const int64_t token = blockIdx.x;
  for (int64_t column = threadIdx.x; column < hidden; column += blockDim.x) {
    float sum = 0;
    for (int64_t choice = token * kTop; choice < (token + 1) * kTop; ++choice) {
      if (scratch.expert[choice] < 0) continue;
      sum += scratch.weight[choice] * scratch.down[choice * hidden + column];
    }
    output[token * hidden + column] = __float2bfloat16(sum);
  }
}

unsigned Tiles(int64_t extent) { return static_cast<unsigned>((extent + kTile - 1) / kTile); }

}  // namespace

extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs* args) { return Carve(args).bytes; }

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->seq_len == 0) return 0;
  if (args->num_experts > kMaxExperts) return cudaErrorInvalidValue;
  const Scratch scratch = Carve(args);
  const unsigned experts = static_cast<unsigned>(args->num_local_experts);
  cudaMemsetAsync(scratch.count, 0, experts * sizeof(int32_t), stream);
  constexpr int kRouteThreads = 32;
  const dim3 route_grid(static_cast<unsigned>((args->seq_len + kRouteThreads - 1) / kRouteThreads));
  Route<<<route_grid, kRouteThreads, 0, stream>>>(
      args->routing_logits, reinterpret_cast<const __nv_bfloat16*>(args->routing_bias),
      args->seq_len, static_cast<int>(args->num_experts), args->local_expert_offset,
      args->num_local_experts, static_cast<float>(args->routed_scaling_factor), scratch);
  const dim3 up_grid(Tiles(args->intermediate_size), Tiles(args->seq_len), experts);
  UpAndGate<<<up_grid, kThreads, 0, stream>>>(*args, scratch);
  const dim3 down_grid(Tiles(args->hidden_size), Tiles(args->seq_len), experts);
  Down<<<down_grid, kThreads, 0, stream>>>(*args, scratch);
  const dim3 tokens(static_cast<unsigned>(args->seq_len));
  Combine<<<tokens, kThreads, 0, stream>>>(args->hidden_size, scratch,
                                           reinterpret_cast<__nv_bfloat16*>(args->output));
  return cudaGetLastError();
}
