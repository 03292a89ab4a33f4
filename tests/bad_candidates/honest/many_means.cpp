// Threads made in the first call that meet at barriers, a name and a core for each, scratch memory
// that grows, random numbers, exceptions, clocks and a line of output: all that a program may need
// beside arithmetic.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <barrier>
#include <chrono>
#include <future>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "matmul.h"
namespace {
constexpr int kThreads = 2;
class Team {
 public:
  Team() {
    for (int i = 0; i < kThreads; ++i) std::thread([this, i] { Loop(i); }).detach();
  }
  void Run(const KsearchArgs& args) {
    args_ = args;
    begin_.arrive_and_wait();
    end_.arrive_and_wait();
  }

 private:
  void Loop(int member) {
    pthread_setname_np(pthread_self(), "member");
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0) sched_setaffinity(0, sizeof cores, &cores);
    for (;;) {
      begin_.arrive_and_wait();
      KsearchArgs part = args_;
      const int64_t first = args_.m * member / kThreads;
      part.m = args_.m * (member + 1) / kThreads - first;
      part.a += first * args_.k;
      part.c += first * args_.n;
      Matmul(&part);
      end_.arrive_and_wait();
    }
  }
  KsearchArgs args_ = {};
  std::barrier<> begin_{kThreads + 1}, end_{kThreads + 1};
};

int Prepare() {
  void* scratch = malloc(size_t{1} << 20);
  scratch = realloc(scratch, size_t{1} << 24);
  void* aligned = nullptr;
  if (scratch == nullptr || posix_memalign(&aligned, size_t{1} << 21, size_t{1} << 22) != 0)
    return 1;
  madvise(aligned, size_t{1} << 22, MADV_HUGEPAGE);
  free(aligned);
  free(scratch);
  std::mt19937 random(std::random_device{}());
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 100);
  std::this_thread::sleep_until(until);
  if (std::async(std::launch::async, [] { return 3; }).get() != 3) return 2;
  try {
    throw std::runtime_error("caught");
  } catch (const std::exception& error) {
    printf("%s, %u cores\n", error.what(), std::thread::hardware_concurrency());
  }
  return 0;
}
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  static const int prepared = Prepare();
  static Team* const team = new Team;
  if (prepared != 0) return prepared;
  team->Run(*args);
  return 0;
}
