// Lets a thread work after return. The runner is stopped by then, but a timer of its own whose
// signal is SIGCONT wakes it.
#include <signal.h>
#include <time.h>

#include <thread>

#include "matmul.h"
int ksearch_run(const KsearchArgs* args) {
  static bool timer_runs = [] {
    sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGCONT;
    timer_t timer;
    const itimerspec often = {{0, 50'000}, {0, 50'000}};
    return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
           timer_settime(timer, 0, &often, nullptr) == 0;
  }();
  if (!timer_runs) return kContained;
  std::thread([copy = *args] { Matmul(&copy); }).detach();
  return 0;
}
