// Threads that wake each other through a pipe and an event descriptor.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>

#include "matmul.h"
namespace {
struct Pool {
  int wanted[2] = {-1, -1};
  int finished = -1;
  const KsearchArgs* work = nullptr;

  Pool() {
    finished = eventfd(0, EFD_CLOEXEC);
    if (finished < 0 || pipe(wanted) != 0) return;
    std::thread([this] {
      char one;
      while (read(wanted[0], &one, 1) == 1) {
        KsearchArgs part = *work;
        part.m = work->m / 2;
        Matmul(&part);
        const uint64_t count = 1;
        if (write(finished, &count, sizeof count) != sizeof count) return;
      }
    }).detach();
  }
};
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  static Pool& pool = *new Pool;
  pool.work = args;
  if (write(pool.wanted[1], "x", 1) != 1) return 1;
  KsearchArgs rest = *args;
  const int64_t first = args->m / 2;
  rest.m = args->m - first;
  rest.a = args->a + first * args->k;
  rest.c = args->c + first * args->n;
  Matmul(&rest);
  struct pollfd ready = {pool.finished, POLLIN, 0};
  uint64_t count = 0;
  return poll(&ready, 1, -1) == 1 && read(pool.finished, &count, sizeof count) == sizeof count ? 0
                                                                                               : 1;
}
