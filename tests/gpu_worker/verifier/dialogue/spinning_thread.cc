// A candidate whose thread is busy from the moment it is loaded.
#include <thread>

namespace {

struct Spinning {
  Spinning() {
    std::thread([] {
      volatile unsigned turn = 0;
      for (;;) turn = turn + 1;
    }).detach();
  }
} spinning;

}  // namespace

extern "C" int ksearch_run(const void*) { return 0; }
