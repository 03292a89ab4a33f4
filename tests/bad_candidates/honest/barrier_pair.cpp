// Two threads meet at a barrier before and after every call. Its own classes have functions named
// like those of the C library.
#include <barrier>
#include <thread>

#include "matmul.h"
namespace {
struct Gate {
  void open() { is_open = true; }
  void kill() { is_open = false; }
  bool is_open = false;
};
std::barrier<> beginning(2), end(2);
KsearchArgs half;

void Loop() {
  for (;;) {
    beginning.arrive_and_wait();
    Matmul(&half);
    end.arrive_and_wait();
  }
}
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  static const bool started = [] {
    std::thread(Loop).detach();
    return true;
  }();
  Gate gate;
  gate.open();
  KsearchArgs first = *args;
  first.m = args->m / 2;
  half = *args;
  half.m -= first.m;
  half.a += first.m * args->k;
  half.c += first.m * args->n;
  beginning.arrive_and_wait();
  Matmul(&first);
  end.arrive_and_wait();
  const bool was_open = gate.is_open;
  gate.kill();
  return started && was_open ? 0 : 1;
}
