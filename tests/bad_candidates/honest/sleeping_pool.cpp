// A thread that sleeps until there is work, bound to a core, with a name that looks like a state.
#include <pthread.h>
#include <sched.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "matmul.h"
namespace {
std::mutex mutex;
std::condition_variable wanted, finished;
const KsearchArgs* work = nullptr;
int turn = 0, done = 0;

void Rows(const KsearchArgs* args, int64_t first, int64_t end) {
  KsearchArgs part = *args;
  part.m = end - first;
  part.a = args->a + first * args->k;
  part.c = args->c + first * args->n;
  Matmul(&part);
}
void Worker() {
  pthread_setname_np(pthread_self(), "pool (1) R 0");
  for (int seen = 0;;) {
    std::unique_lock<std::mutex> lock(mutex);
    wanted.wait(lock, [&] { return turn != seen; });
    seen = turn;
    lock.unlock();
    Rows(work, 0, work->m / 2);
    lock.lock();
    done = seen;
    finished.notify_one();
  }
}
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  static std::thread* const worker = [] {
    auto* const made = new std::thread(Worker);
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    pthread_setaffinity_np(made->native_handle(), sizeof first, &first);
    return made;
  }();
  (void)worker;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    work = args;
    ++turn;
    wanted.notify_one();
  }
  Rows(args, args->m / 2, args->m);
  std::unique_lock<std::mutex> lock(mutex);
  finished.wait(lock, [] { return done == turn; });
  return 0;
}
