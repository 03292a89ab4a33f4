#include "coordinator/service/work_thread.h"

#include <utility>

namespace ksearch {

WorkThread::WorkThread() : thread_([this] { Loop(); }) {}

WorkThread::~WorkThread() { Stop(); }

void WorkThread::Post(absl::AnyInvocable<void()> work) {
  MutexLock lock(&mu_);
  if (stop_) return;
  queue_.push_back(std::move(work));
  changed_.NotifyOne();
}

void WorkThread::Stop() {
  {
    MutexLock lock(&mu_);
    stop_ = true;
    changed_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
}

void WorkThread::Loop() {
  while (true) {
    absl::AnyInvocable<void()> work;
    {
      MutexLock lock(&mu_);
      while (queue_.empty() && !stop_) changed_.Wait(&mu_);
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace ksearch
