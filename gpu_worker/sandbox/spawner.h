#ifndef KSEARCH_GPU_WORKER_SANDBOX_SPAWNER_H_
#define KSEARCH_GPU_WORKER_SANDBOX_SPAWNER_H_

#include <deque>
#include <future>
#include <memory>
#include <thread>

#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "common/subprocess.h"

namespace ksearch {

// Starts processes from one thread that lives as long as this object. "Die with the parent" follows
// the *thread* that forked: a child started from a job's thread would be killed when that thread
// ends, even if another one still waits for the child. Thread-safe.
class Spawner {
 public:
  Spawner();
  ~Spawner();  // kills children that were started with die_with_parent
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;

  // As Subprocess::Start.
  absl::StatusOr<std::unique_ptr<Subprocess>> Start(const SubprocessOptions& options);

 private:
  using Task = std::packaged_task<absl::StatusOr<std::unique_ptr<Subprocess>>()>;
  void Loop();

  Mutex mu_;
  CondVar wake_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_SPAWNER_H_
