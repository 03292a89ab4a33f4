// Threads that stay between calls, asleep: all is done when a call returns.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "matmul.h"
namespace {
class Helper {
 public:
  Helper() : thread_([this] { Loop(); }) { thread_.detach(); }
  void Start(const KsearchArgs& part) {
    std::lock_guard<std::mutex> lock(mu_);
    part_ = part;
    busy_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock<std::mutex> lock(mu_);
    changed_.wait(lock, [this] { return !busy_; });
  }

 private:
  void Loop() {
    for (;;) {
      std::unique_lock<std::mutex> lock(mu_);
      changed_.wait(lock, [this] { return busy_; });
      Matmul(&part_);
      busy_ = false;
      changed_.notify_all();
    }
  }
  std::mutex mu_;
  std::condition_variable changed_;
  bool busy_ = false;
  KsearchArgs part_ = {};
  std::thread thread_;
};
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  static Helper* const helper = new Helper;
  KsearchArgs half = *args, rest = *args;
  half.m = args->m / 2;
  rest.m -= half.m;
  rest.a += half.m * args->k;
  rest.c += half.m * args->n;
  helper->Start(rest);
  Matmul(&half);
  helper->Wait();
  return 0;
}
