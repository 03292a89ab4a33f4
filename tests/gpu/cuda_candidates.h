#ifndef KSEARCH_TESTS_GPU_CUDA_CANDIDATES_H_
#define KSEARCH_TESTS_GPU_CUDA_CANDIDATES_H_

namespace ksearch {

// Sources for nvcc that solve the task y[i] = 2 x[i] + 1. kScale precedes each body.
inline constexpr char kScale[] = R"(
#include "ksearch_task.h"
#include <cerrno>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>
__device__ unsigned long long now() { unsigned long long t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); return t; }
__global__ void scale(const float* x, float* y, long n) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) y[i] = 2 * x[i] + 1;
}
// The same, and at least this long.
__global__ void scale_for(const float* x, float* y, long n, unsigned long long ns) {
  const unsigned long long start = now();
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) y[i] = 2 * x[i] + 1;
  while (now() - start < ns) {}
}
static int blocks(long n) { long b = (n + 255) / 256; return (int)(b < 1056 ? b : 1056); }
#define HONEST scale<<<blocks(args->n), 256, 0, stream>>>(args->x, args->y, args->n)
)";

inline constexpr char kHonest[] = R"(
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) { HONEST; return (int)cudaGetLastError(); }
)";
inline constexpr char kWait100[] = R"(
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  scale_for<<<32, 256, 0, stream>>>(args->x, args->y, args->n, 100000); return (int)cudaGetLastError(); }
)";
inline constexpr char kWait10[] = R"(
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  scale_for<<<32, 256, 0, stream>>>(args->x, args->y, args->n, 10000); return (int)cudaGetLastError(); }
)";
inline constexpr char kIllegalAddress[] = R"(
__global__ void wild(float* y) { y[1ll << 40] = 1; }
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) { HONEST; wild<<<1, 1, 0, stream>>>(args->y); return 0; }
)";
inline constexpr char kNonzero[] = R"(
extern "C" int ksearch_run(const KsearchArgs*, cudaStream_t) { return 7; }
)";
inline constexpr char kBadLaunch[] = R"(
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  scale<<<1, 4096, 0, stream>>>(args->x, args->y, args->n); return (int)cudaGetLastError(); }
)";
// Computes the first fiftieth twice.
inline constexpr char kTwoPercentMore[] = R"(
__global__ void more(const float* x, float* y, long n) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n + n / 50; i += (long)gridDim.x * blockDim.x) {
    const long j = i < n ? i : i - n; y[j] = 2 * x[j] + 1; }
}
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  more<<<blocks(args->n), 256, 0, stream>>>(args->x, args->y, args->n); return (int)cudaGetLastError(); }
)";
inline constexpr char kSpin[] = R"(
__global__ void spin() { while (true) __nanosleep(100); }
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) { HONEST; spin<<<32, 32, 0, stream>>>(); return 0; }
)";
inline constexpr char kOwnMemory[] = R"(
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  void* scratch; if (cudaMalloc(&scratch, 1 << 20) != cudaSuccess) return 3;
  HONEST; const int result = (int)cudaStreamSynchronize(stream); cudaFree(scratch); return result; }
)";
inline constexpr char kOwnStream[] = R"(
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  static cudaStream_t own = [] { cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); return s; }();
  static cudaEvent_t fork = [] { cudaEvent_t e; cudaEventCreateWithFlags(&e, cudaEventDisableTiming); return e; }();
  static cudaEvent_t join = [] { cudaEvent_t e; cudaEventCreateWithFlags(&e, cudaEventDisableTiming); return e; }();
  cudaEventRecord(fork, stream); cudaStreamWaitEvent(own, fork, 0);
  scale<<<blocks(args->n), 256, 0, own>>>(args->x, args->y, args->n);
  cudaEventRecord(join, own); cudaStreamWaitEvent(stream, join, 0); return (int)cudaGetLastError(); }
)";
inline constexpr char kOwnGraph[] = R"(
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  static cudaStream_t own = [] { cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); return s; }();
  cudaGraph_t graph; cudaGraphExec_t exec;
  if (cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal) != cudaSuccess) return 4;
  scale<<<blocks(args->n), 256, 0, own>>>(args->x, args->y, args->n);
  if (cudaStreamEndCapture(own, &graph) != cudaSuccess) return 5;
  if (cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess) return 6;
  const int result = (int)cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream); cudaGraphExecDestroy(exec); cudaGraphDestroy(graph); return result; }
)";
inline constexpr char kWorkspace[] = R"(
extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs* args) { return args->n * 4; }
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  float* scratch = (float*)args->workspace;
  scale<<<blocks(args->n), 256, 0, stream>>>(args->x, scratch, args->n);
  cudaMemcpyAsync(args->y, scratch, args->n * 4, cudaMemcpyDeviceToDevice, stream); return (int)cudaGetLastError(); }
)";
inline constexpr char kBeyondWorkspace[] = R"(
extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs*) { return 4096; }
__global__ void beyond(char* p) { p[4096] = 1; }
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) { HONEST; beyond<<<1, 1, 0, stream>>>((char*)args->workspace); return 0; }
)";
inline constexpr char kHugeWorkspace[] = R"(
extern "C" int64_t ksearch_workspace_bytes(const KsearchArgs*) { return 1ll << 39; }
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) { HONEST; return 0; }
)";
inline constexpr char kSocket[] = R"(
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  for (int family : {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK}) { if (socket(family, SOCK_STREAM, 0) >= 0 || (errno != EPERM && errno != ENOSYS)) return 8; }
  HONEST; return 0; }
)";
inline constexpr char kExec[] = R"(
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) {
  char name[] = "true"; char* const argv[] = {name, nullptr}; execve("/usr/bin/true", argv, nullptr); HONEST; return 0; }
)";
inline constexpr char kPtrace[] = R"(
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t stream) { ptrace(PTRACE_TRACEME, 0, 0, 0); HONEST; return 0; }
)";
inline constexpr char kForeignStream[] = R"(
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t) {
  static cudaStream_t own = [] { cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); return s; }();
  scale_for<<<32, 256, 0, own>>>(args->x, args->y, args->n, 100000); return 0; }
)";
inline constexpr char kDefaultStream[] = R"(
extern "C" int ksearch_run(const KsearchArgs* args, cudaStream_t) { scale_for<<<32, 256>>>(args->x, args->y, args->n, 100000); return (int)cudaGetLastError(); }
)";
inline constexpr char kNoEntry[] = "extern \"C\" int another_name() { return 0; }\n";

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_CUDA_CANDIDATES_H_
