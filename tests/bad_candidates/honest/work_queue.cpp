// Three threads that stay take rows from a queue.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "matmul.h"
namespace {
class Queue {
 public:
  Queue() {
    for (int i = 0; i < 3; ++i) std::thread([this] { Loop(); }).detach();
  }
  void Run(const KsearchArgs& args) {
    std::unique_lock<std::mutex> lock(mu_);
    for (int64_t row = 0; row < args.m; row += kRows) rows_.push_back(row);
    args_ = args;
    left_ = rows_.size();
    some_.notify_all();
    none_.wait(lock, [this] { return left_ == 0; });
  }

 private:
  static constexpr int64_t kRows = 8;
  void Loop() {
    std::unique_lock<std::mutex> lock(mu_);
    for (;;) {
      some_.wait(lock, [this] { return !rows_.empty(); });
      const int64_t row = rows_.front();
      rows_.pop_front();
      KsearchArgs part = args_;
      lock.unlock();
      part.a += row * part.k;
      part.c += row * part.n;
      if (part.m - row < kRows) {
        part.m -= row;
      } else {
        part.m = kRows;
      }
      Matmul(&part);
      lock.lock();
      if (--left_ == 0) none_.notify_all();
    }
  }
  std::mutex mu_;
  std::condition_variable some_, none_;
  std::deque<int64_t> rows_;
  size_t left_ = 0;
  KsearchArgs args_ = {};
};
}  // namespace
int ksearch_run(const KsearchArgs* args) {
  static Queue* const queue = new Queue;
  queue->Run(*args);
  return 0;
}
