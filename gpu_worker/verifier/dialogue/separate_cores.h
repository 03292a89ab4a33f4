#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_SEPARATE_CORES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_SEPARATE_CORES_H_

#include <sched.h>
#include <sys/types.h>

#include <memory>

namespace ksearch {

// While it exists, the calling thread and another thread run on different cores: two threads that
// spin for each other would otherwise use up the scheduler's time slices on one. Use it on the
// thread that made it.
class SeparateCores {
 public:
  // `other`: the thread's id; its own choice of cores counts again afterwards. Null if this process
  // has only one core, or the kernel refuses.
  static std::unique_ptr<SeparateCores> Make(pid_t other);
  SeparateCores(const SeparateCores&) = delete;
  SeparateCores& operator=(const SeparateCores&) = delete;
  ~SeparateCores();

 private:
  SeparateCores(pid_t other, const cpu_set_t& own, const cpu_set_t& others)
      : other_(other), own_(own), others_(others) {}

  const pid_t other_;
  // What the two threads were allowed before.
  const cpu_set_t own_;
  const cpu_set_t others_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_SEPARATE_CORES_H_
