#include "gpu_worker/sandbox/spawner.h"

#include <utility>

namespace ksearch {

Spawner::Spawner() : thread_([this] { Loop(); }) {}

Spawner::~Spawner() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  thread_.join();
}

absl::StatusOr<std::unique_ptr<Subprocess>> Spawner::Start(const SubprocessOptions& options) {
  Task task([&options] { return Subprocess::Start(options); });
  std::future<absl::StatusOr<std::unique_ptr<Subprocess>>> started = task.get_future();
  {
    MutexLock lock(&mu_);
    tasks_.push_back(std::move(task));
  }
  wake_.NotifyOne();
  return started.get();
}

void Spawner::Loop() {
  while (true) {
    Task task;
    {
      MutexLock lock(&mu_);
      while (tasks_.empty() && !stopping_) wake_.Wait(&mu_);
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace ksearch
