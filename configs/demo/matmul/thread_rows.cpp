// The textbook loops, with the rows of C dealt to one thread per core.
#include <pthread.h>
#include <sched.h>

#include <cstdint>

#include "ksearch_task.h"

namespace {

constexpr int kMaxThreads = 8;

struct Share {
  const KsearchArgs* args;
  int64_t first;
  int64_t step;
};

void* Work(void* arg) {
  const Share& share = *static_cast<Share*>(arg);
  const KsearchArgs* args = share.args;
  for (int64_t i = share.first; i < args->M; i += share.step) {
    for (int64_t j = 0; j < args->N; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < args->K; ++k) {
        sum += args->A[i * args->K + k] * args->B[k * args->N + j];
      }
      args->C[i * args->N + j] = sum;
    }
  }
  return nullptr;
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args) {
  cpu_set_t cpus;
  int threads = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  if (threads > kMaxThreads) threads = kMaxThreads;
  Share shares[kMaxThreads];
  pthread_t ids[kMaxThreads];
  bool started[kMaxThreads] = {};
  for (int t = 0; t < threads; ++t) {
    shares[t] = {args, t, threads};
    started[t] = t > 0 && pthread_create(&ids[t], nullptr, Work, &shares[t]) == 0;
  }
  for (int t = 0; t < threads; ++t) {
    if (!started[t]) Work(&shares[t]);
  }
  for (int t = 1; t < threads; ++t) {
    if (started[t]) pthread_join(ids[t], nullptr);
  }
  return 0;
}
