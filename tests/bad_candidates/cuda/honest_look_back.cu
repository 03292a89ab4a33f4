// Four blocks a row. Each adds its part to the row's sum and waits, with pauses, until all four
// have: blocks take tickets, so that those of a row begin one after the other. The last to leave
// resets the row's counters for the next call.
#include "rows.cuh"

namespace {
using namespace corpus;
constexpr int kParts = 4;
struct Row {
  float sum;
  unsigned arrived;
  unsigned left;
  unsigned padding;
};

__global__ void NormalizeParts(const Bf16* x, const Bf16* weight, Row* state, unsigned* tickets,
                               Bf16* y) {
  __shared__ unsigned ticket;
  __shared__ float total;
  if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u) % gridDim.x;
  __syncthreads();
  const unsigned row = ticket / kParts, part = ticket % kParts;
  const int64_t at = static_cast<int64_t>(row) * kHidden;
  const int first = static_cast<int>(part) * (kHidden / kParts);
  const float sum = BlockSum(
      Squares(x + at, first + static_cast<int>(threadIdx.x), kThreads, first + kHidden / kParts));
  if (threadIdx.x == 0) {
    Row* const mine = state + row;
    atomicAdd(&mine->sum, sum);
    __threadfence();
    atomicAdd(&mine->arrived, 1u);
    unsigned pause = 20;
    while (*static_cast<volatile unsigned*>(&mine->arrived) < kParts) {
      __nanosleep(pause);
      if (pause < 640) pause *= 2;
    }
    __threadfence();
    total = *static_cast<volatile float*>(&mine->sum);
    __threadfence();
    if (atomicAdd(&mine->left, 1u) == kParts - 1) {
      mine->sum = 0;
      mine->arrived = 0;
      mine->left = 0;
      __threadfence();
    }
  }
  __syncthreads();
  const float factor = rsqrtf(total / kHidden + kEpsilon);
  for (int i = first + static_cast<int>(threadIdx.x); i < first + kHidden / kParts; i += kThreads) {
    y[at + i] =
        __float2bfloat16(__bfloat162float(x[at + i]) * factor * __bfloat162float(weight[i]));
  }
}
constexpr int kMostRows = 8192;
__device__ Row rows_state[kMostRows];
__device__ unsigned ticket_count;
}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  if (args->batch_size == 0) return 0;
  if (args->batch_size > kMostRows) return corpus::Launch(args, stream);
  void *state = nullptr, *tickets = nullptr;
  cudaGetSymbolAddress(&state, rows_state);
  cudaGetSymbolAddress(&tickets, ticket_count);
  // Each grid takes exactly as many tickets as it has blocks; sizes change from call to call.
  cudaMemsetAsync(tickets, 0, sizeof(unsigned), stream);
  NormalizeParts<<<static_cast<unsigned>(kParts * args->batch_size), corpus::kThreads, 0, stream>>>(
      corpus::Input(args), corpus::Weight(args), static_cast<Row*>(state),
      static_cast<unsigned*>(tickets), corpus::Output(args));
  return cudaGetLastError();
}
