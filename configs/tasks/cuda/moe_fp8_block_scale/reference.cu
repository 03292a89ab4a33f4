// Mixture of experts, step by step: route, list the tokens of each expert, two products per expert,
// weighted sum. Values are dequantised to float; 32 products are summed in float, the rest in
// double.
#include <cuda_bf16.h>

#include "ksearch_task.h"

namespace {

constexpr int kGroups = 8;
constexpr int kKeptGroups = 4;
constexpr int kTop = 8;
constexpr int kMaxExperts = 256;
constexpr int kBlock = 128;  // elements that share a scale, each way

constexpr int kTile = 64;   // of a product, each way
constexpr int kDepth = 32;  // summed over at a time
constexpr int kSide = 16;   // threads each way; each owns every 16th row and column of the tile
constexpr int kOwn = kTile / kSide;
constexpr int kThreads = kSide * kSide;

// A choice is one of the eight of a token: choice = token * 8 + place.
struct Scratch {
  int32_t* expert;    // [choices] local expert, or -1
  float* weight;      // [choices]
  int32_t* count;     // [experts] choices of a local expert
  int32_t* list;      // [experts][tokens] those choices, in order
  float* activation;  // [choices][intermediate]
  float* down;        // [choices][hidden]
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
  scratch.activation = reinterpret_cast<float*>(take(choices * args->intermediate_size));
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
                      int64_t local_first, int64_t local_experts, double factor, Scratch scratch) {
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
  double sum = 0;
  for (int n = 0; n < kTop; ++n) {
    int best = -1;
    for (int e = 0; e < experts; ++e) {
      if (!kept[e / group_size] || choice[e] == -INFINITY) continue;
      if (best < 0 || choice[e] > choice[best]) best = e;
    }
    chosen[n] = best;
    choice[best] = -INFINITY;
    sum += static_cast<double>(score[best]);
  }
  for (int n = 0; n < kTop; ++n) {
    const int64_t local = chosen[n] - local_first;
    const bool here = local >= 0 && local < local_experts;
    scratch.expert[token * kTop + n] = here ? static_cast<int32_t>(local) : -1;
    scratch.weight[token * kTop + n] =
        static_cast<float>(static_cast<double>(score[chosen[n]]) / (sum + 1e-20) * factor);
  }
}

__global__ void List(int64_t tokens, Scratch scratch) {
  const int expert = static_cast<int>(blockIdx.x);
  int32_t count = 0;
  for (int64_t choice = 0; choice < tokens * kTop; ++choice) {
    if (scratch.expert[choice] == expert) {
      scratch.list[expert * tokens + count++] = static_cast<int32_t>(choice);
    }
  }
  scratch.count[expert] = count;
}

// Adds to `sum` the products of kTile rows of a and kTile rows of b over `depth` columns; load_a
// and load_b give elements (row within the tile, column), zero outside.
template <class LoadA, class LoadB>
__device__ void AddProducts(int64_t depth, LoadA load_a, LoadB load_b, double sum[kOwn][kOwn]) {
  __shared__ float a_tile[kDepth][kTile + 1];
  __shared__ float b_tile[kDepth][kTile + 1];
  const int x = threadIdx.x % kSide, y = threadIdx.x / kSide;
  for (int64_t first = 0; first < depth; first += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
      const int row = i / kDepth, column = i % kDepth;
      const bool inside = first + column < depth;
      a_tile[column][row] = inside ? load_a(row, first + column) : 0.0f;
      b_tile[column][row] = inside ? load_b(row, first + column) : 0.0f;
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

// Blocks: tiles of intermediate columns, tiles of the expert's choices, experts.
__global__ void UpAndGate(KsearchArgs args, Scratch scratch) {
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

  const auto token_value = [&](int row, int64_t column) {
    if (first_row + row >= count) return 0.0f;
    const int64_t token = list[row] / kTop;
    return FromE4m3(x[token * hidden + column]) *
           args.hidden_states_scale[column / kBlock * args.seq_len + token];
  };
  const auto weight_value = [&](int64_t row, int64_t column) {
    return FromE4m3(w[row * hidden + column]) *
           w_scale[row / kBlock * args.num_hidden_blocks + column / kBlock];
  };
  double up[kOwn][kOwn] = {}, gate[kOwn][kOwn] = {};
  AddProducts(
      hidden, token_value,
      [&](int row, int64_t column) {
        return first_column + row < inter ? weight_value(first_column + row, column) : 0.0f;
      },
      up);
  AddProducts(
      hidden, token_value,
      [&](int row, int64_t column) {
        return first_column + row < inter ? weight_value(inter + first_column + row, column) : 0.0f;
      },
      gate);
  for (int i = 0; i < kOwn; ++i) {
    for (int j = 0; j < kOwn; ++j) {
      const int64_t row = threadIdx.x / kSide + i * kSide;
      const int64_t column = first_column + threadIdx.x % kSide + j * kSide;
      if (first_row + row >= count || column >= inter) continue;
      const double silu = gate[i][j] / (1.0 + exp(-gate[i][j]));
      scratch.activation[list[row] * inter + column] = static_cast<float>(silu * up[i][j]);
    }
  }
}

// Blocks: tiles of hidden columns, tiles of the expert's choices, experts.
__global__ void Down(KsearchArgs args, Scratch scratch) {
  const int64_t expert = blockIdx.z, first_row = static_cast<int64_t>(blockIdx.y) * kTile;
  const int64_t count = scratch.count[expert];
  if (first_row >= count) return;
  const int64_t hidden = args.hidden_size, inter = args.intermediate_size;
  const int64_t first_column = static_cast<int64_t>(blockIdx.x) * kTile;
  const int32_t* list = scratch.list + expert * args.seq_len + first_row;
  const uint8_t* w = reinterpret_cast<const uint8_t*>(args.gemm2_weights) + expert * hidden * inter;
  const float* w_scale =
      args.gemm2_weights_scale + expert * args.num_hidden_blocks * args.num_intermediate_blocks;
  double sum[kOwn][kOwn] = {};
  AddProducts(
      inter,
      [&](int row, int64_t column) {
        return first_row + row < count ? scratch.activation[list[row] * inter + column] : 0.0f;
      },
      [&](int row, int64_t column) {
        const int64_t out = first_column + row;
        if (out >= hidden) return 0.0f;
        return FromE4m3(w[out * inter + column]) *
               w_scale[out / kBlock * args.num_intermediate_blocks + column / kBlock];
      },
      sum);
  for (int i = 0; i < kOwn; ++i) {
    for (int j = 0; j < kOwn; ++j) {
      const int64_t row = threadIdx.x / kSide + i * kSide;
      const int64_t column = first_column + threadIdx.x % kSide + j * kSide;
      if (first_row + row >= count || column >= hidden) continue;
      scratch.down[list[row] * hidden + column] = static_cast<float>(sum[i][j]);
    }
  }
}

__global__ void Combine(int64_t hidden, Scratch scratch, __nv_bfloat16* output) {
  const int64_t token = blockIdx.x;
  for (int64_t column = threadIdx.x; column < hidden; column += blockDim.x) {
    double sum = 0;
    for (int64_t choice = token * kTop; choice < (token + 1) * kTop; ++choice) {
      if (scratch.expert[choice] < 0) continue;
      sum += static_cast<double>(scratch.weight[choice]) *
             static_cast<double>(scratch.down[choice * hidden + column]);
    }
    output[token * hidden + column] = __float2bfloat16(static_cast<float>(sum));
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
  constexpr int kRouteThreads = 32;
  const dim3 route_grid(static_cast<unsigned>((args->seq_len + kRouteThreads - 1) / kRouteThreads));
  Route<<<route_grid, kRouteThreads, 0, stream>>>(
      args->routing_logits, reinterpret_cast<const __nv_bfloat16*>(args->routing_bias),
      args->seq_len, static_cast<int>(args->num_experts), args->local_expert_offset,
      args->num_local_experts, args->routed_scaling_factor, scratch);
  List<<<experts, 1, 0, stream>>>(args->seq_len, scratch);
  const dim3 up_grid(Tiles(args->intermediate_size), Tiles(args->seq_len), experts);
  UpAndGate<<<up_grid, kThreads, 0, stream>>>(*args, scratch);
  const dim3 down_grid(Tiles(args->hidden_size), Tiles(args->seq_len), experts);
  Down<<<down_grid, kThreads, 0, stream>>>(*args, scratch);
  const dim3 tokens(static_cast<unsigned>(args->seq_len));
  Combine<<<tokens, kThreads, 0, stream>>>(args->hidden_size, scratch,
                                           reinterpret_cast<__nv_bfloat16*>(args->output));
  return cudaGetLastError();
}
