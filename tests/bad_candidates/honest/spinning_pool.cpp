// Threads that never sleep: they wait for work in a loop, also while the process is stopped between
// two calls, and each takes its share of the rows.
#include <atomic>
#include <thread>
#include <vector>

#include "matmul.h"
namespace {
constexpr int kThreads = 2;
std::atomic<int> turn = 0;
std::atomic<int> done = 0;
const KsearchArgs* work = nullptr;

void Share(int index) {
  const int64_t first = work->m * index / kThreads;
  KsearchArgs part = *work;
  part.m = work->m * (index + 1) / kThreads - first;
  part.a = work->a + first * work->k;
  part.c = work->c + first * work->n;
  Matmul(&part);
}

void Worker() {
  for (int seen = 0;;) {
    const int now = turn.load(std::memory_order_acquire);
    if (now == seen) {
      std::this_thread::yield();
      continue;
    }
    seen = now;
    Share(1);
    done.fetch_add(1, std::memory_order_release);
  }
}
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  static const bool started = [] {
    std::thread(Worker).detach();
    return true;
  }();
  if (!started) return 1;
  work = args;
  done.store(0, std::memory_order_relaxed);
  turn.fetch_add(1, std::memory_order_release);
  Share(0);
  while (done.load(std::memory_order_acquire) == 0) std::this_thread::yield();
  return 0;
}
